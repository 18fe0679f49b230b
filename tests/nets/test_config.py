"""Short names of networks, and configs as plain data."""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from random_networks import random_config, with_auxiliary_heads

from gtp_engine.base.errors import UserError
from gtp_engine.nets.config import check_shapes, config_from_data, parse_config, pooling_blocks, to_data
from gtp_engine.nets.schema import BottleneckBlockDesc, ConvDesc, MatMulDesc, PoolingBlockDesc

BLOCKS = ("TrunkDesc", "FeedForwardBlockDesc")  # whose numbers of channels only inform


@pytest.mark.parametrize(
    ("name", "blocks", "channels", "millions"),
    [
        ("b6c96", 6, 96, 1.0),
        ("b10c128", 10, 128, 3.0),
        ("b15c192", 15, 192, 9.9),
        ("b18c384nbt", 18, 384, 26.4),
        ("b7c96h3tfrs", 14, 96, 0.8),
        ("b3c64h4tflrs", 6, 64, 0.2),
    ],
)
def test_sizes(name: str, blocks: int, channels: int, millions: float) -> None:
    """Those of KataGo's networks of that name."""
    config = parse_config(name)
    assert (config.name, len(config.trunk.blocks), config.channels) == (name, blocks, channels)
    assert round(config.parameter_count / 1e6, 1) == millions


@pytest.mark.parametrize(
    ("block_count", "nested", "pooling"),
    [
        (6, False, [3, 5]),
        (10, False, [5, 8]),
        (15, False, [7, 12]),
        (20, False, [7, 12, 17]),
        (4, False, [3]),
        (1, False, [1]),
        (18, True, [3, 6, 9, 12, 15]),
        (10, True, [3, 6, 9]),
        (2, True, [2]),
    ],
)
def test_pooling_blocks_are_katagos(block_count: int, nested: bool, pooling: list[int]) -> None:
    assert [number + 1 for number in pooling_blocks(block_count, nested)] == pooling
    blocks = parse_config(f"b{block_count}c32{'nbt' * nested}").trunk.blocks
    first = [block.blocks[0] if isinstance(block, BottleneckBlockDesc) else block for block in blocks]
    assert [n + 1 for n, block in enumerate(first) if isinstance(block, PoolingBlockDesc)] == pooling


@pytest.mark.parametrize("name", ["b1c8nbt", "b1c8", "b1c1024nbt"])
def test_the_smallest_and_the_largest(name: str) -> None:
    check_shapes(parse_config(name))


@pytest.mark.parametrize(
    "name",
    [
        "",
        "b6",
        "c96",
        "b0c96",
        "b6c97",
        "b6c4",
        "b101c96",
        "b6c96-tanh",
        "B6C96",
        "b6c96 ",
        "b6c96h3",
        "b6c96h0tfrs",
        "b6c96h5tfrs",
        "b6c96h3tfrs-mish",
    ],
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"expected 1 to 100|unknown architecture|heads cannot share"):
        parse_config(name)


@pytest.mark.parametrize("version", range(8, 18))
def test_plain_data_and_back(version: int) -> None:
    config = random_config(version, random.Random(version))
    assert config_from_data(json.loads(json.dumps(to_data(config)))) == config


def test_data_that_are_no_config_are_refused() -> None:
    data = to_data(parse_config("b1c8"))
    for changed, message in (
        (None, "not a description of a network"),
        (data["trunk"], "not a description of a network"),
        (data | {"version": 7}, "version 7; expected 8 to 17"),
        (data | {"version": "14"}, "not supported between"),
        (data | {"colour": 1}, "unexpected keyword argument 'colour'"),
        (data | {"record": "Path"}, "Path"),
        ({name: value for name, value in data.items() if name != "trunk"}, "missing 1 required"),
    ):
        with pytest.raises((ValueError, TypeError, KeyError), match=message):
            config_from_data(changed)


def test_other_inputs_than_those_of_this_program_are_refused() -> None:
    config = parse_config("b1c8")
    trunk = replace(config.trunk, conv=replace(config.trunk.conv, in_channels=24))
    with pytest.raises(UserError, match="its inputs are 24 planes and 19 scalars; this program makes 22 and 19"):
        check_shapes(replace(config, planes=24, trunk=trunk))


@pytest.mark.parametrize("version", range(8, 18))
def test_every_layer_has_to_fit_the_others(version: int) -> None:
    data = to_data(random_config(version, random.Random(version)))
    check_shapes(config_from_data(data))
    layers = [part for part in parts_of(data) if part["record"] not in BLOCKS]
    counts = [(part, name) for part in layers for name in ("in_channels", "out_channels", "channels") if name in part]
    assert len(counts) > 50
    for part, name in counts:
        part[name] += 1
        with pytest.raises(UserError, match=r"its layers do not fit together \(.* has \d+ channels, not \d+\)"):
            check_shapes(config_from_data(data))
        part[name] -= 1


def parts_of(data: Any) -> Iterator[dict[str, Any]]:
    """All descriptions in plain data."""
    if isinstance(data, dict):
        yield data
        data = list(data.values())
    for part in data if isinstance(data, list) else ():
        yield from parts_of(part)


def test_heads_that_only_help_to_learn_are_part_of_the_data() -> None:
    config = with_auxiliary_heads(parse_config("b1c8"))
    check_shapes(config)
    assert config_from_data(json.loads(json.dumps(to_data(config)))) == config
    assert config.with_auxiliary_heads(()) == parse_config("b1c8")
    own = parse_config("b1c8").with_auxiliary_heads(("policy", "td_value", "soft_policy"))
    check_shapes(own)
    assert own.auxiliary_names == ["soft_policy", "td_value"]
    for wrong in (MatMulDesc("moves_left", 5, 1), ConvDesc("played", 1, 1, 5, 1)):
        with pytest.raises(UserError, match=f"the input of {wrong.name} has 5 channels"):
            check_shapes(replace(config, value=replace(config.value, auxiliary=(wrong,))))
    (head,) = config.policy.auxiliary
    wider = replace(head, out_conv=replace(head.out_conv, in_channels=5))
    with pytest.raises(UserError, match="out_conv has 5 channels"):
        check_shapes(replace(config, policy=replace(config.policy, auxiliary=(wider,))))
    with pytest.raises(UserError, match="two heads have the same name"):
        check_shapes(replace(config, value=replace(config.value, auxiliary=config.value.auxiliary * 2)))
