"""Commands about the game (GTP version 2, sections 6.3.2 and 6.3.3).

They choose a move, score the end, and define the game: board, rules, handicap, clock, records.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ....base.errors import UserError
from ....engine.clock import SYSTEMS, gtp_settings, named_settings
from ....go.coords import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE
from ....go.handicap import fixed_handicap_points, free_handicap_points
from ....go.rules import parse_rules, with_part
from ..formats import show_live
from ..session import (
    SYNTAX_ERROR,
    GtpError,
    Session,
    colour,
    coloured_points,
    command,
    integer,
    number,
    point,
    refusing_as,
)

if TYPE_CHECKING:
    from ....engine.engine import Decision

ILLEGAL_MOVE = "illegal move"
BAD_VERTEX_LIST = "bad vertex list"
_CANNOT_SCORE = "cannot score"
_STATUSES = ("alive", "dead", "seki")
_KGS_SYSTEMS = ("none", "absolute", "byoyomi", "canadian")
_LIVE_SECONDS = 0.5

# Moves of the engine.


@command("genmove", takes=1)
def genmove(session: Session, arguments: list[str]) -> str:
    return play_best(session, colour(arguments[0]))


@command("reg_genmove", takes=1)
def reg_genmove(session: Session, arguments: list[str]) -> str:
    """Chooses a move without playing it or resigning, and without the random draw of a rank that is set."""
    decision = session.decide(session.engine.genmove(session.engine.request(colour(arguments[0])), play=False))
    return session.vertex(decision.point)


@command("kgs-genmove_cleanup", takes=1)
def kgs_genmove_cleanup(session: Session, arguments: list[str]) -> str:
    """As genmove, but captures all dead stones before it passes."""
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


@command("final_score")
def final_score(session: Session, arguments: list[str]) -> str:
    """`0`, `B+x` or `W+x` under the rules, for the board as it stands without its dead stones."""
    with refusing_as(_CANNOT_SCORE):
        return str(session.wait(session.engine.final_score()))


@command("final_status_list", takes=1)
def final_status_list(session: Session, arguments: list[str]) -> str:
    """The groups of one status, one a line."""
    if arguments[0] not in _STATUSES:
        raise GtpError(SYNTAX_ERROR, f"expected {', '.join(_STATUSES)}, got {arguments[0]!r}")
    with refusing_as(_CANNOT_SCORE):
        groups = session.wait(session.engine.statuses())[arguments[0]]
    return "\n".join(" ".join(session.vertex(point) for point in group) for group in groups)


# The board.


@command("boardsize", "rectangular_boardsize", takes=(1, 2))
def boardsize(session: Session, arguments: list[str]) -> None:
    """Accepts one number, or width and height. Empties the board and keeps a komi that was sent."""
    sides = [integer(word) for word in arguments]
    if not all(MIN_SIZE <= side <= MAX_SIZE for side in sides):
        raise GtpError("unacceptable size", f"each side must be {MIN_SIZE} to {MAX_SIZE}")
    session.engine.set_board_size(sides[0], sides[-1])


@command("clear_board")
def clear_board(session: Session, arguments: list[str]) -> None:
    session.engine.clear_board()


@command("komi", takes=1)
def komi(session: Session, arguments: list[str]) -> None:
    session.engine.set_komi(number(arguments[0]))


@command("get_komi")
def get_komi(session: Session, arguments: list[str]) -> str:
    return str(session.engine.komi).removesuffix(".0")


@command("play", takes=2)
def play(session: Session, arguments: list[str]) -> None:
    """Plays a stone or a pass, in any order of colours, also after two passes."""
    play_all(session, coloured_points(session, arguments))


def play_all(session: Session, moves: list[tuple[int, int]]) -> None:
    """Plays moves in order; if one of them is illegal, raises GtpError and plays none."""
    played = 0
    try:
        for move_colour, move_point in moves:
            session.engine.play(move_colour, move_point)
            played += 1
    except UserError as error:
        for _ in range(played):
            session.engine.undo()
        raise GtpError(ILLEGAL_MOVE, str(error)) from error


@command("undo")
def undo(session: Session, arguments: list[str]) -> None:
    take_back(session, 1)


@command("gg-undo", takes=(0, 1))
def undo_several(session: Session, arguments: list[str]) -> None:
    take_back(session, integer(arguments[0], 0) if arguments else 1)


def take_back(session: Session, count: int) -> None:
    """Takes moves back; handicap and set-up stones are not moves."""
    if count > len(session.game.moves):
        raise GtpError("cannot undo")
    for _ in range(count):
        session.engine.undo()


@command("set_position")
def set_position(session: Session, arguments: list[str]) -> None:
    """Makes pairs of colour and vertex the starting position, with Black to move; without pairs, clears the board."""
    set_up(session, coloured_points(session, arguments))


def set_up(session: Session, stones: list[tuple[int, int]]) -> None:
    """Starts the game from a position; raises GtpError if stones overlap, have no liberty or are passes."""
    if any(stone == PASS for _, stone in stones):
        raise GtpError(ILLEGAL_MOVE, "a pass cannot be set up")
    black = [stone for stone_colour, stone in stones if stone_colour == BLACK]
    white = [stone for stone_colour, stone in stones if stone_colour == WHITE]
    with refusing_as(ILLEGAL_MOVE):
        session.engine.set_up(black, white)


@command("showboard")
def showboard(session: Session, arguments: list[str]) -> str:
    return f"\n{session.game}"


@command("clear_cache")
def clear_cache(session: Session, arguments: list[str]) -> None:
    """Clears the search tree and the evaluator's cache."""
    session.engine.clear_cache()


