"""Where files lie: one folder a user for each kind, by the custom of the system, or where an environment variable says.

- cache, `GTP_ENGINE_CACHE`: `~/.cache/gtp_engine` on Linux, `~/Library/Caches/gtp_engine` on macOS,
  `%LOCALAPPDATA%\\gtp_engine\\Cache` on Windows.
- data, `GTP_ENGINE_DATA`: `~/.local/share/gtp_engine`, `~/Library/Application Support/gtp_engine`,
  `%LOCALAPPDATA%\\gtp_engine`.
- networks, `GTP_ENGINE_NETWORKS`: `networks` in the data folder.
- games, `GTP_ENGINE_GAMES`: the folder `sgf` of a checkout, else `games` in the data folder.

Linux also heeds `XDG_CACHE_HOME` and `XDG_DATA_HOME`. No function here creates anything.
"""

import os
import sys
from pathlib import Path

NAME = "gtp_engine"


def cache_dir() -> Path:
    """What can be thrown away: compiled code."""
    return _override("GTP_ENGINE_CACHE") or _user_folder("Caches", "XDG_CACHE_HOME", ".cache", "Cache")


def data_dir() -> Path:
    """What is to be kept: networks, and games where there is no checkout."""
    return _override("GTP_ENGINE_DATA") or _user_folder("Application Support", "XDG_DATA_HOME", ".local/share", "")


def networks_dir() -> Path:
    """Where networks that were downloaded or trained are looked up by name."""
    return _override("GTP_ENGINE_NETWORKS") or data_dir() / "networks"


def games_dir() -> Path:
    """Where games are saved unless `--sgf-dir` says otherwise."""
    root = checkout()
    return _override("GTP_ENGINE_GAMES") or (root / "sgf" if root else data_dir() / "games")


def checkout() -> Path | None:
    """The source tree that this package runs from (an editable install runs from it too), or None when installed."""
    root = Path(__file__).resolve().parents[1]
    return root if (root / "setup.cfg").is_file() and (root / "sgf").is_dir() else None


def _override(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value).expanduser().absolute() if value else None


def _user_folder(mac: str, xdg: str, linux: str, windows: str) -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / NAME / windows
    if sys.platform == "darwin":
        return Path.home() / "Library" / mac / NAME
    base = os.environ.get(xdg, "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if os.path.isabs(base) else Path.home() / linux) / NAME
