"""The end of the game: who has won, and which stones are dead (GTP version 2, section 6.3.3)."""

from ..arguments import SYNTAX_ERROR, expect
from ..protocol import GtpError
from ..registry import command
from ..session import Session

CANNOT_SCORE = "cannot score"
STATUSES = ("alive", "dead", "seki")


@command("final_score")
def final_score(session: Session, arguments: list[str]) -> str:
    """`0`, `B+x` or `W+x` under the rules, for the board as it stands without its dead stones."""
    try:
        return str(session.wait(session.engine.final_score()))
    except ValueError as error:
        raise GtpError(CANNOT_SCORE, str(error)) from error


@command("final_status_list")
def final_status_list(session: Session, arguments: list[str]) -> str:
    """The groups of one status, one a line."""
    expect(arguments, 1)
    if arguments[0] not in STATUSES:
        raise GtpError(SYNTAX_ERROR, f"expected {', '.join(STATUSES)}, got {arguments[0]!r}")
    try:
        groups = session.wait(session.engine.statuses())[arguments[0]]
    except ValueError as error:
        raise GtpError(CANNOT_SCORE, str(error)) from error
    return "\n".join(" ".join(session.vertex(point) for point in group) for group in groups)
