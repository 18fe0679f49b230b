"""The lines that other programs need to start this one."""

import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

# CGOS plays Tromp-Taylor rules without suicide; the parts that this JSON does not name are Tromp-Taylor's.
CGOS_RULES = '{"suicide":false}'

# KaTrain runs its line in a shell and ends only that: `exec` replaces the shell by the engine.
_REPLACE_SHELL = "" if sys.platform == "win32" else "exec "


def engine_command() -> list[str]:
    """Returns the command line that starts this program from any folder."""
    script = Path(sysconfig.get_path("scripts")) / ("gtp_engine.exe" if sys.platform == "win32" else "gtp_engine")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "gtp_engine"]


def client_lines(command: list[str], options: Sequence[str] = ()) -> str:
    """Returns the lines to paste into GUIs and servers, with a heading for each of them.

    Args:
        command: The command line that starts this program.
        options: Options of `gtp` and `analysis` to add.
    """
    program, *first = command
    arguments = _quoted([*first, "gtp", *options])
    line = _quoted([*command, "gtp", *options])
    cgos = f"CommandLine = {' '.join([*command, 'gtp', *options])} --rules {CGOS_RULES}"
    if any(" " in word for word in (*command, *options)):
        cgos = f"the CGOS client cannot start a line with spaces in a path: {line}"
    clients = {
        "Sabaki": ("File > Preferences > Engines > Add: the path, then the arguments", [program, arguments]),
        "GoGui": ("Program > New Program: the command; --live-graphics draws the search on the board", [line]),
        "Lizzie, LizzieYzy": ("Settings > Engine: the engine command", [f"{line} --name KataGo"]),
        "CGOS": ("in the client's configuration, under GTPEngine", [cgos]),
        "KaTrain": (
            "Settings > Engine: instead of its own engine's command",
            [f"{_REPLACE_SHELL}{_quoted([*command, 'analysis', *options])}"],
        ),
        "OGS (gtp2ogs)": ("on the command line, with the bot account's key", [f"gtp2ogs --apikey YOUR_KEY -- {line}"]),
    }
    text = []
    for client, (where, entries) in clients.items():
        text += [f"{client}: {where}", *(f"    {entry}" for entry in entries)]
    return "\n".join(text)


def _quoted(words: Iterable[str]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)
