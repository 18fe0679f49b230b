"""A larger network begins with the outputs of the smaller one, and all of it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gtp_engine.base.errors import UserError
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.enlarge import enlarged
from gtp_engine.nets.model import Model
from gtp_engine.nets.stored import StoredNetwork


def random_network(name: str) -> StoredNetwork:
    """Returns a network whose norms and biases are random too, as if it had been trained."""
    generator = torch.Generator().manual_seed(1)
    model = Model(parse_config(name)).initialise(generator)
    with torch.no_grad():
        for key, value in model.state_dict().items():
            if key.endswith(("running_mean", "bias")):
                value.normal_(0, 0.2, generator=generator)
            elif "norm" in key:
                value.uniform_(0.5, 1.5, generator=generator)
    return model.stored()


def inputs() -> tuple[torch.Tensor, torch.Tensor]:
    """Returns three positions; the last one is on a smaller board."""
    generator = torch.Generator().manual_seed(2)
    planes = torch.randint(0, 2, (3, 22, 9, 9), generator=generator).float()
    planes[:, 0] = 1
    planes[2, :, 7:] = 0
    return planes, torch.rand((3, 19), generator=generator)


def outputs(network: StoredNetwork) -> list[torch.Tensor]:
    with torch.no_grad():
        return list(Model.from_stored(network)(*inputs()).raw)


@pytest.mark.parametrize(
    "small, large",
    [
        ("b2c16", "b2c16"),
        ("b2c16", "b5c16"),
        ("b2c16", "b2c32"),
        ("b2c16", "b6c96"),
        ("b6c64", "b10c96"),
        ("b3c16nbt", "b7c32nbt"),
        ("b4c32-mish", "b6c48-mish"),
    ],
)
def test_the_outputs_are_those_of_the_smaller_network(small: str, large: str) -> None:
    before = random_network(small)
    after = enlarged(before, parse_config(large))
    assert after.config.parameter_count == parse_config(large).parameter_count
    for old, new in zip(outputs(before), outputs(after), strict=True):
        torch.testing.assert_close(new, old, rtol=1e-4, atol=1e-4)


def test_the_scale_of_the_outputs_is_kept() -> None:
    before = random_network("b2c16")
    config = replace(before.config, multipliers=replace(before.config.multipliers, lead=7.0))
    after = enlarged(StoredNetwork(config, before.values), parse_config("b3c16"))
    assert after.config.multipliers.lead == 7.0


def test_every_added_weight_learns_within_three_steps() -> None:
    larger = enlarged(random_network("b2c16"), parse_config("b4c32"), torch.Generator().manual_seed(1))
    model = Model.from_stored(larger).train()
    first = {name: value.detach().clone() for name, value in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for _ in range(3):
        optimizer.zero_grad()
        raw = model(*inputs()).raw
        torch.stack([output.square().mean() for output in raw]).sum().backward()
        optimizer.step()
    for name, value in model.named_parameters():
        moved = (value.detach() != first[name]).numpy()
        if value.ndim > 1 and name != "trunk.conv.weight":  # some planes may be empty
            assert moved.mean() > 0.5, name


def test_random_weights_can_be_repeated() -> None:
    before = random_network("b2c16")
    pair = [enlarged(before, parse_config("b3c24"), torch.Generator().manual_seed(5)) for _ in range(2)]
    for name, value in pair[0].values.items():
        np.testing.assert_array_equal(value, pair[1].values[name])


@pytest.mark.parametrize(
    "small, large, message",
    [
        ("b3c16", "b2c16", "b2c16 cannot contain b3c16: it has fewer blocks"),
        ("b10c16", "b12c16", "or pools globally in other places"),
        ("b2c16", "b2c12", "b2c12 cannot contain b2c16: it has fewer channels"),
        ("b4c48", "b4c56", "or fewer beside the pooled ones"),
        ("b2c16", "b2c16nbt", "both need nested bottlenecks (nbt), or neither"),
        ("b2c16", "b2c16-mish", "the activation must stay the same: b2c16-mish has mish and b2c16 has relu"),
    ],
)
def test_a_network_that_does_not_fit_is_refused(small: str, large: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        enlarged(random_network(small), parse_config(large))
    assert message in str(caught.value)


def test_a_network_of_another_architecture_is_refused() -> None:
    before = random_network("b2c16")
    old = StoredNetwork(replace(before.config, version=8), before.values)
    with pytest.raises(UserError, match="b2c16: only networks of `learn` and `train`"):
        enlarged(old, parse_config("b3c16"))
