"""What other programs need to be told to start this one."""

import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

# CGOS plays Tromp-Taylor rules without suicide; parts missing from the JSON are Tromp-Taylor's.
CGOS_RULES = '{"suicide":false}'

# KaTrain gives its line to a shell and ends only that: so the engine takes the shell's place where shells know how.
_REPLACE_SHELL = "" if sys.platform == "win32" else "exec "


def engine_command() -> list[str]:
    """The command line that starts this program from any folder."""
    script = Path(sysconfig.get_path("scripts")) / ("gtp_engine.exe" if sys.platform == "win32" else "gtp_engine")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "gtp_engine"]


def client_lines(command: list[str], options: Sequence[str] = ()) -> str:
    """The lines to paste, where `command` starts this program, with `options` of `gtp` and `analysis`: a heading for
    each client, then what it takes."""
    program, *first = command
    arguments = _quoted([*first, "gtp", *options])
    line = _quoted([*command, "gtp", *options])
    cgos = f"CommandLine = {' '.join([*command, 'gtp', *options])} --rules {CGOS_RULES}"
    if any(" " in word for word in (*command, *options)):
        cgos = f"the CGOS client cannot start a line in which a folder's or a file's name has blanks: {line}"
    clients = {
        "Sabaki": ("File > Preferences > Engines > Add: the path, then the arguments", [program, arguments]),
        "GoGui": ("Program > New Program: the command", [line]),
        "Lizzie, LizzieYzy": ("Settings > Engine: the engine command", [line]),
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
