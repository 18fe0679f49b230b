"""The learner, on small networks and games."""

import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from making import random_game, sample_game

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import katago_bytes, read_katago_file, write_katago_file
from gtp_engine.nets.layers import BatchNorm
from gtp_engine.nets.model import Model
from gtp_engine.nets.schema import BatchNormDesc, walk
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.training import learner as learner_module
from gtp_engine.training import losses as losses_module
from gtp_engine.training.data.loader import Loader, Samples, Tensors, parts_of
from gtp_engine.training.data.samples import GameSet, join, pack
from gtp_engine.training.learner import Learner, LossNotFinite, playing_network, rate_at
from gtp_engine.training.losses import Means, calibration_error, losses, measures, take_calibration, total_loss
from gtp_engine.training.run_settings import LearnSettings, LossWeights

SETTINGS = LearnSettings(batch_size=32, warm_up=320, average=320, learning_rate=5e-3, precision="float32")


def new_model(name: str = "b1c8") -> Model:
    return Model(parse_config(name)).initialise(torch.Generator().manual_seed(1))


def some_games(count: int = 3, size: int = 5) -> GameSet:
    ownership = np.random.default_rng(0).integers(-1, 2, size * size).astype(np.int8)
    return pack(
        [
            sample_game(random_game(seed, size, moves=30), winner=BLACK if seed % 2 else WHITE, ownership=ownership)
            for seed in range(count)
        ]
    )


@pytest.mark.parametrize("size", [5, 9])
def test_the_loss_at_the_start_is_the_logarithm_of_the_moves(size: int) -> None:
    learner = Learner(new_model(), SETTINGS)
    learner.step(next(Loader(Samples(some_games(20, size)), 256, seed=1)))
    found, of_moves = learner.take_losses(), math.log(size * size + 1)
    expected = {"policy": of_moves, "opponent": of_moves, "value": math.log(2), "ownership": math.log(2)}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=0.1)


def test_without_a_precision_the_faster_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner_module, "faster_precision", lambda model, device: "bfloat16")
    assert Learner(new_model(), LearnSettings()).settings.precision == "bfloat16"
    assert Learner(new_model(), SETTINGS).settings.precision == "float32"


def test_a_process_that_was_forked_from_one_that_has_learned_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner_module, "_trained", {os.getppid()})
    with pytest.raises(UserError, match="forked from one in which a network has learned"):
        Learner(new_model(), SETTINGS).step(next(Loader(Samples(some_games(2)), 4, seed=1)))


def test_one_game_is_memorised() -> None:
    samples = Samples(pack([sample_game(random_game(4, 5, moves=16), ownership=np.ones(25, np.int8))]))
    settings = replace(SETTINGS, learning_rate=1e-2, total=300 * 32, weight_decay=0.0)
    learner = Learner(new_model("b2c16"), settings)
    loader = Loader(samples, 32, seed=1)
    for _ in range(300):
        learner.step(next(loader))
    batch = samples.batch(np.arange(1, 16), np.zeros(15))  # not the empty board, which is symmetric
    found = learner.evaluate(learner.averaged_network([next(loader) for _ in range(4)]), [batch])
    assert found["policy"] < 0.05 and found["value"] < 0.01 and found["ownership"] < 0.05
    assert found["top1"] == found["winner"] == 1
    assert abs(found["score"]) < 2


def test_entropies_are_those_of_the_target_and_of_a_network_that_knows_nothing() -> None:
    games = pack([sample_game(random_game(4, 5, moves=16), policies=[(np.array([3, 7]), np.array([0.5, 0.5]))] * 16)])
    batch = Samples(games).batch(np.arange(16), np.zeros(16))
    model = new_model().eval()
    with torch.no_grad():
        for layer in (model.policy.out_conv, model.policy.pass_matmul):
            layer.weight.zero_()
    found = Learner(model, SETTINGS).evaluate(model, [batch])
    assert found["target_entropy"] == pytest.approx(math.log(2), abs=1e-4)
    assert found["policy_entropy"] == pytest.approx(math.log(26), abs=1e-4)


