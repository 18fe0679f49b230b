"""GTP commands about the game (GTP version 2, sections 6.3.2 and 6.3.3), and those that stream reports of a search.

They choose a move, score the end, define the game (board, rules, handicap, clock, records), and analyse it in the forms
of Leela Zero, KataGo and CGOS.
"""

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import EXPECTED, UserError
from ...base.files import is_device
from ...base.languages.texts import texts
from ...engine.clock import SYSTEMS, TimeSettings, gtp_settings, named_settings
from ...go.coords import BLACK, MAX_SIZE, MIN_SIZE, PASS, WHITE, all_points
from ...go.handicap import fixed_handicap_points, free_handicap_points
from ...go.rules import parse_rules, with_part
from ...go.symmetry import COUNT
from ...search.request import RootMoves, SearchRequest
from ...solver import USUAL_SECONDS
from .formats import OPTIONAL, Fields, cgos_line, kata_line, lz_line, with_unvisited
from .session import (
    SYNTAX_ERROR,
    GtpError,
    Session,
    colour,
    coloured_points,
    command,
    integer,
    is_colour,
    number,
    point,
    refusing_as,
)

if TYPE_CHECKING:
    from ...engine.engine import Decision
    from ...search.evaluate.batch import Evaluation
    from ...search.report import SearchReport

logger = logging.getLogger(__name__)

Format = Callable[["SearchReport", Fields], str]

ILLEGAL_MOVE = "illegal move"
BAD_VERTEX_LIST = "bad vertex list"
_CANNOT_SCORE = "cannot score"
_STATUSES = ("alive", "dead", "seki")
_KGS_SYSTEMS = ("none", "absolute", "byoyomi", "canadian")
CANCELLED = "cancelled"
_SHORTEST_INTERVAL = 0.01  # seconds between reports

# Moves of the engine.


command("genmove", takes=1)(lambda session, arguments: play_best(session, colour(arguments[0])))


@command("reg_genmove", takes=1)
def reg_genmove(session: Session, arguments: list[str]) -> str:
    """Chooses a move without playing it or resigning, and without the random draw of a rank that is set."""
    decision = session.decide(session.engine.genmove(session.engine.request(colour(arguments[0])), play=False))
    return session.engine.game.vertex(decision.point)


@command("kata-search", takes=1)
def kata_search(session: Session, arguments: list[str]) -> str:
    """As genmove, but plays nothing."""
    return answer_of(session, session.decide(session.engine.genmove(session.engine.request(colour(arguments[0])))))


@command("kata-search_cancellable", takes=1)
def kata_search_cancellable(session: Session, arguments: list[str]) -> str:
    """As kata-search; any line that comes in ends it with `cancelled`, as in KataGo."""
    future = session.engine.genmove(session.engine.request(colour(arguments[0])))
    return answer_of(session, session.decide(future)) if session.wait_for_input(future) else CANCELLED


@command("kgs-genmove_cleanup", takes=1)
def kgs_genmove_cleanup(session: Session, arguments: list[str]) -> str:
    """As genmove, but captures all dead stones before it passes."""
    return play_best(session, colour(arguments[0]), cleanup=True)


def play_best(session: Session, player: int, *, cleanup: bool = False) -> str:
    """Chooses a move and plays it; returns the answer to the client."""
    return commit(session, session.decide(session.engine.genmove(session.engine.request(player), cleanup=cleanup)))


def answer_of(session: Session, decision: "Decision") -> str:
    """Returns the answer to the client."""
    return "resign" if decision.resign else session.engine.game.vertex(decision.point)


def commit(session: Session, decision: "Decision") -> str:
    """Plays what was decided and ponders, if the engine does; returns the answer to the client."""
    answer = answer_of(session, decision)
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
    return "\n".join(" ".join(session.engine.game.vertex(point) for point in group) for group in groups)