# Handicap stones; all three commands need an empty board, and White moves next.


@command("fixed_handicap", takes=1)
def fixed_handicap(session: Session, arguments: list[str]) -> str:
    return place_count(session, arguments, fixed_handicap_points)


@command("place_free_handicap", takes=1)
def place_free_handicap(session: Session, arguments: list[str]) -> str:
    """Places exactly as many stones as requested: gtp2ogs resigns if there are fewer."""
    return place_count(session, arguments, free_handicap_points)


@command("set_free_handicap")
def set_free_handicap(session: Session, arguments: list[str]) -> None:
    expect_empty(session)
    points = [point(session, word, BAD_VERTEX_LIST, may_pass=False) for word in arguments]
    if len(points) < 2 or len(set(points)) < len(points) or len(points) >= session.game.area:
        raise GtpError(BAD_VERTEX_LIST, "expected at least two different points, with at least one point left empty")
    with refusing_as(BAD_VERTEX_LIST):
        place(session, points)


def place_count(session: Session, arguments: list[str], choose: Callable[[int, int, int], list[int]]) -> str:
    """Places the number of stones in the argument on the points of `choose(count, width, height)`; returns them."""
    count = integer(arguments[0])
    expect_empty(session)
    with refusing_as("invalid number of stones"):
        points = choose(count, session.engine.width, session.engine.height)
    return place(session, points)


def expect_empty(session: Session) -> None:
    """Raises GtpError if there is a stone on the board, or has been a move."""
    if session.game.moves or session.game.setup_stones:
        raise GtpError("board not empty")


def place(session: Session, points: list[int]) -> str:
    """Places the stones and returns their vertices."""
    session.engine.place_handicap(points)
    return " ".join(session.vertex(point) for point in points)


# The ruleset, by name and by parts as KataGo names them.


@command("kata-get-rules")
def kata_get_rules(session: Session, arguments: list[str]) -> str:
    return session.engine.rules.to_json()


@command("kata-set-rules")
def kata_set_rules(session: Session, arguments: list[str]) -> None:
    """Accepts a name or KataGo's JSON, which may contain spaces."""
    if not arguments:
        raise GtpError(SYNTAX_ERROR, "expected the name of a ruleset or a JSON object")
    session.engine.set_rules(parse_rules(" ".join(arguments)))


@command("kata-set-rule", takes=2)
def kata_set_rule(session: Session, arguments: list[str]) -> None:
    session.engine.set_rules(with_part(session.engine.rules, arguments[0], arguments[1]))


@command("kgs-rules", takes=1)
def kgs_rules(session: Session, arguments: list[str]) -> None:
    """Works as kata-set-rules, but KGS plays its Chinese rules with positional superko."""
    chinese = arguments[0].lower() == "chinese"
    session.engine.set_rules(parse_rules("chinese-kgs" if chinese else arguments[0]))


# Time settings and the time that is left.


@command("time_settings", takes=3)
def time_settings(session: Session, arguments: list[str]) -> None:
    """Accepts main time, overtime period, and stones per period."""
    main, period = (number(word, 0) for word in arguments[:2])
    session.engine.clock.settings = gtp_settings(main, period, integer(arguments[2], 0))


@command("kgs-time_settings")
def kgs_time_settings(session: Session, arguments: list[str]) -> None:
    _set_time(session, arguments, _KGS_SYSTEMS)


@command("kata-time_settings")
def kata_time_settings(session: Session, arguments: list[str]) -> None:
    _set_time(session, arguments, SYSTEMS)


def _set_time(session: Session, arguments: list[str], systems: tuple[str, ...]) -> None:
    with refusing_as(SYNTAX_ERROR):
        session.engine.clock.settings = named_settings(arguments, systems)


@command("kata-list_time_settings")
def kata_list_time_settings(session: Session, arguments: list[str]) -> str:
    return " ".join(SYSTEMS)


@command("time_left", takes=3)
def time_left(session: Session, arguments: list[str]) -> None:
    """Accepts colour, seconds, and stones (0: main time; with byo-yomi the periods left)."""
    # An expired clock may be reported as negative.
    session.engine.clock.time_left(colour(arguments[0]), number(arguments[1]), integer(arguments[2], 0))


# Game records: loading one into the engine, writing the game being played.


@command("loadsgf", takes=(1, 2))
def loadsgf(session: Session, arguments: list[str]) -> None:
    """Loads the main line, or the position before move N of it.

    Size, komi and rules are the record's; if it does not contain komi or rules, the engine's are kept.
    """
    from ....go.sgf import read_sgf

    moves = integer(arguments[1], 0) if len(arguments) == 2 else None
    with refusing_as("cannot load file"):
        record = read_sgf(arguments[0])
        rules = record.game_rules() or session.engine.rules
        game = record.to_game(None if moves is None else max(moves - 1, 0), rules=rules)
        if record.komi is None:
            game.set_komi(session.engine.komi_on(game.width, game.height))
        session.engine.load(game)


@command("printsgf", takes=(0, 1))
def printsgf(session: Session, arguments: list[str]) -> str | None:
    """Returns the game so far as SGF, or writes it to a file that does not exist yet."""
    from ....go.sgf import GameRecord, write_sgf

    record = GameRecord.from_game(session.game)
    if not arguments or arguments[0] == "-":
        return record.to_sgf()
    with refusing_as("cannot write file"):
        write_sgf(record, arguments[0], overwrite=False)
    return None