def test_a_soft_policy_is_the_fourth_root_on_the_board_alone() -> None:
    target = [(np.array([3, 7]), np.array([0.8, 0.2]))] * 4
    small, large = (sample_game(random_game(1, size, moves=4), policies=target) for size in (3, 5))
    batch = Samples(pack([small, large])).batch([0, 4])
    for row, moves in enumerate((10, 26)):
        soft = losses_module.soft_policy(batch)[row].double()
        assert float(soft.sum()) == pytest.approx(1) and int((soft > 0).sum()) == moves
        # 0.8 ** 0.25 = 0.9457, 0.2 ** 0.25 = 0.6687, and (1e-7) ** 0.25 = 0.01778 for each of the others.
        whole = 0.9457 + 0.6687 + (moves - 2) * 0.01778
        found, expected = soft.sort(descending=True).values[:3], [0.9457 / whole, 0.6687 / whole, 0.01778 / whole]
        assert found.tolist() == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["b1c16", "b1c16h2tfrs"])
def test_auxiliary_heads_learn_on_two_board_sizes(name: str) -> None:
    random = np.random.default_rng(1)
    games = [
        sample_game(random_game(seed, size, moves=12), values=np.repeat(random.uniform(-0.9, 0.9, (12, 1)), 2, 1))
        for seed, size in enumerate((5, 5, 7))
    ]
    weights = LossWeights(td_value=0.72, soft_policy=8.0)
    model = Model(parse_config(name).with_auxiliary_heads(weights.trained)).initialise(torch.Generator().manual_seed(1))
    learner = Learner(model, replace(SETTINGS, learning_rate=1e-2, losses=weights))
    batch = Samples(pack(games)).batch(np.arange(36))
    entropies = {
        "td_value": float(-torch.special.xlogy(batch.td_value, batch.td_value).sum((1, 2)).mean()),
        "soft_policy": float(-torch.special.xlogy(*2 * (losses_module.soft_policy(batch),)).sum(1).mean()),
    }
    found = []
    for _ in range(60):
        learner.step(batch)
        found.append(learner.take_losses())
    for head, least in entropies.items():
        assert least < found[-1][head] < least + 0.6 * (found[0][head] - least)
    assert not [name for name in playing_network(learner.average).stored().values if "auxiliary" in name]


def test_calibration_compares_win_rates_with_what_the_games_gave() -> None:
    value = torch.tensor([[0.97, 0.03, 0.0]] * 4 + [[0.42, 0.58, 0.0]] * 2)
    batch = Samples(pack([sample_game(random_game(4, 5, moves=6))])).batch(np.arange(6), np.zeros(6))
    won = torch.tensor([1.0, 1.0, 0.0, 0.5, 0.0, 0.0])  # half a win is a draw
    batch = batch._replace(value=torch.stack((won, 1 - won, 0 * won), 1))
    raw = RawOutputs(torch.zeros(6, 1, 26), value.log().clamp(-50), torch.zeros(6, 6), torch.zeros(6, 25))
    means = Means()
    means.add(measures(raw, batch))
    found = means.read()
    calibration = take_calibration(found)
    assert calibration == [pytest.approx([0.42, 0.0, 2 / 6]), pytest.approx([0.97, 0.625, 4 / 6])]
    assert calibration_error(calibration) == pytest.approx((2 * 0.42 + 4 * 0.345) / 6)
    assert found.keys() == {"top1", "top5", "winner", "target_entropy", "policy_entropy"}


