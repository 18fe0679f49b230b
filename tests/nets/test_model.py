"""The model: masks, batches, training mode, initialisation, preparation for inference."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from compiled import EACH_WAY, WAYS
from random_networks import random_model, with_auxiliary_heads
from reference_outputs import predict
from torch import Tensor
from torch.nn import functional

from gtp_engine import UserError, load_model, new_model, save_model
from gtp_engine.base.system import configure_torch
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.layers import BatchNorm, Board, Rope
from gtp_engine.nets.model import Model, no_result_possible, prepare_for_inference, short_term_errors
from gtp_engine.nets.schema import BatchNormDesc, FixedRopeDesc
from gtp_engine.nets.stored import RawOutputs


def position(width: int, height: int, seed: int, size: tuple[int, int] | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """Random planes of a board in a tensor (height, width), scalars and metadata, for one position."""
    generator = torch.Generator().manual_seed(seed)
    planes = torch.zeros(1, 22, *(size or (height, width)))
    planes[:, :, :height, :width] = (torch.rand(1, 22, height, width, generator=generator) < 0.2).float()
    planes[:, 0, :height, :width] = 1
    return planes, torch.rand(1, 19, generator=generator), torch.rand(1, 192, generator=generator)


def on_board(raw: RawOutputs[Tensor], width: int, height: int, columns: int) -> list[Tensor]:
    """Outputs without those of points off the board."""
    points = (torch.arange(height)[:, None] * columns + torch.arange(width)).flatten()
    moves = torch.cat((points, torch.tensor([raw.policy.shape[2] - 1])))
    return [raw.policy[..., moves], raw.value, raw.scores, raw.ownership[:, points]]


@EACH_WAY
@pytest.mark.parametrize("version", range(8, 18))
def test_padding_and_company_change_nothing(version: int, way: str) -> None:
    """A board alone, in a larger tensor, and in a batch with other sizes."""
    model = WAYS[way](random_model(version, 7).stored())
    sizes = [(5, 7), (9, 9), (4, 3)]
    with torch.no_grad():
        batch = [torch.cat(parts) for parts in zip(*(position(*s, 1, (9, 9)) for s in sizes), strict=True)]
        together = model(*batch)
        for number, (width, height) in enumerate(sizes):
            alone = model(*position(width, height, 1), full_board=True)
            masked = model(*position(width, height, 1))
            of_batch = RawOutputs(*(output[number : number + 1] for output in together))
            expected = on_board(alone, width, height, width)
            for found in (on_board(masked, width, height, width), on_board(of_batch, width, height, 9)):
                for one, other in zip(expected, found, strict=True):
                    assert torch.allclose(one, other, rtol=1e-4, atol=2e-5)


@EACH_WAY
@pytest.mark.parametrize("version", range(8, 18))
@pytest.mark.parametrize("seed", [3, 4])
def test_all_ways_give_the_same(version: int, seed: int, way: str) -> None:
    model = random_model(version, seed)
    inputs = position(9, 9, 2)
    with torch.no_grad():
        expected, found = model(*inputs).raw, WAYS[way](model.stored())(*inputs, full_board=True)
        for one, other in zip(expected, found, strict=True):
            assert torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def test_auxiliary_heads_change_nothing_else() -> None:
    """They come last when weights are drawn, and what plays does not have them."""
    config = parse_config("b2c16")
    usual = Model(config).initialise(torch.Generator().manual_seed(1))
    model = Model(with_auxiliary_heads(config)).initialise(torch.Generator().manual_seed(1))
    inputs = position(5, 7, 2)
    with torch.no_grad():
        outputs = model.eval()(*inputs)
        assert {name: tuple(output.shape) for name, output in outputs.auxiliary.items()} == {
            "of_position": (1, 2),
            "of_point": (1, 1, 35),
            "of_moves": (1, 36),
        }
        for one, other in zip(outputs.raw, usual.eval()(*inputs).raw, strict=True):
            assert torch.equal(one, other)
    stored, expected = model.stored(), usual.stored()
    assert stored.config == expected.config
    assert stored.values.keys() == expected.values.keys()
    assert Model.from_stored(stored)(*inputs).auxiliary == {}


def test_prepared_networks_have_no_batch_norms() -> None:
    model = random_model(15, 3)
    assert any(isinstance(part, BatchNorm) for part in model.modules())
    assert not any(isinstance(part, BatchNorm) for part in prepare_for_inference(model.stored()).modules())


def test_metadata_are_asked_for() -> None:
    model = next(model for seed in range(9) if (model := random_model(15, seed)).config.metadata_version)
    planes, scalars, metadata = position(5, 5, 1)
    with pytest.raises(ValueError, match="needs metadata"):
        model(planes, scalars)
    first, second = model(planes, scalars, metadata).raw, model(planes, scalars, 0 * metadata).raw
    assert not torch.equal(first.value, second.value)


def test_statistics_of_a_batch_norm_are_those_of_the_board() -> None:
    """As torch's own norm of the points on the boards, in training mode and afterwards."""
    norm = BatchNorm(BatchNormDesc("norm", 6, 1e-4, True, True)).train()
    torch.manual_seed(1)
    norm.weight = torch.nn.Parameter(torch.rand(6))
    x = torch.randn(3, 6, 5, 5)
    mask = torch.zeros(3, 1, 5, 5)
    for number, (width, height) in enumerate([(5, 5), (3, 4), (2, 2)]):
        mask[number, :, :height, :width] = 1
    chosen = x.permute(0, 2, 3, 1)[mask[:, 0] > 0]
    mean, variance = torch.zeros(6), torch.ones(6)
    expected = functional.batch_norm(chosen, mean, variance, norm.weight, norm.bias, True, 0.01, 1e-4)
    found = norm(x, Board(mask, full_board=False)).permute(0, 2, 3, 1)[mask[:, 0] > 0]
    assert torch.allclose(expected, found, atol=1e-5)
    assert torch.allclose(norm.running_mean, mean, atol=1e-6)
    assert torch.allclose(norm.running_var, variance, atol=1e-6)


