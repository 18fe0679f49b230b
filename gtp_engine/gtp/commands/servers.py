"""Commands of KGS and CGOS that are about the other player."""

from ... import __version__
from ...wording import counted
from ..registry import command
from ..session import Session


@command("kgs-chat")
def kgs_chat(session: Session, arguments: list[str]) -> str:
    """`game|private NAME MESSAGE...`: what the engine thinks goes back as the answer."""
    report = session.last_report
    if report is None or not report.moves:
        return f"I am gtp_engine {__version__}"
    best = report.moves[0]
    variation = " ".join(session.vertex(point) for point in best.pv)
    visits = counted(report.visits, "visit")
    return f"win rate {report.winrate:.0%}, score {report.lead:+.1f}, {visits}, expecting {variation}"


@command("cgos-opponent_name", "cgos-opponent_rating", "cgos-gameover")
def cgos_news(session: Session, arguments: list[str]) -> None:
    """CGOS tells who plays and how the game ended; nothing depends on it."""