def test_the_winner_is_learned_for_the_side_to_move() -> None:
    """Black won: a network that confused the sides could not be right for both."""
    samples = Samples(pack([sample_game(random_game(seed, 5, moves=20)) for seed in range(3)]))
    learner = Learner(new_model(), replace(SETTINGS, losses=LossWeights(policy=0, opponent=0)))
    loader = Loader(samples, 32, seed=1)
    for _ in range(100):
        learner.step(next(loader))
    batch = samples.batch(np.arange(20), np.zeros(20))
    with torch.inference_mode():
        network = learner.averaged_network([next(loader)])
        raw = network(batch.planes.float(), batch.scalars, full_board=True).raw
    black_wins = raw.value[:, 0] > raw.value[:, 1]
    assert black_wins.tolist() == [True, False] * 10
    assert torch.equal(raw.scores[:, 0] > 0, black_wins)


def test_resumed_learning_equals_uninterrupted() -> None:
    samples = Samples(some_games())

    def learn(learner: Learner, steps: int) -> None:
        loader = Loader(samples, 32, seed=7, drawn=learner.samples)
        for _ in range(steps):
            learner.step(next(loader))
        loader.close()

    straight = Learner(new_model(), SETTINGS)
    learn(straight, 12)
    first = Learner(new_model(), SETTINGS)
    learn(first, 5)
    second = Learner(new_model(), SETTINGS)
    second.load_state(first.state())
    learn(second, 7)
    assert second.take_losses() == straight.take_losses()
    for one, other in ((straight.model, second.model), (straight.average, second.average)):
        torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_both_optimizers_learn_and_let_weights_decay_by_a_share_of_the_learning_rate(optimizer: str) -> None:
    learner = Learner(new_model(), replace(SETTINGS, optimizer=optimizer))
    loader = Loader(Samples(some_games()), 32, seed=1)
    means = []
    for _ in range(3):
        for _ in range(15):
            learner.step(next(loader))
        means.append(learner.take_losses()["policy"])
    assert means[2] < means[0]
    settings = replace(SETTINGS, optimizer=optimizer, learning_rate=0.1, weight_decay=0.1)
    weight = torch.nn.Parameter(torch.ones(2, 2))
    holder = torch.nn.Module()
    holder.register_parameter("weight", weight)
    optimizer_of = learner_module._optimizer(holder, settings)  # type: ignore[arg-type]
    for _ in range(100):
        weight.grad = torch.zeros_like(weight)
        optimizer_of.step()
    learner = Learner(new_model(), settings)
    before = learner._optimizer.param_groups[0]["weight_decay"]
    learner.load_state(learner.state())
    assert learner._optimizer.param_groups[0]["weight_decay"] == before
    assert weight[0, 0].item() == pytest.approx(math.exp(-100 * 0.1 * 0.1), rel=0.1)


def test_a_loss_or_gradient_that_is_not_finite_is_an_error() -> None:
    batch = next(Loader(Samples(some_games()), 32, seed=1))
    learner, other = (Learner(new_model(), SETTINGS) for _ in range(2))
    learner.model.trunk.conv.weight.data[0, 0] = math.nan
    learner.step(batch)
    with pytest.raises(LossNotFinite, match="loss became nan"):
        learner.check()
    other.model.trunk.conv.weight.register_hook(lambda gradient: gradient * math.nan)
    other.step(batch)
    with pytest.raises(LossNotFinite, match="the norm of the gradient became nan"):  # although its loss is finite
        other.check()


def test_the_averaged_network_has_statistics_of_its_own() -> None:
    loader = Loader(Samples(some_games()), 32, seed=1)
    learner = Learner(new_model(), SETTINGS)
    for _ in range(10):
        learner.step(next(loader))
    network = learner.averaged_network([next(loader) for _ in range(3)])
    first = next(module for module in network.modules() if isinstance(module, BatchNorm))
    assert not network.training and first.momentum == BatchNorm.momentum
    batch = next(loader)
    with torch.inference_mode():
        measured = network(batch.planes.float(), batch.scalars, full_board=True).raw
        network.train()
        by_batch = network(batch.planes.float(), batch.scalars, full_board=True).raw
    assert (measured.policy - by_batch.policy).abs().mean() < 0.1  # trained and played alike
    assert not torch.equal(network.policy.out_conv.weight[0], network.policy.out_conv.weight[1])
    playing = playing_network(network)  # its optimistic policy equals the policy
    for layer in (playing.policy.out_conv, playing.policy.pass_matmul):
        assert torch.equal(layer.weight[0], layer.weight[1])


