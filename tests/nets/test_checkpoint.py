"""Our own files, and networks by name."""

import gzip
import io
import pickle
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from random_networks import random_model, with_auxiliary_heads

from gtp_engine.nets.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.nets.config import parse_config, to_data
from gtp_engine.nets.katago_file import NetworkFileError, write_katago_file
from gtp_engine.nets.library import find_network, list_networks, load_network
from gtp_engine.nets.model import Model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of networks."""
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path / "networks"))
    (tmp_path / "networks").mkdir()
    return tmp_path / "networks"


def fresh(name: str = "b1c8") -> Model:
    return Model(parse_config(name)).initialise()


def test_checkpoints_keep_everything(tmp_path: Path) -> None:
    model = Model(with_auxiliary_heads(parse_config("b2c16nbt-mish"))).initialise()
    path = tmp_path / "net.pt"
    training = {"optimizer": {"step": torch.tensor(3), "moments": [torch.ones(2)]}, "positions": 100, "rate": 1e-3}
    write_checkpoint(Checkpoint(model, training, {"elo": 12.5, "games": 3}), path)
    again = read_checkpoint(path)
    assert again.model.config == model.config and not again.model.training
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in again.model.state_dict().items())
    assert again.card == {"elo": 12.5, "games": 3}
    assert again.training is not None and again.training["positions"] == 100
    assert torch.equal(again.training["optimizer"]["moments"][0], torch.ones(2))
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    write_checkpoint(Checkpoint(fresh()), path)
    before = path.read_bytes()
    with pytest.raises((AttributeError, pickle.PicklingError)):
        write_checkpoint(Checkpoint(fresh(), {"cannot": lambda: None}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (print, ("this code must not run",))


def compressed(content: bytes) -> bytes:
    """The same archive, but compressed: a small file could fill the memory."""
    smaller = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(smaller, "w", zipfile.ZIP_DEFLATED) as copy:
        for part in archive.namelist():
            copy.writestr(part, archive.read(part))
    return smaller.getvalue()


def test_bad_checkpoints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.pt"
    write_checkpoint(Checkpoint(fresh()), path)
    whole = path.read_bytes()
    data = torch.load(path, weights_only=True)
    weights = data["weights"]
    norm = next(name for name in weights if name.endswith(".running_var"))
    cases = {
        "empty": b"",
        "cut": whole[: len(whole) // 2],
        "other": saved({"model": 1}),
        "evil": saved({"format": Evil()}),
        "config": saved(data | {"config": {"record": "NetworkConfig"}}),
        "promise": saved(data | {"config": to_data(parse_config("b100c1024"))}),
        "missing": saved(data | {"weights": {name: weights[name] for name in list(weights)[1:]}}),
        "shape": saved(data | {"weights": weights | {"value.value_bias.bias": torch.zeros(4)}}),
        "nan": saved(data | {"weights": weights | {next(iter(weights)): next(iter(weights.values())) * torch.nan}}),
        "variance": saved(data | {"weights": weights | {norm: -torch.ones_like(weights[norm])}}),
        "kind": saved(data | {"weights": 3}),
        "compressed": compressed(whole),
    }
    for content in cases.values():
        path.write_bytes(content)
        with pytest.raises(NetworkFileError) as error:
            load_network(path)
        assert str(error.value).startswith(f"{path}: ") and "\n" not in str(error.value)
    assert capsys.readouterr().out == ""


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    """torch itself reads nearly all of them without a word."""
    path = tmp_path / "net.pt"
    write_checkpoint(Checkpoint(fresh()), path)
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda part: part.file_size)
    # A local header of 30 bytes, with the lengths of the name and of the extra field that follow it.
    start = largest.header_offset
    start += 30 + sum(struct.unpack("<HH", whole[start + 26 : start + 30]))
    for place in range(start, start + largest.file_size, 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(NetworkFileError, match="a damaged checkpoint"):
            read_checkpoint(path)


def saved(data: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(data, buffer)
    return buffer.getvalue()


def test_networks_are_found_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_katago_file(fresh().stored(), folder / "small-s100.bin.gz")
    write_checkpoint(Checkpoint(fresh()), folder / "small-s200.pt")
    (folder / "notes.md").touch()
    (folder / ".small.pt.1.tmp").touch()
    assert {path.name for path in list_networks()} >= {"small-s100.bin.gz", "small-s200.pt"}
    for name in ("small-s100", "small-s100.bin.gz", "small-s1", str(folder / "small-s100.bin.gz")):
        assert find_network(name) == folder / "small-s100.bin.gz"
    assert load_network(find_network("small-s200")).config.name == "b1c8"
    (folder / "OTHER.BIN.GZ").touch()
    assert find_network("OTHER") == folder / "OTHER.BIN.GZ"
    with pytest.raises(ValueError, match=r"name 'small' is ambiguous: it fits small-s100\.bin\.gz, small-s200\.pt"):
        find_network("small")
    for name in ("large", "", "/nowhere/small"):
        with pytest.raises(ValueError, match=f"no network {name!r}: no such file, and none in .*{folder}"):
            find_network(name)
    monkeypatch.chdir(folder)
    assert find_network("small-s200.pt") == Path("small-s200.pt")


def test_content_tells_the_kind(folder: Path) -> None:
    model = random_model(14, 1)
    write_checkpoint(Checkpoint(model), folder / "a.bin.gz")
    write_katago_file(model.stored(), folder / "b.pt")
    assert load_network(folder / "a.bin.gz").config == load_network(folder / "b.pt").config
    write_katago_file(replace(model.stored(), config=replace(model.config, name="PKU")), folder / "c.bin.gz")
    (folder / "c.bin").write_bytes(gzip.decompress((folder / "c.bin.gz").read_bytes()))
    assert load_network(folder / "c.bin").config.name == "PKU"
    (folder / "empty").touch()
    with pytest.raises(NetworkFileError, match="the file is empty"):
        load_network(folder / "empty")
