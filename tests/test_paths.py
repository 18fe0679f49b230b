"""Per-user folders on each system, and the variables that move them."""

import sys
from pathlib import Path

import pytest

from gtp_engine import paths

VARIABLES = [
    "GTP_ENGINE_CACHE",
    "GTP_ENGINE_DATA",
    "GTP_ENGINE_GAMES",
    "GTP_ENGINE_NETWORKS",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "LOCALAPPDATA",
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("system", "cache", "data"),
    [
        ("linux", ".cache/gtp_engine", ".local/share/gtp_engine"),
        ("darwin", "Library/Caches/gtp_engine", "Library/Application Support/gtp_engine"),
        ("win32", "AppData/Local/gtp_engine/Cache", "AppData/Local/gtp_engine"),
    ],
)
def test_each_system_has_its_folders(
    home: Path, monkeypatch: pytest.MonkeyPatch, system: str, cache: str, data: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert paths.cache_dir() == home / cache
    assert paths.data_dir() == home / data


def test_xdg_folders_are_heeded_on_linux(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "c"))
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    assert paths.cache_dir() == home / "c/gtp_engine"
    assert paths.data_dir() == home / ".local/share/gtp_engine"


def test_local_app_data_is_heeded_on_windows(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(home / "Local"))
    assert paths.data_dir() == home / "Local/gtp_engine"


def test_variables_override_everything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, function in (
        ("CACHE", paths.cache_dir),
        ("DATA", paths.data_dir),
        ("GAMES", paths.games_dir),
        ("NETWORKS", paths.networks_dir),
    ):
        monkeypatch.setenv(f"GTP_ENGINE_{kind}", str(home / kind))
        assert function() == home / kind


def test_games_are_saved_in_a_checkout_or_else_with_the_data(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "gtp_engine").mkdir()
    monkeypatch.setattr(paths, "__file__", str(home / "gtp_engine" / "paths.py"))
    assert paths.checkout() is None
    assert paths.games_dir() == paths.data_dir() / "games"
    (home / "setup.cfg").touch()
    (home / "sgf").mkdir()
    assert paths.checkout() == home.resolve()
    assert paths.games_dir() == home.resolve() / "sgf"


def test_nothing_is_created(home: Path) -> None:
    paths.cache_dir(), paths.data_dir(), paths.games_dir(), paths.networks_dir()
    assert not list(home.iterdir())
