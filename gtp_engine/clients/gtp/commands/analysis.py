"""Commands that stream reports of a search: Leela Zero's and KataGo's, and the one made for CGOS.

Also the raw outputs of a network, in KataGo's form.
"""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....go.coords import BLACK, PASS, WHITE, all_points
from ....go.symmetry import COUNT
from ....search.request import RootMoves, SearchRequest
from ..formats import OPTIONAL, Fields, cgos_line, kata_line, lz_line, with_unvisited
from ..session import (
    SYNTAX_ERROR,
    GtpError,
    Session,
    colour,
    command,
    integer,
    is_colour,
    number,
    point,
)
from .game import commit

if TYPE_CHECKING:
    from ....search.evaluate.batch import Evaluation
    from ....search.report import SearchReport

Format = Callable[["SearchReport", Fields], str]

_SHORTEST_INTERVAL = 0.01


def parse_request(session: Session, words: list[str], *, kata: bool) -> tuple[SearchRequest, Fields]:
    """Parses `[colour] [interval] (key value)...` to a search request and the fields of its lines.

    Raises:
        GtpError: The words are anything else.
    """
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
            fields = _with_option(fields, key, _next(rest), kata)
    return _request(session, player, fields, interval=interval, root_moves=_root_moves(session, restrictions)), fields


def _request(session: Session, player: int | None, fields: Fields, **options: Any) -> SearchRequest:
    """Returns the request for a search of the current position that computes these fields."""
    ownership = not fields.wanted.isdisjoint(("ownership", "ownershipStdev"))
    moves_ownership = not fields.wanted.isdisjoint(("movesOwnership", "ownershipStdev"))
    return session.engine.request(player, ownership=ownership, moves_ownership=moves_ownership, **options)


def _next(rest: deque[str]) -> str:
    if not rest:
        raise GtpError(SYNTAX_ERROR, "a key has no value")
    return rest.popleft()


def _interval(centiseconds: str) -> float:
    return max(number(centiseconds, 0) / 100, _SHORTEST_INTERVAL)


def _with_option(fields: Fields, key: str, value: str, kata: bool) -> Fields:
    """Returns the fields with one option set."""
    if key == "minmoves":
        return replace(fields, least_moves=integer(value, 0))
    if key == "maxmoves":
        return replace(fields, most_moves=integer(value, 0))
    if not (kata and key in OPTIONAL):
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


@command("lz-analyze")
def lz_analyze(session: Session, arguments: list[str]) -> None:
    analyze(session, *parse_request(session, arguments, kata=False), lz_line)


@command("kata-analyze")
def kata_analyze(session: Session, arguments: list[str]) -> None:
    analyze(session, *parse_request(session, arguments, kata=True), kata_line)


@command("lz-genmove_analyze")
def lz_genmove_analyze(session: Session, arguments: list[str]) -> None:
    genmove_analyze(session, *parse_request(session, arguments, kata=False), lz_line)


@command("kata-genmove_analyze")
def kata_genmove_analyze(session: Session, arguments: list[str]) -> None:
    genmove_analyze(session, *parse_request(session, arguments, kata=True), kata_line)


@command("cgos-genmove_analyze", takes=1)
def cgos_genmove_analyze(session: Session, arguments: list[str]) -> None:
    fields = Fields(frozenset(("ownership",)))
    request = _request(session, colour(arguments[0]), fields)
    genmove_analyze(session, request, fields, lambda report, fields: cgos_line(report))


class Stream:
    """Turns reports into lines of the response.

    Reports come on the search's thread, lines leave on the main thread, where only the newest report counts.
    """

    def __init__(self, session: Session, fields: Fields, form: Format) -> None:
        self._session = session
        self._fields = fields
        self._form = form
        self._newest: deque[SearchReport] = deque(maxlen=1)

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
        ready = self._session.engine.ready
        if ready.done() and ready.exception() is None:
            self._session.stream()
        if self._newest:
            self.send(self._newest.popleft())

    def send(self, report: "SearchReport") -> None:
        """Sends one line; none if it would have no moves, as an empty one would end the response."""
        self._session.last_report = report
        if report.moves and self._fields.most_moves != 0:
            self._session.stream(self._form(with_unvisited(report, self._fields.least_moves), self._fields))


def analyze(session: Session, request: SearchRequest, fields: Fields, form: Format) -> None:
    """Streams reports until anything comes in."""
    stream = Stream(session, fields, form)
    future = session.engine.analyze(replace(request, on_report=stream.take))
    stream.open()
    session.wait_for_input(future, stream.send_newest)


def genmove_analyze(session: Session, request: SearchRequest, fields: Fields, form: Format) -> None:
    """As genmove, with reports during the search and one at its end, then `play` and the move."""
    stream = Stream(session, fields, form)
    future = session.engine.genmove(replace(request, on_report=stream.take))
    stream.open()
    decision = session.decide(future, stream.send_newest)
    if decision.report is not None:
        stream.send(decision.report)
    session.stream(f"play {commit(session, decision)}")


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
    moves = [_cell(prior if is_legal else math.nan, 6) for prior, is_legal in policy]
    owners = [_cell(sign * value, 7) for value in row.ownership.tolist()]
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


def _cell(value: float, digits: int) -> str:
    """Formats a value at a fixed width, so that columns line up."""
    return ("NAN" if math.isnan(value) else f"{value:.{digits}f}").rjust(digits + 3)


def _rows(cells: list[str], width: int) -> Iterable[str]:
    """Returns the board's rows, the top one first."""
    return (" ".join(cells[start : start + width]) for start in range(0, len(cells), width))