def test_norms_without_statistics_stay_so(tmp_path: Path) -> None:
    """KataGo's networks have 0 and 1 for the statistics of their norms: nothing measures these anew."""
    file = tmp_path / "network.bin.gz"
    fresh = katago_bytes(new_model().stored())
    file.write_bytes(fresh.replace(b"\n0.0001\n", b"\n1e-20\n"))
    network = read_katago_file(file)
    assert all(norm.constant for norm in walk(network.config) if isinstance(norm, BatchNormDesc))
    learner = Learner(Model.from_stored(network), replace(SETTINGS, learning_rate=1e-5))
    batches = [batch for batch, _ in zip(Loader(Samples(some_games()), 32, seed=1), range(3), strict=False)]

    def policy(model: Model) -> torch.Tensor:
        return model(batches[0].planes.float(), batches[0].scalars).raw.policy.detach()

    before = policy(Model.from_stored(network))
    assert torch.equal(policy(learner.averaged_network(batches)), before)
    for batch in batches:
        learner.step(batch)
    learned = learner.averaged_network(batches)
    assert 0 < (policy(learned) - before).abs().max() < 1e-3
    write_katago_file(learned.stored(), file)
    again = read_katago_file(file)
    assert again.config == network.config  # its norms are the same kind
    for name, values in again.values.items():
        if "running" in name:
            np.testing.assert_array_equal(values, network.values[name])


def test_unknown_targets_teach_nothing() -> None:
    games = pack([sample_game(random_game(0, 5, moves=8), winner=4, margin=math.nan)])
    learner = Learner(new_model(), SETTINGS)
    learner.step(next(Loader(Samples(games), 8, seed=0)))
    needing_a_result = {"value", "score", "stdev", "lead", "ownership", "errors"}
    learned = learner.take_losses().keys()
    assert learned >= {"policy", "opponent"} and not learned & needing_a_result
    assert all(torch.isfinite(parameter).all() for parameter in learner.model.parameters())
    assert learner.model.value.ownership.weight.grad is not None
    assert not learner.model.value.ownership.weight.grad.any()


def test_points_off_the_board_do_not_count() -> None:
    small, large = sample_game(random_game(1, 5, moves=20)), sample_game(random_game(2, 9, moves=20))
    model = new_model().eval()
    alone = Samples(pack([small])).batch(np.arange(20), np.zeros(20))
    among = Samples(pack([small, large])).batch(np.arange(20), np.zeros(20))
    with torch.inference_mode():
        found = [
            losses(model(batch.planes.float(), batch.scalars, full_board=batch.full_board), batch, model.config)
            for batch in (alone, among)
        ]
    for name in found[0]:
        torch.testing.assert_close(found[0][name].of_row, found[1][name].of_row, atol=1e-4, rtol=1e-4)


def test_the_rate_rises_stays_and_falls() -> None:
    settings = LearnSettings(batch_size=100, warm_up=1000, total=10_000, last_rate=0.01, learning_rate=1.0)
    rates = [rate_at(settings, samples) for samples in (0, 400, 900, 5900, 8000, 10_000)]
    assert rates == pytest.approx([0.1, 0.5, 1.0, 1.0, 0.505, 0.01])
    assert rate_at(replace(settings, total=None), 10**9) == 1.0


