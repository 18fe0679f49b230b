"""Commands that make and change the position (GTP version 2, section 6.3.2), and the board as text."""

from ...game.coords import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from ..arguments import coloured_points, expect, integer, number
from ..protocol import GtpError
from ..registry import command
from ..session import Session

ILLEGAL_MOVE = "illegal move"
UNACCEPTABLE_SIZE = "unacceptable size"
CANNOT_UNDO = "cannot undo"


@command("boardsize", "rectangular_boardsize")
def boardsize(session: Session, arguments: list[str]) -> None:
    """One number, or width and height. Empties the board and keeps a komi that was sent."""
    expect(arguments, 1, 2)
    sides = [integer(word) for word in arguments]
    if not all(MIN_SIZE <= side <= MAX_SIZE for side in sides):
        raise GtpError(UNACCEPTABLE_SIZE, f"each side can be {MIN_SIZE} to {MAX_SIZE}")
    session.engine.set_board_size(sides[0], sides[-1])
    session.last_report = None


@command("clear_board")
def clear_board(session: Session, arguments: list[str]) -> None:
    session.engine.clear_board()
    session.last_report = None


@command("komi")
def komi(session: Session, arguments: list[str]) -> None:
    expect(arguments, 1)
    session.engine.set_komi(number(arguments[0]))


@command("get_komi")
def get_komi(session: Session, arguments: list[str]) -> str:
    return str(session.engine.komi).removesuffix(".0")


@command("play")
def play(session: Session, arguments: list[str]) -> None:
    """A stone or a pass; any order of colours, also after two passes."""
    expect(arguments, 2)
    play_all(session, coloured_points(session, arguments))


def play_all(session: Session, moves: list[tuple[int, int]]) -> None:
    """Plays moves in order; GtpError, and none of them played, where one is illegal."""
    played = 0
    try:
        for move_colour, move_point in moves:
            session.engine.play(move_colour, move_point)
            played += 1
    except ValueError as error:
        for _ in range(played):
            session.engine.undo()
        raise GtpError(ILLEGAL_MOVE, str(error)) from error


@command("undo")
def undo(session: Session, arguments: list[str]) -> None:
    take_back(session, 1)


@command("gg-undo")
def undo_several(session: Session, arguments: list[str]) -> None:
    expect(arguments, 0, 1)
    take_back(session, integer(arguments[0], 0) if arguments else 1)


def take_back(session: Session, count: int) -> None:
    """Takes moves back; handicap and set-up stones are none."""
    if count > len(session.game.moves):
        raise GtpError(CANNOT_UNDO)
    for _ in range(count):
        session.engine.undo()


@command("set_position")
def set_position(session: Session, arguments: list[str]) -> None:
    """Pairs of colour and vertex become the starting position, black to move; none of them clears the board."""
    set_up(session, coloured_points(session, arguments))


def set_up(session: Session, stones: list[tuple[int, int]]) -> None:
    """Begins the game from a position; GtpError where stones overlap, have no liberty or are passes."""
    if any(stone == PASS for _, stone in stones):
        raise GtpError(ILLEGAL_MOVE, "a pass cannot be set up")
    black = [stone for stone_colour, stone in stones if stone_colour == BLACK]
    white = [stone for stone_colour, stone in stones if stone_colour == WHITE]
    try:
        session.engine.set_up(black, white)
    except ValueError as error:
        raise GtpError(ILLEGAL_MOVE, str(error)) from error
    session.last_report = None


@command("showboard")
def showboard(session: Session, arguments: list[str]) -> str:
    from ...game.diagram import board_text

    return "\n" + board_text(session.game)


@command("clear_cache")
def clear_cache(session: Session, arguments: list[str]) -> None:
    """Forgets the search tree and what the evaluator keeps."""
    session.engine.clear_cache()
    session.last_report = None
