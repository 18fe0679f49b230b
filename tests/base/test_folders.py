"""Per-user folders on each system, and the variables that move them."""

import os
import sys
from pathlib import Path

import pytest

from gtp_engine.base import folders
from gtp_engine.base.errors import UserError

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


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(UserError, match="this user has no home folder: set HOME, or GTP_ENGINE_CACHE and"):
        folders.cache_dir()


@pytest.mark.parametrize(
    ("system", "variables", "cache", "data"),
    [
        ("linux", {}, ".cache/gtp_engine", ".local/share/gtp_engine"),
        ("linux", {"XDG_CACHE_HOME": "HOME/c", "XDG_DATA_HOME": "c"}, "c/gtp_engine", ".local/share/gtp_engine"),
        ("darwin", {}, "Library/Caches/gtp_engine", "Library/Application Support/gtp_engine"),
        ("win32", {}, "AppData/Local/gtp_engine/Cache", "AppData/Local/gtp_engine"),
        ("win32", {"LOCALAPPDATA": "HOME/Local"}, "Local/gtp_engine/Cache", "Local/gtp_engine"),
    ],
)
def test_each_system_has_its_folders(
    home: Path, monkeypatch: pytest.MonkeyPatch, system: str, variables: dict[str, str], cache: str, data: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.replace("HOME", str(home)))
    assert folders.cache_dir() == home / cache
    assert folders.data_dir() == home / data


def test_variables_override_everything(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, function in (
        ("CACHE", folders.cache_dir),
        ("DATA", folders.data_dir),
        ("GAMES", folders.games_dir),
        ("NETWORKS", folders.networks_dir),
    ):
        monkeypatch.setenv(f"GTP_ENGINE_{kind}", str(home / kind))
        assert function() == home / kind


def test_variables_may_begin_with_the_home_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", "~/nets")
    assert folders.networks_dir() == home / "nets"
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", "~//nets")
    assert folders.networks_dir() == home / "nets"
    monkeypatch.setenv("GTP_ENGINE_NETWORKS", "~no-such-user/nets")
    with pytest.raises(UserError, match="GTP_ENGINE_NETWORKS names an unknown user: ~no-such-user/nets"):
        folders.networks_dir()


def test_games_are_saved_in_a_checkout_or_else_with_the_data(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "gtp_engine").mkdir()
    monkeypatch.setattr(folders, "__file__", str(home / "gtp_engine" / "base" / "folders.py"))
    assert folders.checkout() is None
    assert folders.games_dir() == folders.data_dir() / "games"
    (home / "setup.cfg").touch()
    (home / "sgf").mkdir()
    assert folders.checkout() == home.resolve()
    assert folders.games_dir() == home.resolve() / "sgf"


def test_nothing_is_created(home: Path) -> None:
    folders.cache_dir(), folders.data_dir(), folders.games_dir(), folders.networks_dir()
    assert not list(home.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no HOME")
def test_an_empty_home_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(sys, "platform", "linux")
    assert folders.cache_dir() == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".cache/gtp_engine"