@command("gtp_engine-solve", takes=(1, 64))
def solve_group(session: Session, arguments: list[str]) -> str:
    """`POINT... [SECONDS]`: whether the chains on these points live, by exact reading (`solver.solution`).

    If that is not proved for both players to move first, it says, too, what the network thinks.
    """
    from ...engine.group_view import group_view
    from ...solver.description import describe

    words = list(arguments)
    seconds = number(words.pop(), 0.01) if len(words) > 1 and words[-1][:1].isdigit() else USUAL_SECONDS
    points = [point(session, word, "invalid vertex", may_pass=False) for word in words]
    found = session.wait(session.engine.solve(points, seconds=seconds))
    lines = describe(found, session.engine.game)
    if found.status == "unknown" and session.engine.network is not None:
        view = session.wait(session.engine.ask(lambda worker, request: group_view(worker, request, points)))
        lines += (f"  {texts().say(phrase)}" for phrase in view.phrases)
    return "\n".join(lines)


# The board.


@command("boardsize", "rectangular_boardsize", takes=(1, 2))
def boardsize(session: Session, arguments: list[str]) -> None:
    """Accepts one number, or width and height. Empties the board and keeps a komi that was sent."""
    sides = [integer(word) for word in arguments]
    if not all(MIN_SIZE <= side <= MAX_SIZE for side in sides):
        raise GtpError("unacceptable size", f"each side must be {MIN_SIZE} to {MAX_SIZE}")
    session.engine.set_board_size(sides[0], sides[-1])


command("clear_board")(lambda session, arguments: session.engine.clear_board())
command("komi", takes=1)(lambda session, arguments: session.engine.set_komi(number(arguments[0])))
command("get_komi")(lambda session, arguments: str(session.engine.komi).removesuffix(".0"))


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


command("undo")(lambda session, arguments: take_back(session, 1))
command("gg-undo", takes=(0, 1))(
    lambda session, arguments: take_back(session, integer(arguments[0], 0) if arguments else 1)
)


def take_back(session: Session, count: int) -> None:
    """Takes moves back; handicap and set-up stones are not moves."""
    if count > len(session.engine.game.moves):
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


command("showboard")(lambda session, arguments: f"\n{session.engine.game}")


@command("clear_cache")
def clear_cache(session: Session, arguments: list[str]) -> None:
    """Clears the search tree and the evaluator's cache."""
    session.engine.clear_cache()


# Handicap stones; all three commands need an empty board, and White moves next.


command("fixed_handicap", takes=1)(lambda session, arguments: place_count(session, arguments, fixed_handicap_points))


@command("place_free_handicap", takes=1)
def place_free_handicap(session: Session, arguments: list[str]) -> str:
    """Places exactly as many stones as requested: gtp2ogs resigns if there are fewer."""
    return place_count(session, arguments, free_handicap_points)


@command("set_free_handicap")
def set_free_handicap(session: Session, arguments: list[str]) -> None:
    expect_empty(session)
    points = [point(session, word, BAD_VERTEX_LIST, may_pass=False) for word in arguments]
    if len(points) < 2 or len(set(points)) < len(points) or len(points) >= session.engine.game.area:
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
    if session.engine.game.moves or session.engine.game.setup_stones:
        raise GtpError("board not empty")


def place(session: Session, points: list[int]) -> str:
    """Places the stones and returns their vertices."""
    session.engine.place_handicap(points)
    return " ".join(session.engine.game.vertex(point) for point in points)


# The ruleset, by name and by parts as KataGo names them.


command("kata-get-rules")(lambda session, arguments: session.engine.rules.to_json())


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
    """Accepts main time, overtime period, and stones per period; less than 0 is 0: clients without a clock send it."""
    main, period = (max(0.0, number(word)) for word in arguments[:2])
    set_clock(session, gtp_settings(main, period, max(0, integer(arguments[2]))))


command("kgs-time_settings")(lambda session, arguments: set_time(session, arguments, _KGS_SYSTEMS))
command("kata-time_settings")(lambda session, arguments: set_time(session, arguments, SYSTEMS))
command("kata-list_time_settings")(lambda session, arguments: " ".join(SYSTEMS))


def set_time(session: Session, arguments: list[str], systems: tuple[str, ...]) -> None:
    """Sets the time by the name of a system and its numbers."""
    with refusing_as(SYNTAX_ERROR):
        settings = named_settings(arguments, systems)
    set_clock(session, settings)


