"""Where files are kept: one folder per user for each kind, by the system's conventions or an environment variable.

- cache, `GTP_ENGINE_CACHE`: `~/.cache/gtp_engine` on Linux, `~/Library/Caches/gtp_engine` on macOS,
  `%LOCALAPPDATA%\\gtp_engine\\Cache` on Windows.
- data, `GTP_ENGINE_DATA`: `~/.local/share/gtp_engine`, `~/Library/Application Support/gtp_engine`,
  `%LOCALAPPDATA%\\gtp_engine`.
- networks, `GTP_ENGINE_NETWORKS`: `networks` in the data folder.
- games, `GTP_ENGINE_GAMES`: the folder `sgf` of a checkout, else `games` in the data folder.
- configuration, `GTP_ENGINE_CONFIG` (the file): `~/.config/gtp_engine/config.toml`,
  `~/Library/Application Support/gtp_engine/config.toml`, `%LOCALAPPDATA%\\gtp_engine\\config.toml`.

Linux also respects `XDG_CACHE_HOME`, `XDG_DATA_HOME` and `XDG_CONFIG_HOME`. No function here creates anything.
"""

import os
import sys
from pathlib import Path

from .errors import UserError

NAME = "gtp_engine"
CONFIGURATION = "GTP_ENGINE_CONFIG"  # the variable that names the user's configuration file


def cache_dir() -> Path:
    """Returns the folder for what can be deleted: compiled code, and networks' 8-bit integers."""
    return _override("GTP_ENGINE_CACHE") or _user_folder("Caches", "XDG_CACHE_HOME", ".cache", "Cache")


def data_dir() -> Path:
    """Returns the folder for what must be kept: networks, the reader's problems, the games of an installed program."""
    return _override("GTP_ENGINE_DATA") or _user_folder("Application Support", "XDG_DATA_HOME", ".local/share", "")


def networks_dir() -> Path:
    """Returns the folder in which downloaded and trained networks are found by name."""
    return _override("GTP_ENGINE_NETWORKS") or data_dir() / "networks"


def games_dir() -> Path:
    """Returns the folder in which games are saved without `--sgf-dir`."""
    root = checkout()
    return _override("GTP_ENGINE_GAMES") or (root / "sgf" if root else data_dir() / "games")


def configuration_file() -> Path | None:
    """Returns the file of the user's own defaults, which need not exist; None for a user without a home folder."""
    try:
        folder = _user_folder("Application Support", "XDG_CONFIG_HOME", ".config", "")
    except UserError:  # nobody needs a configuration
        folder = None
    return _override(CONFIGURATION) or (folder / "config.toml" if folder else None)


def checkout() -> Path | None:
    """Returns the source tree that this package runs from (also in an editable install), or None if it is installed."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "setup.cfg").is_file() and (root / "sgf").is_dir() else None


def _override(variable: str) -> Path | None:
    if not (value := os.environ.get(variable)):
        return None
    if value == "~" or value.startswith(("~/", f"~{os.sep}")):
        return (_home() / value[1:].lstrip(f"/{os.sep}")).absolute()
    try:
        return Path(value).expanduser().absolute()
    except RuntimeError:
        raise UserError(f"{variable} names an unknown user: {value}") from None


def _user_folder(mac: str, xdg: str, linux: str, windows: str) -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else _home() / "AppData" / "Local") / NAME / windows
    if sys.platform == "darwin":
        return _home() / "Library" / mac / NAME
    base = os.environ.get(xdg, "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if os.path.isabs(base) else _home() / linux) / NAME


def _home() -> Path:
    try:
        if sys.platform != "win32" and os.environ.get("HOME") == "":  # Path.home() would be the root folder
            import pwd

            return Path(pwd.getpwuid(os.getuid()).pw_dir)
        return Path.home()
    except (RuntimeError, KeyError):
        raise UserError("this user has no home folder: set HOME, or GTP_ENGINE_CACHE and GTP_ENGINE_DATA") from None
