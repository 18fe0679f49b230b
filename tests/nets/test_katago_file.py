"""Reading and writing KataGo's files: nothing is lost, and nothing bad gets in."""

import gzip
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import some
from hypothesis import given, settings
from hypothesis import strategies as st
from random_networks import random_model

from gtp_engine.nets import katago_file
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import NetworkFileError, katago_bytes, read_katago_file, write_katago_file
from gtp_engine.nets.model import Model
from gtp_engine.nets.schema import BatchNormDesc, Layer, walk
from gtp_engine.nets.stored import StoredNetwork


@pytest.fixture(scope="module")
def tiny() -> bytes:
    """A small network's file, unpacked."""
    return katago_bytes(Model(parse_config("b1c8")).initialise().stored())


def read(content: bytes, folder: Path, name: str = "net.bin") -> StoredNetwork:
    (folder / name).write_bytes(content)
    return read_katago_file(folder / name)


def refused(content: bytes, folder: Path, name: str = "net.bin") -> str:
    """Returns the message for a bad file without the file's name, which it must begin with."""
    with pytest.raises(NetworkFileError) as error:
        read(content, folder, name)
    message = str(error.value)
    assert message.startswith(f"{folder / name}: ") and "\n" not in message
    return message.removeprefix(f"{folder / name}: ")