def set_clock(session: Session, settings: TimeSettings) -> None:
    """Sets the time, and answers once the engine is loaded, which would otherwise take the first move's time."""
    session.engine.clock.settings = settings
    if settings.system != "none":
        with contextlib.suppress(*EXPECTED):  # which is reported as soon as it happens, and again by the first move
            session.wait(session.engine.prepare())


@command("time_left", takes=3)
def time_left(session: Session, arguments: list[str]) -> None:
    """Accepts colour, seconds, and stones (0: main time; with byo-yomi the periods left)."""
    # An expired clock may be reported as negative.
    session.engine.clock.time_left(colour(arguments[0]), number(arguments[1]), integer(arguments[2], 0))


# Game records: loading one into the engine, writing the game being played.


@command("loadsgf", takes=(1, 2))
def loadsgf(session: Session, arguments: list[str]) -> None:
    """Loads the main line, or the position before move N of it, its end if it has fewer moves.

    Size, komi and rules are the record's. If it has no komi or names no known rules, the engine's are kept, which is
    written to standard error.
    """
    from ...go.sgf import read_sgf, terms_of

    moves = integer(arguments[1], 0) if len(arguments) == 2 else None
    with refusing_as("cannot load file"):
        if is_device(Path(arguments[0])):
            raise UserError(f"{arguments[0]}: a pipe or a device, which may never end")
        record = read_sgf(arguments[0])
        engine = session.engine
        kept = engine.komi_on(record.width, record.height)
        terms = terms_of(record, usual_rules=engine.rules, usual_komi=kept)
        last = len(record.moves)  # any later number means the end, as GUIs expect
        game = record.to_game(last if moves is None else min(max(moves - 1, 0), last), rules=terms.rules)
        game.set_komi(terms.komi)
        engine.load(game)
    for notice in terms.notices:
        logger.warning(f"{record.source}: {texts().say(notice)}")


@command("printsgf", takes=(0, 1))
def printsgf(session: Session, arguments: list[str]) -> str | None:
    """Returns the game so far as SGF, or writes it to a file that does not exist yet."""
    from ...go.sgf import GameRecord, write_sgf

    record = GameRecord.from_game(session.engine.game)
    if not arguments or arguments[0] == "-":
        return record.to_sgf()
    with refusing_as("cannot write file"):
        write_sgf(record, arguments[0], overwrite=False)
    return None


# Analyses, whose reports are streamed.


def parse_request(session: Session, words: list[str], form: Format) -> tuple[SearchRequest, Fields]:
    """Parses `[colour] [interval] (key value)...` to a search request and the fields of its lines."""
    rest = deque(words)
    player = colour(rest.popleft()) if rest and is_colour(rest[0]) else None
    interval = _interval(rest.popleft()) if rest and rest[0][:1].isdigit() else None
    fields = Fields()
    restrictions: list[tuple[str, int, list[int], int]] = []
    while rest:
        key = rest.popleft()
        if key in ("avoid", "allow"):
            restricted = colour(_next(rest))
            # As in KataGo parts of the list of vertices may be empty.
            points = [point(session, word, SYNTAX_ERROR) for word in _next(rest).split(",") if word]
            restrictions.append((key, restricted, points, integer(_next(rest), 1)))
        elif key == "interval":
            interval = _interval(_next(rest))
        else:
            fields = _with_option(fields, key, _next(rest), form)
    request = session.engine.request(
        player,
        interval=interval,
        root_moves=_root_moves(session, restrictions),
        ownership=not fields.wanted.isdisjoint(("ownership", "ownershipStdev")),
        moves_ownership=not fields.wanted.isdisjoint(("movesOwnership", "ownershipStdev")),
    )
    return request, fields


def _next(rest: deque[str]) -> str:
    if not rest:
        raise GtpError(SYNTAX_ERROR, "a key has no value")
    return rest.popleft()


def _interval(centiseconds: str) -> float:
    return max(number(centiseconds, 0) / 100, _SHORTEST_INTERVAL)


