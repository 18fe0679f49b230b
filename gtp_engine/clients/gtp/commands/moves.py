"""Commands that choose a move, and those that score the end of the game (GTP version 2, section 6.3.3)."""

from typing import TYPE_CHECKING

from ..arguments import SYNTAX_ERROR, colour, expect, refusing_as
from ..formats import show_live
from ..protocol import GtpError
from ..session import Session, command

if TYPE_CHECKING:
    from ....engine.engine import Decision

_LIVE_SECONDS = 0.5


@command("genmove")
def genmove(session: Session, arguments: list[str]) -> str:
    expect(arguments, 1)
    return play_best(session, colour(arguments[0]))


@command("reg_genmove")
def reg_genmove(session: Session, arguments: list[str]) -> str:
    """Chooses a move without playing it or resigning, and without the random draw of a rank that is set."""
    expect(arguments, 1)
    decision = session.decide(session.engine.genmove(session.engine.request(colour(arguments[0])), play=False))
    return session.vertex(decision.point)


@command("kgs-genmove_cleanup")
def kgs_genmove_cleanup(session: Session, arguments: list[str]) -> str:
    """As genmove, but captures all dead stones before it passes."""
    expect(arguments, 1)
    return play_best(session, colour(arguments[0]), cleanup=True)


def play_best(session: Session, player: int, *, cleanup: bool = False) -> str:
    """Chooses a move and plays it; returns the answer to the client."""
    on_report = show_live if session.live_graphics else None
    request = session.engine.request(player, on_report=on_report, interval=_LIVE_SECONDS)
    future = session.engine.genmove(request, cleanup=cleanup)
    return commit(session, session.decide(future))


def commit(session: Session, decision: "Decision") -> str:
    """Plays what was decided and ponders, if the engine does; returns the answer to the client."""
    answer = "resign" if decision.resign else session.vertex(decision.point)
    session.engine.commit(decision)
    if not decision.resign:
        session.engine.ponder()
    return answer


# The end of the game: who has won, and which stones are dead.


_CANNOT_SCORE = "cannot score"
_STATUSES = ("alive", "dead", "seki")


@command("final_score")
def final_score(session: Session, arguments: list[str]) -> str:
    """`0`, `B+x` or `W+x` under the rules, for the board as it stands without its dead stones."""
    with refusing_as(_CANNOT_SCORE):
        return str(session.wait(session.engine.final_score()))


@command("final_status_list")
def final_status_list(session: Session, arguments: list[str]) -> str:
    """The groups of one status, one a line."""
    expect(arguments, 1)
    if arguments[0] not in _STATUSES:
        raise GtpError(SYNTAX_ERROR, f"expected {', '.join(_STATUSES)}, got {arguments[0]!r}")
    with refusing_as(_CANNOT_SCORE):
        groups = session.wait(session.engine.statuses())[arguments[0]]
    return "\n".join(" ".join(session.vertex(point) for point in group) for group in groups)
