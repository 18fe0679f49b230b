"""Commands that choose a move."""

from typing import TYPE_CHECKING

from ..arguments import colour, expect
from ..graphics import show_live
from ..registry import command
from ..session import Session

if TYPE_CHECKING:
    from ...engine import Decision

_LIVE_SECONDS = 0.5


@command("genmove")
def genmove(session: Session, arguments: list[str]) -> str:
    expect(arguments, 1)
    return play_best(session, colour(arguments[0]))


@command("reg_genmove")
def reg_genmove(session: Session, arguments: list[str]) -> str:
    """Chooses a move without playing it or resigning."""
    expect(arguments, 1)
    decision = session.decide(session.engine.genmove(colour(arguments[0]), play=False))
    return session.vertex(decision.point)


@command("kgs-genmove_cleanup")
def kgs_genmove_cleanup(session: Session, arguments: list[str]) -> str:
    """As genmove, but takes all dead stones off before it passes."""
    expect(arguments, 1)
    return play_best(session, colour(arguments[0]), cleanup=True)


def play_best(session: Session, player: int, *, cleanup: bool = False) -> str:
    """Chooses a move and plays it; the answer to the client."""
    future = session.engine.genmove(
        player,
        cleanup=cleanup,
        on_report=show_live if session.live_graphics else None,
        interval=_LIVE_SECONDS if session.live_graphics else None,
    )
    return commit(session, session.decide(future))


def commit(session: Session, decision: "Decision") -> str:
    """Plays what was decided and ponders, if the engine does; the answer to the client."""
    answer = "resign" if decision.resign else session.vertex(decision.point)
    session.engine.commit(decision)
    session.engine.ponder()
    return answer