def _with_option(fields: Fields, key: str, value: str, form: Format) -> Fields:
    """Returns the fields with one option set."""
    if key == "minmoves":
        return replace(fields, least_moves=integer(value, 0))
    if key == "maxmoves":
        return replace(fields, most_moves=integer(value, 0))
    if form is lz_line or key not in OPTIONAL:
        raise GtpError(SYNTAX_ERROR, f"unknown key {key!r}")
    if value.lower() not in ("true", "false"):
        raise GtpError(SYNTAX_ERROR, f"{key}: expected true or false, got {value!r}")
    return replace(fields, wanted=fields.wanted | {key} if value.lower() == "true" else fields.wanted - {key})


def _root_moves(session: Session, restrictions: list[tuple[str, int, list[int], int]]) -> RootMoves:
    """Returns the restrictions as those of the root's moves."""
    for player in (BLACK, WHITE):
        keys = [key for key, restricted, *_ in restrictions if restricted == player]
        if len(keys) > 1 and "allow" in keys:
            raise GtpError(SYNTAX_ERROR, "allow can be given once only for a colour, and not together with avoid")
    listed: dict[str, list[tuple[int, int, int]]] = {"avoid": [], "allow": []}
    for key, player, points, depth in restrictions:
        if key == "allow" and not points:  # which allows nothing at all, not even a pass
            key, points = "avoid", [*all_points(session.engine.width, session.engine.height), PASS]
        listed[key] += [(player, place, depth) for place in points]
    return RootMoves(avoid=tuple(listed["avoid"]), allow=tuple(listed["allow"]))


command("lz-analyze")(lambda session, arguments: analyze(session, arguments, lz_line))
command("kata-analyze")(lambda session, arguments: analyze(session, arguments, kata_line))
command("lz-genmove_analyze")(lambda session, arguments: genmove_analyze(session, arguments, lz_line))
command("kata-genmove_analyze")(lambda session, arguments: genmove_analyze(session, arguments, kata_line))
command("kata-search_analyze")(lambda session, arguments: genmove_analyze(session, arguments, kata_line, answer_of))


@command("cgos-genmove_analyze", takes=1)
def cgos_genmove_analyze(session: Session, arguments: list[str]) -> None:
    colour(arguments[0])  # and not an interval
    genmove_analyze(session, [*arguments, "ownership", "true"], lambda report, fields: cgos_line(report))


class Stream:
    """Turns reports into lines of the response.

    Reports come on the search's thread, lines leave on the main thread, where only the newest report counts.
    """

    def __init__(self, session: Session, fields: Fields, form: Format) -> None:
        self._session = session
        self._fields = fields
        self._form = form
        self._newest: deque[SearchReport] = deque(maxlen=1)
        self.has_reported = False

    @property
    def is_open(self) -> bool:
        """Whether the engine is ready, so that there are or will be reports."""
        ready = self._session.engine.ready
        return ready.done() and ready.exception() is None

    def open(self) -> None:
        """Sends the first line of the response once the engine is ready; if it cannot be, the command fails instead."""
        self._session.engine.ready.add_done_callback(lambda _: self._session.inbox.post_news())
        self.send_newest()

    def take(self, report: "SearchReport") -> None:
        """Keeps a report to be sent; for the search's thread."""
        self._newest.append(report)
        self._session.inbox.post_news()

    def send_newest(self) -> None:
        """Sends the newest report, unless it has been sent."""
        if self.is_open:
            self._session.stream()
        if self._newest:
            self.send(self._newest.popleft())

    def send(self, report: "SearchReport") -> None:
        """Sends one line; none if it would have no moves, as an empty one would end the response."""
        self._session.last_report, self.has_reported = report, True
        if report.moves and self._fields.most_moves != 0:
            self._session.stream(self._form(with_unvisited(report, self._fields.least_moves), self._fields))


def analyze(session: Session, arguments: list[str], form: Format) -> None:
    """Streams reports until anything comes in, and sends one then if the interval has not passed yet."""
    request, fields = parse_request(session, arguments, form)
    stream = Stream(session, fields, form)
    future = session.engine.analyze(replace(request, on_report=stream.take), endless=True)
    stream.open()
    session.wait_for_input(future, stream.send_newest)
    if request.interval is not None and stream.is_open and not stream.has_reported:
        stream.send(session.wait(future))


