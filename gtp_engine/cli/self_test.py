"""The self-test of `gtp_engine doctor`: searches, a game record, a GTP conversation."""

import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from ..base.errors import UserError, answer_text
from ..evaluate.choices import LARGEST_BOARD, ROLLOUTS, WITHOUT_NETWORK
from ..network.library import default_networks, network_name
from .compiling import wait_until_ready

START_LIMIT = 180.0  # seconds; the first start compiles the core
NETWORK_VISITS = 32  # seconds even with a large network


def checks_of(command: list[str], options: list[str], profile: str) -> list[tuple[str, Callable[[], str]]]:
    """Returns the names and functions of the checks.

    Args:
        command: The command line that starts this program.
        options: The options of `gtp` that choose the network; empty for the default networks, which are all checked.
        profile: The profile of --profile, or empty.
    """
    checks = [
        ("compiled", _check_compiled),
        ("search", _check_search),
        ("SGF", _check_sgf),
    ]
    if not options:
        checks += [
            ("network", partial(_check_network, str(path), "", most)) for path, (_, most) in default_networks().items()
        ]
    elif options[1] not in WITHOUT_NETWORK:
        checks.append(("network", partial(_check_network, options[1], profile, LARGEST_BOARD)))
    return [*checks, ("GTP", lambda: _check_gtp([*command, "gtp", *options]))]


def run_check(name: str, check: Callable[[], str]) -> bool:
    """Runs a check and prints one line: its result, or why it failed. Returns whether it passed."""
    try:
        found, sound = f"ok, {check()}", True
    except Exception as error:  # any failure is a finding
        found, sound = f"FAILED: {answer_text(error)}", False
    click.echo(f"  {name:<12} {found}")
    return sound


def _check_compiled() -> str:
    from ..play.engine import Engine
    from ..play.settings import EngineSettings

    start = time.perf_counter()
    with Engine(EngineSettings(ROLLOUTS, threads=1)) as engine:
        wait_until_ready(engine)
    return f"ready in {time.perf_counter() - start:.1f} s"


def _check_search() -> str:
    """Searches a position with two rows of seven stones in atari, one of each colour; the best move captures one."""
    from ..game.coords import parse_vertex
    from ..play.engine import Engine
    from ..play.settings import EngineSettings

    rows = {
        "black": ("A5 B5 C5 D5 E5 F5", "A3 B3 C3 D3 E3 F3 G3"),
        "white": ("A4 B4 C4 D4 E4 F4 G4", "A2 B2 C2 D2 E2 F2"),
    }
    stones = {colour: [parse_vertex(name, 7, 7) for name in " ".join(rows[colour]).split()] for colour in rows}
    with Engine(EngineSettings(ROLLOUTS, visits=400, seed=1, threads=1), width=7) as engine:
        engine.set_up(stones["black"], stones["white"])
        report = engine.evaluate()
    best = report.vertex(report.moves[0].point)
    if best != "G5":
        raise UserError(f"chose {best}, but G5 captures seven stones")
    return f"{report.visits / report.seconds:,.0f} visits/s on one thread"


def _check_network(network: str, profile: str, size: int) -> str:
    """Searches the empty board with a network."""
    from ..play.engine import Engine
    from ..play.settings import EngineSettings

    settings = EngineSettings(network, visits=NETWORK_VISITS, parameters={"profile": profile})
    with Engine(settings, width=size) as engine:
        wait_until_ready(engine)
        report = engine.evaluate()
    return f"{network_name(Path(network))}, {report.visits / report.seconds:,.0f} visits/s on {size}x{size}"


def _check_sgf() -> str:
    """Writes a record and reads it back."""
    from ..game.coords import BLACK, parse_vertex
    from ..game.game import Game
    from ..sgf import GameRecord, read_sgf, write_sgf

    game = Game(9)
    game.play(BLACK, parse_vertex("D4", 9, 9))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "doctor.sgf"
        write_sgf(GameRecord.from_game(game), file)
        if read_sgf(file).to_game().moves != game.moves:
            raise UserError(f"the record changed when it was read back: {file.read_text()}")
    return "written and read back"


def _check_gtp(command: list[str]) -> str:
    """Starts the program as a GUI does, from another folder."""
    done = subprocess.run(
        [*command, "--visits", "20", "--name", "gtp_engine"],  # whatever the user's own defaults are
        input="1 name\n2 boardsize 9\n3 genmove b\n4 quit\n",
        capture_output=True,
        text=True,
        timeout=START_LIMIT,
        cwd=tempfile.gettempdir(),
    )
    starts = ["=1 gtp_engine", "=2", "=3 ", "=4"]
    replies = done.stdout.split("\n\n")
    if done.returncode or not all(reply.startswith(start) for reply, start in zip(replies, starts, strict=False)):
        last_words = done.stderr.strip().rpartition("\n")[2] or done.stdout
        raise UserError(f"{' '.join(command)}: exit status {done.returncode}, {last_words}")
    return f"played {replies[2][3:]}"