def mixed_batch() -> Tensors:
    """Returns a batch with boards of four sizes, each under another symmetry, so that some lie in other corners."""
    samples = Samples(join([some_games(4, size) for size in (5, 7, 9, 11)]))
    return samples.batch(np.random.default_rng(1).permutation(len(samples))[:60], np.arange(60) % 8)


@pytest.mark.parametrize("most", [None, 200, 1])
def test_a_batch_in_parts_has_the_same_rows_in_smaller_tensors(most: int | None) -> None:
    batch = mixed_batch()
    parts = parts_of(batch, most)
    assert sum(part.size for part in parts) == batch.size and any(part.full_board for part in parts)
    for part in parts:
        sides = part.planes.shape[2:]
        assert max(sides) in (5, 7, 9, 11) and part.full_board == bool(part.planes[:, 0].all())
        assert most is None or part.size == 1 or part.planes[:, 0].numel() <= most
        assert part.policy.sum(1).allclose(torch.ones(part.size))
        assert part.ownership.shape[1] == part.planes[0, 0].numel() == part.policy.shape[1] - 1
    for name in ("planes", "policy", "opponent", "ownership", "value", "lead"):  # nothing on a board is lost
        totals = sum(getattr(part, name).double().sum() for part in parts)
        assert totals == pytest.approx(getattr(batch, name).double().sum().item())


@pytest.mark.parametrize("threads", [1, 3])
def test_gradients_in_parts_are_those_of_the_whole_batch(threads: int) -> None:
    """Without batch norms each row's gradient is its own, so that it does not matter what is computed together."""
    model = constant(new_model("b2c16"))
    batch = mixed_batch()
    outputs = model(batch.planes.float(), batch.scalars)
    total_loss(losses(outputs, batch, model.config), SETTINGS.losses).backward()
    expected = {name: parameter.grad for name, parameter in model.named_parameters()}
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        learner = Learner(model, replace(SETTINGS, learning_rate=0.0, warm_up=0))
        learner.step(batch)
    finally:
        torch.set_num_threads(before)
    norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in expected.values() if gradient is not None))
    clipped = max(1.0, norm)  # the learner clips them to a norm of 1
    for name, parameter in learner.model.named_parameters():
        assert parameter.grad is not None and expected[name] is not None
        assert torch.allclose(parameter.grad * clipped, expected[name], atol=2e-4), name
    assert learner.samples == batch.size and learner.take_losses()["policy"] > 1


def constant(model: Model) -> Model:
    """Returns the same network with batch norms that never change, as those of KataGo's files."""
    for module in model.modules():
        if isinstance(module, BatchNorm):
            module.constant = True
    return model


def test_constant_norms_are_not_measured_anew() -> None:
    learner = Learner(constant(new_model()), SETTINGS)
    network = learner.averaged_network(pytest.fail("no batch is needed") for _ in range(1))
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), learner.model.parameters(), strict=True))


@pytest.mark.parametrize("name", ["b1c16h2tfrs", "b1c16h1tflrs"])
def test_a_transformer_learns_and_its_file_has_the_same_outputs(name: str, tmp_path: Path) -> None:
    learner, batch = Learner(new_model(name), replace(SETTINGS, average=0)), mixed_batch()
    learner.step(batch)
    # torch's fused optimizers walk the memory of both.
    assert all(part.grad is not None and part.grad.stride() == part.stride() for part in learner.model.parameters())
    first = learner.take_losses()["policy"]
    for _ in range(30):
        learner.step(batch)
    assert learner.check()["policy"] < 0.9 * first
    network = playing_network(learner.averaged_network([]))
    write_katago_file(network.stored(), tmp_path / "network.bin.gz")
    again = Model.from_stored(read_katago_file(tmp_path / "network.bin.gz"))
    with torch.inference_mode():
        outputs = [model(batch.planes.float(), batch.scalars).raw for model in (network, again)]
    assert all(torch.allclose(one, other, atol=1e-5) for one, other in zip(*outputs, strict=True))