def genmove_analyze(
    session: Session,
    arguments: list[str],
    form: Format,
    finish: "Callable[[Session, Decision], str]" = commit,
    *,
    is_cancellable: bool = False,
) -> None:
    """As genmove, with reports during the search and one at its end, then `play` and what `finish` returns."""
    request, fields = parse_request(session, arguments, form)
    stream = Stream(session, fields, form)
    future = session.engine.genmove(replace(request, on_report=stream.take))
    stream.open()
    if is_cancellable and not session.wait_for_input(future, stream.send_newest):
        session.stream(f"play {CANCELLED}")
        return
    decision = session.decide(future, stream.send_newest)
    if decision.report is not None:
        stream.send(decision.report)
    session.stream(f"play {finish(session, decision)}")


@command("kata-search_analyze_cancellable")
def kata_search_analyze_cancellable(session: Session, arguments: list[str]) -> None:
    """As kata-search_analyze; any line that comes in ends it with `play cancelled`, as in KataGo."""
    genmove_analyze(session, arguments, kata_line, answer_of, is_cancellable=True)


# What a network outputs for the position without any search, in KataGo's form.


@command("kata-raw-nn")
def kata_raw_nn(session: Session, arguments: list[str]) -> str:
    """`[COLOUR] SYMMETRY|all [OPTIMISM]`: with another colour than the one to move the history is forgotten."""
    words = deque(arguments)
    player = colour(words.popleft()) if words and is_colour(words[0]) else None
    if not words:
        raise GtpError(SYNTAX_ERROR, f"expected a symmetry: 0 to {COUNT - 1}, or all")
    symmetry = words.popleft()
    symmetries = range(COUNT) if symmetry.lower() == "all" else [integer(symmetry, 0, COUNT - 1)]
    optimism = number(words.popleft(), 0, 1) if words else None
    if words:
        raise GtpError(SYNTAX_ERROR, f"unexpected {words[0]!r}: expected [COLOUR] SYMMETRY|all [OPTIMISM]")
    found = session.wait(session.engine.raw_evaluations(player, symmetries=symmetries, optimism=optimism))
    return "\n".join(map(raw_text, symmetries, found))


@command("kata-raw-human-nn")
def kata_raw_human_nn(session: Session, arguments: list[str]) -> str | None:
    """As kata-raw-nn, if the network imitates humans."""
    if not session.wait(session.engine.prepare()).takes_profile:
        raise GtpError("the network does not imitate humans: start with --network b18c384nbt-humanv0")
    return kata_raw_nn(session, arguments)


def raw_text(symmetry: int, evaluation: "Evaluation") -> str:
    """Formats an evaluation from White's view, regardless of the player to move; an illegal move's policy is NAN."""
    game, row = evaluation.game, evaluation.row
    win, loss, neither = row.value.tolist()
    value_error, score_error, variance_time = row.short_term_errors.tolist()
    sign = 1
    if game.to_move == BLACK:
        win, loss, sign = loss, win, -1
    numbers = {
        "whiteWin": win,
        "whiteLoss": loss,
        "noResult": neither,
        "whiteLead": sign * row.lead,
        "whiteScoreSelfplay": sign * row.score_mean,
        "whiteScoreSelfplaySq": row.score_stdev**2 + row.score_mean**2,
        "varTimeLeft": variance_time,
        "shorttermWinlossError": value_error,
        "shorttermScoreError": score_error,
    }
    policy = zip(row.policy.tolist(), game.legal_moves().tolist(), strict=True)
    moves = [f"{prior:9.6f}" if is_legal else "      NAN" for prior, is_legal in policy]
    owners = [f"{sign * value:10.7f}" for value in row.ownership.tolist()]
    lines = [
        f"symmetry {symmetry}",
        *(f"{name} {value:.6f}" for name, value in numbers.items()),
        "policy",
        *_rows(moves[:-1], game.width),
        f"policyPass {moves[-1].strip()}",
        "whiteOwnership",
        *_rows(owners, game.width),
    ]
    return "\n".join(lines)


def _rows(cells: list[str], width: int) -> Iterable[str]:
    return (" ".join(cells[start : start + width]) for start in range(0, len(cells), width))
