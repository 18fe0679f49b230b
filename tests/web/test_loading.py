"""The page's button that downloads a stronger network, with a server on this computer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from misbehaving_server import NETWORK, SHA256, Server, running_server
from web.conftest import Desk

from gtp_engine.engine.engine import Engine, EngineSettings
from gtp_engine.nets import download
from gtp_engine.nets.published import PublishedNetwork

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", str(tmp_path / "networks"))
    monkeypatch.setattr(download, "_WAITS", (0.0,))
    return tmp_path / "networks"


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as server:
        yield server


def desk_with(server: Server, kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A game against the bundled network, in which the server's is offered."""
    offered = PublishedNetwork("tiny", server.url(kind), 0.1, SHA256, 2, "CC0", "for tests")
    monkeypatch.setattr("gtp_engine.clients.web.loading.usual_network", lambda: offered)
    engine = Engine(EngineSettings(threads=1, visits=2), width=7)
    desk = Desk(engine, folder.parent)
    desk.wait(engine.ready.done)
    desk.session.publish()
    return desk


def test_the_network_is_loaded_when_the_button_is_pressed_and_used(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_with(server, "good", folder, monkeypatch)
    offer: dict[str, Any] = desk.state["offer"]
    assert (offer["network"], offer["megabytes"], offer["licence"]) == ("net", 0.1, "CC0")
    assert offer["host"] == f"127.0.0.1:{server.server_address[1]}"
    assert server.asked == [] and desk.state["loading"] is None
    desk.send("get-network", name="tiny")
    assert desk.state["loading"] == {"done": 0, "total": None}
    desk.refuse("is being downloaded", "get-network", name="tiny")
    desk.wait(lambda: desk.state["loading"] is None)
    assert (folder / "net.bin.gz").read_bytes() == NETWORK
    assert desk.state["network"] == "net" and "net" in desk.state["networks"]
    assert desk.state["offer"] is None and desk.state["problem"] is None
    desk.send("network", network="auto")
    assert desk.state["offer"] is None  # it is there, to be chosen
    desk.engine.close()


def test_what_goes_wrong_is_shown_and_can_be_tried_again(
    server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_with(server, "page", folder, monkeypatch)
    desk.refuse("another network is offered", "get-network", name="https://elsewhere/net.bin.gz")
    desk.refuse("invalid name", "get-network")
    assert server.asked == []
    desk.send("get-network", name="tiny")
    desk.wait(lambda: desk.state["loading"] is None)
    assert "a page came instead of a file" in desk.state["problem"]
    assert desk.state["network"] == "auto" and desk.state["offer"] is not None
    desk.engine.close()


def test_it_can_be_stopped_and_resumed(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_with(server, "slow", folder, monkeypatch)
    server.cuts = 1  # which stalls for a second
    desk.send("get-network", name="tiny")
    desk.send("stop-network")
    desk.wait(lambda: desk.state["loading"] is None)
    assert desk.state["problem"] is None and not (folder / "net.bin.gz").exists()
    desk.send("get-network", name="tiny")
    desk.wait(lambda: desk.state["loading"] is None)
    assert (folder / "net.bin.gz").read_bytes() == NETWORK
    desk.engine.close()