@settings(max_examples=some(20), deadline=None)
@given(version=st.integers(8, 17), seed=st.integers(0, 1000))
def test_round_trip_is_exact(version: int, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    network = random_model(version, seed).stored()
    path = tmp_path_factory.mktemp("nets") / "net.bin.gz"
    write_katago_file(network, path)
    again = read_katago_file(path)
    assert again.config == network.config
    assert again.values.keys() == network.values.keys()
    assert all(np.array_equal(network.values[name], value) for name, value in again.values.items())
    module = Model.from_stored(again).state_dict()
    assert all(np.array_equal(network.values[name], tensor.numpy()) for name, tensor in module.items())
    assert list(path.parent.iterdir()) == [path]


def test_files_of_katago_are_written_byte_for_byte(shared: Path) -> None:
    for path in sorted((shared / "katago" / "nets").glob("b*.bin.gz")) + list(shared.glob("katago/nets/g170-b6*.gz")):
        assert katago_bytes(read_katago_file(path)) == gzip.decompress(path.read_bytes()), path


def test_text_files(tiny: bytes, tmp_path: Path) -> None:
    model = read(tiny, tmp_path)
    text = as_text(tiny, model)
    again = read(text, tmp_path, "net.txt")
    assert again.config == model.config
    assert read(gzip.compress(text), tmp_path, "net.txt.gz").config == model.config
    for name, value in model.values.items():
        assert np.array_equal(value, again.values[name])
    assert "cut short" in refused(text[: len(text) // 2], tmp_path, "net.txt")
    first = repr(model.values["trunk.conv.weight"][0, 0, 0, 0].item()).encode()
    assert "trunk.conv.weight is b'x.1" in refused(text.replace(first, b"x.1", 1), tmp_path, "net.txt")


def as_text(content: bytes, model: StoredNetwork) -> bytes:
    """The same file with decimal numbers."""
    parts, rest = [], content
    counts = [part.size for record in walk(model.config) if isinstance(record, Layer) for part in record.floats]
    for count in counts:
        words, rest = rest.split(b"@BIN@", 1)
        numbers = torch.frombuffer(bytearray(rest[: 4 * count]), dtype=torch.float32)
        parts += [words, " ".join(repr(number) for number in numbers.tolist()).encode()]
        rest = rest[4 * count :]
    return b"".join(parts) + rest


def test_every_cut_is_noticed(tiny: bytes, tmp_path: Path) -> None:
    for end in [*range(0, 300), *range(300, len(tiny) - 1, 211), len(tiny) - 2]:
        message = refused(tiny[:end], tmp_path)
        assert "cut short" in message or "not a KataGo network" in message, (end, message)


def test_every_cut_of_a_packed_file_is_noticed(tiny: bytes, tmp_path: Path) -> None:
    packed = gzip.compress(tiny)
    for end in range(2, len(packed), 997):
        assert "cut short" in refused(packed[:end], tmp_path)
    damaged = packed[:2000] + bytes(40) + packed[2040:]
    assert "damaged" in refused(damaged, tmp_path)


def test_other_kinds_of_files(tiny: bytes, tmp_path: Path) -> None:
    for content in (b"", b"hello", b"(;GM[1]FF[4]SZ[19];B[pd])", b"\x89PNG\r\n\x1a\n" + bytes(5000), b"x" * 100_000):
        assert "not a KataGo network" in refused(content, tmp_path)
    assert "2 bytes follow" in refused(tiny + b"\nxy", tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"b1c8\n14\n", b"b1c8\n7\n", "a network of version 7, with older inputs; use version 8 to 17"),
        (b"b1c8\n14\n", b"b1c8\n18\n", "a network of version 18, newer than this program; it reads 8 to 17"),
        (b"b1c8\n14\n", b"b1c8\n-3\n", "not a KataGo network"),
        (b"14\n22\n", b"14\n18\n", "its inputs are 18 planes and 19 scalars; this program makes 22 and 19"),
        (b"22\n19\n", b"22\n14\n", "its inputs are 22 planes and 14 scalars; this program makes 22 and 19"),
        (b"trunk\n1\n", b"trunk\n1000000000000\n", "unknown kind of block"),
        (b"trunk\n1\n", b"trunk\n2\n", "unknown kind of block"),
        (b"3\n3\n22\n8\n", b"3\n3\n22\n1000000\n", "cut short: trunk.conv.weight takes 792000000 bytes"),
        (b"3\n3\n22\n8\n", b"3\n3\n22\n1000000000000\n", "trunk.conv: out_channels is 1000000000000; expected"),
        (b"3\n3\n22\n8\n", b"4\n3\n22\n8\n", "trunk.conv: a kernel of 4x3; both sides must be odd"),
        (b"3\n3\n22\n8\n", b"3\n3\n8\n22\n", "its layers do not fit together"),
        (b"ACTIVATION_RELU", b"ACTIVATION_TANH", "unknown activation ACTIVATION_TANH"),
        (b"gpool_block", b"magic_block", "trunk.blocks.0: unknown kind of block 'magic_block'"),
        (b"0.0001\n1\n", b"nan\n1\n", "epsilon is nan"),
        (b"\n0.25\n", b"\n-0.25\n", "invalid multiplier value_error -0.25: expected a positive number"),
        (b"0.0001\n1\n", b"0.0001\n7\n", "is b'7'; expected 0 or 1"),
    ],
)
def test_bad_headers(tiny: bytes, tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    assert old in tiny
    assert message in refused(tiny.replace(old, new, 1), tmp_path)


def test_blocks_within_blocks_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = katago_bytes(Model(parse_config("b1c32nbt")).initialise().stored())
    assert read(network, tmp_path).config.trunk.blocks
    monkeypatch.setattr(katago_file, "DEEPEST", 1)
    assert refused(network, tmp_path) == "trunk.blocks.0.blocks: blocks are nested more than 1 deep"


@settings(max_examples=some(150), deadline=None)
@given(data=st.data())
def test_any_changed_byte_gives_a_network_or_one_clear_error(
    tiny: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    position = data.draw(st.integers(0, len(tiny) - 1) | st.integers(0, 250))
    content = bytearray(tiny)
    content[position : position + 1] = data.draw(st.binary(min_size=1, max_size=3) | st.just(b"9999999"))
    path = tmp_path_factory.mktemp("nets") / "net.bin"
    path.write_bytes(content)
    try:
        read_katago_file(path)
    except NetworkFileError as error:
        assert str(error).startswith(f"{path}: ")


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    assert "expands to more than" in refused(gzip.compress(bytes(200 << 20), 9), tmp_path, "bomb.bin.gz")


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    network = Model(parse_config("b1c8")).initialise().stored()
    content = katago_bytes(network)
    start = content.index(b"@BIN@") + 5
    assert "trunk.conv.weight contains NaN or infinite" in refused(
        content[:start] + b"\x00\x00\xc0\x7f" + content[start + 4 :], tmp_path
    )
    network.values["trunk.conv.weight"][0, 0, 0, 0] = np.nan
    with pytest.raises(ValueError, match=r"trunk\.conv\.weight contains NaN or infinite"):
        katago_bytes(network)
    values = {**network.values, "trunk.conv.weight": np.zeros((8, 22, 5, 5), np.float32)}
    with pytest.raises(ValueError, match=r"trunk\.conv\.weight has the shape \(5, 5, 22, 8\), but the config says"):
        katago_bytes(replace(network, values=values))


def test_negative_variances_are_refused(tmp_path: Path) -> None:
    network = Model(parse_config("b1c8")).initialise().stored()
    network.values["trunk.tip_norm.running_var"][0] = -1
    assert "trunk.tip_norm.running_var contains negative" in refused(katago_bytes(network), tmp_path)


def test_the_norms_of_a_fresh_network_are_measured(tmp_path: Path) -> None:
    new = Model(parse_config("b1c8")).initialise().stored()
    norms = [desc for desc in walk(read(katago_bytes(new), tmp_path).config) if isinstance(desc, BatchNormDesc)]
    assert norms and not any(norm.constant for norm in norms)


def test_what_a_version_cannot_say_is_not_written() -> None:
    config = parse_config("b1c8-mish")
    for changed, message in (
        (replace(config, version=10), "cannot represent it"),
        (replace(config, name="two words"), "names have no spaces"),
    ):
        with pytest.raises(ValueError, match=message):
            katago_bytes(Model(changed).stored())


def test_a_file_is_in_memory_once(tmp_path: Path) -> None:
    file = tmp_path / "zeros.bin"
    file.write_bytes(bytes(8 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(NetworkFileError, match="a word has no end"):
            read_katago_file(file)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()