@pytest.mark.parametrize("name", ["b2c16", "b2c16nbt-mish", "b1c16h2tfrs", "b1c16h1tflrs"])
@pytest.mark.parametrize("full_board", [True, False])
def test_a_fresh_network_learns(name: str, full_board: bool) -> None:
    """It learns eight positions by heart; all of its parameters get gradients."""
    torch.manual_seed(1)
    model = Model(with_auxiliary_heads(parse_config(name))).initialise()
    optimizer = torch.optim.Adam(model.parameters(), 5e-3)
    batch = [torch.cat(parts) for parts in zip(*(position(5, 5, seed) for seed in range(8)), strict=True)]
    moves, winners = torch.arange(8) * 3, torch.arange(8) % 2
    losses = []
    for _ in range(40):
        raw, auxiliary = model(batch[0], batch[1], full_board=full_board)
        loss = sum(functional.cross_entropy(raw.policy[:, channel], moves) for channel in range(2))
        loss = (
            loss
            + functional.cross_entropy(raw.value, winners)
            + raw.scores.square().mean()
            + raw.ownership.square().mean()
            + sum(output.square().mean() for output in auxiliary.values())
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert all(part.grad is not None and part.grad.abs().sum() > 0 for part in model.parameters())
    assert losses[-1] < losses[0] / 4


def test_fresh_networks_start_near_uniform_and_alive() -> None:
    torch.manual_seed(1)
    for name in ("b6c96", "b8c64nbt-mish", "b7c96h3tfrs"):
        model = Model(parse_config(name)).initialise().eval()
        planes, scalars, _ = position(9, 9, 5)
        with torch.no_grad():
            raw = model(planes, scalars).raw
            predicted = predict(raw, model.config, torch.ones(1, 82, dtype=torch.bool), scalars)
            tip = model.trunk(planes, scalars, None, Board(planes, True))
        assert 0.1 < float(tip.std()) < 10
        assert float(predicted.policy.max()) < 0.3
        assert torch.allclose(raw.policy[:, 0], raw.policy[:, 1], atol=1e-5)


def test_illegal_moves_and_impossible_ends_have_no_probability() -> None:
    model = random_model(14, 1)
    planes, scalars, _ = position(5, 5, 1)
    legal = torch.zeros(3, 26, dtype=torch.bool)
    legal[0, 3] = legal[1, 3] = legal[1, 25] = legal[2] = True
    scalars = torch.zeros(3, 19)
    scalars[1, 6] = 1  # superko, area
    scalars[2, 6] = scalars[2, 9] = 1  # superko, territory
    assert no_result_possible(scalars).tolist() == [True, False, True]
    raw = model(planes.repeat(3, 1, 1, 1), scalars).raw
    predicted = predict(raw, model.config, legal, scalars, optimism=0.2)
    assert torch.allclose(predicted.policy.sum(1), torch.ones(3))
    assert bool((predicted.policy[~legal] == 0).all())
    assert predicted.policy[0, 3] == 1
    assert (predicted.value[:, 2] > 0).tolist() == [True, False, True]
    assert torch.allclose(predicted.value.sum(1), torch.ones(3))


@pytest.mark.parametrize("version", range(9, 18))
def test_short_term_errors_of_certain_positions_have_gradients(version: int) -> None:
    scores = torch.zeros(4, 6)
    scores[:, 4:] = torch.tensor([-300.0, -100.0, 0.0, 100.0])[:, None]
    scores.requires_grad_()
    errors = short_term_errors(scores, replace(parse_config("b2c16"), version=version))
    for error in errors:
        assert error is not None and torch.isfinite(error).all() and (error.diff() >= 0).all()
        (gradient,) = torch.autograd.grad(error.sum(), scores, retain_graph=True)
        assert torch.isfinite(gradient).all()


def test_fixed_rope_turns_first_with_rows() -> None:
    cosine, sine = Rope(FixedRopeDesc("theta", 100.0), 8).cosine_and_sine(2, 3)
    angles = torch.atan2(sine, cosine)[0]
    assert torch.allclose(angles[1], torch.tensor([0.0, 0.0, 1.0, 0.1]))  # one column to the right
    assert torch.allclose(angles[3], torch.tensor([1.0, 0.1, 0.0, 0.0]))  # one row down


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_norm_in_training_has_the_statistics_and_gradients_of_the_points_on_the_boards(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    norm = BatchNorm(BatchNormDesc("norm", 3, 1e-3, has_scale=True, has_bias=True)).train()
    planes = torch.zeros(4, 1, 5, 5)
    for number, (width, height) in enumerate(((5, 5), (3, 4), (2, 2), (5, 1))):
        planes[number, 0, :height, :width] = 1
    board = Board(planes, full_board=False)
    x = (torch.randn(4, 3, 5, 5, generator=generator) * torch.tensor([1.0, 3.0, 0.2]).view(1, 3, 1, 1) + 0.7).to(dtype)
    weights = board.cut(torch.randn(4, 3, 5, 5, generator=generator)).to(dtype)
    assert norm.weight is not None and norm.bias is not None
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 0.5, 2.0]))
        norm.bias.copy_(torch.tensor([0.0, -1.0, 0.3]))

    def gradients(apply: Callable[[Tensor], Tensor], x: Tensor) -> list[Tensor]:
        x = x.clone().requires_grad_()
        return list(torch.autograd.grad((apply(x) * weights.to(x.dtype)).sum(), [x, norm.weight, norm.bias]))

    def plainly(x: Tensor) -> Tensor:
        inside = planes.expand_as(x) > 0
        parts = []
        for channel in range(3):
            points = x[:, channel][inside[:, channel]]
            normed = (x[:, channel] - points.mean()) / (points.var(correction=0) + norm.epsilon).sqrt()
            parts.append(normed * norm.weight[channel] + norm.bias[channel])
        return torch.stack(parts, 1)

    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0.02, "atol": 0.05}
    torch.testing.assert_close(board.cut(norm(x, board)).double(), board.cut(plainly(x.double())), **close)
    found, expected = gradients(lambda x: norm(x, board), x), gradients(plainly, x.double())
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one.double(), other.double(), **close)
    points = x.double()[:, 1][planes[:, 0] > 0]
    assert norm.running_mean[1].item() == pytest.approx(0.01 * 2 * points.mean().item(), rel=0.02)


def test_float32_is_exact_on_gpus_wherever_torch_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    configure_torch(torch.get_num_threads())
    assert not torch.backends.cudnn.allow_tf32


def test_a_fresh_network_is_made_by_its_configuration(tmp_path: Path) -> None:
    one, same, other, any_other = (new_model("b2c16", seed=seed) for seed in (1, 1, 2, None))
    assert one.training and (one.config, one.config.channels) == (parse_config("b2c16"), 16)
    first, *others = (model.trunk.conv.weight for model in (one, same, other, any_other))
    assert [torch.equal(first, weights) for weights in others] == [True, False, False]
    save_model(one, tmp_path / "new.bin.gz")
    kept = load_model(tmp_path / "new.bin.gz").state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in one.state_dict().items())
    for name in ("large", 5):
        with pytest.raises(UserError, match=f"unknown architecture {name!r}: expected a name such as b6c96, "):
            new_model(name)  # type: ignore[arg-type]
    for wrong in (-1, "1"):
        with pytest.raises(UserError, match="invalid seed"):
            new_model("b2c16", seed=wrong)  # type: ignore[arg-type]
