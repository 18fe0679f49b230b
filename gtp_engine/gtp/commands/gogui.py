"""GoGui's own commands. Those of its ruler, `gogui-rules_*`, stay unlisted: it would take the engine for one."""

import os

from ..arguments import colour, coloured_points, expect
from ..protocol import GtpError
from ..registry import command
from ..session import Session
from .board import play_all, set_up
from .handicap import BOARD_NOT_EMPTY

# type/Label/command, with %m for the colour to move (GoGui's documentation, "Analyze Commands").
ANALYZE_COMMANDS = (
    "gfx/Priors/gtp_engine-priors",
    "gfx/Visits/gtp_engine-visits",
    "gfx/Win Rates/gtp_engine-win_rates",
    "dboard/Ownership/gtp_engine-ownership",
    "gfx/Principal Variation/gtp_engine-principal_variation",
    "gfx/Pass-Alive/gtp_engine-pass_alive",
    "gfx/Ladders/gtp_engine-ladders",
    "hstring/Last Search/gtp_engine-last_search",
    "param/Search Parameters/gtp_engine-param",
    "string/Final Score/final_score",
    "plist/Dead Stones/final_status_list dead",
)


@command("gogui-analyze_commands")
def gogui_analyze_commands(session: Session, arguments: list[str]) -> str:
    return "\n".join(ANALYZE_COMMANDS)


@command("gogui-interrupt")
def gogui_interrupt(session: Session, arguments: list[str]) -> None:
    """That it is listed promises that the comment line `# interrupt` stops the running command."""


@command("gogui-sigint")
def gogui_sigint(session: Session, arguments: list[str]) -> str:
    """The process id; from now on SIGINT stops the running command and no longer the program."""
    session.inbox.signal_ends = False
    return str(os.getpid())


@command("gogui-play_sequence")
def gogui_play_sequence(session: Session, arguments: list[str]) -> None:
    play_all(session, coloured_points(session, arguments))


@command("gogui-setup")
def gogui_setup(session: Session, arguments: list[str]) -> None:
    """Stones of both colours on the empty board."""
    stones = coloured_points(session, arguments)
    if session.game.moves or session.game.setup_stones:
        raise GtpError(BOARD_NOT_EMPTY)
    set_up(session, stones)


@command("gogui-setup_player")
def gogui_setup_player(session: Session, arguments: list[str]) -> None:
    expect(arguments, 1)
    session.game.to_move = colour(arguments[0])
