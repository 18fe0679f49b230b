"""Commands that stream what the search thinks: Leela Zero's and KataGo's, and the one made for CGOS."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..arguments import SYNTAX_ERROR, colour, expect, integer, is_colour, number, point
from ..formats import Fields, cgos_line, kata_line, lz_line, with_unvisited
from ..inbox import Event
from ..protocol import GtpError
from ..registry import command
from ..session import Session
from .genmove import commit

if TYPE_CHECKING:
    from ...search.report import SearchReport
    from ...search.search import RootMoves

Format = Callable[["SearchReport", Fields], str]

_FLAGS = {
    "ownership": "ownership",
    "ownershipStdev": "ownership_stdev",
    "movesOwnership": "moves_ownership",
    "movesOwnershipStdev": "moves_ownership_stdev",  # taken and left out: the tree keeps no spread for each move
    "pvVisits": "pv_visits",
    "pvEdgeVisits": "pv_edge_visits",
    "rootInfo": "root_info",
    "noResultValue": "no_result_value",
}
_SHORTEST_INTERVAL = 0.01
_DEEPEST = 10_000  # no line of play is longer


@dataclass
class Request:
    """What an analysis command asks for. interval: seconds between reports, None for no reports while it runs."""

    colour: int | None = None
    interval: float | None = None
    least_moves: int = 0
    fields: Fields = field(default_factory=Fields)
    root_moves: "RootMoves | None" = None

    @property
    def wants_ownership(self) -> bool:
        return self.fields.ownership or self.fields.ownership_stdev

    @property
    def wants_moves_ownership(self) -> bool:
        return self.fields.moves_ownership or self.fields.ownership_stdev


def parse_request(session: Session, words: list[str], *, kata: bool) -> Request:
    """`[colour] [interval] (key value)...`, GtpError for anything else."""
    request = Request()
    rest = deque(words)
    if rest and is_colour(rest[0]):
        request.colour = colour(rest.popleft())
    if rest and rest[0][:1].isdigit():
        request.interval = _interval(rest.popleft())
    restrictions: list[tuple[str, int, list[int], int]] = []
    while rest:
        key = rest.popleft()
        if key in ("avoid", "allow"):
            restrictions.append(_restriction(session, key, rest))
        else:
            _set_option(request, key, _next(rest), kata)
    if restrictions:
        request.root_moves = _root_moves(restrictions)
    return request


def _next(rest: deque[str]) -> str:
    if not rest:
        raise GtpError(SYNTAX_ERROR, "a key has no value")
    return rest.popleft()


def _interval(text: str) -> float:
    centiseconds = number(text)
    if centiseconds < 0:
        raise GtpError(SYNTAX_ERROR, f"expected an interval in centiseconds, got {text!r}")
    return max(centiseconds / 100, _SHORTEST_INTERVAL)


def _set_option(request: Request, key: str, value: str, kata: bool) -> None:
    if key == "interval":
        request.interval = _interval(value)
    elif key == "minmoves":
        request.least_moves = integer(value, 0)
    elif key == "maxmoves":
        request.fields = replace(request.fields, most_moves=integer(value, 1))
    elif kata and key in _FLAGS:
        if value.lower() not in ("true", "false"):
            raise GtpError(SYNTAX_ERROR, f"{key}: expected true or false, got {value!r}")
        request.fields = replace(request.fields, **{_FLAGS[key]: value.lower() == "true"})
    else:
        raise GtpError(SYNTAX_ERROR, f"unknown key {key!r}")


def _restriction(session: Session, key: str, rest: deque[str]) -> tuple[str, int, list[int], int]:
    """The rest of `avoid|allow COLOUR VERTEX,VERTEX,... DEPTH`."""
    player = colour(_next(rest))
    points = [point(session, word, SYNTAX_ERROR) for word in _next(rest).split(",")]
    return key, player, points, integer(_next(rest), 1, _DEEPEST)


def _root_moves(restrictions: list[tuple[str, int, list[int], int]]) -> "RootMoves":
    """The restrictions as the search takes them."""
    from ...search.search import RootMoves

    if len(restrictions) > 1 and any(key == "allow" for key, *_ in restrictions):
        raise GtpError(SYNTAX_ERROR, "allow can be given once only, and not beside avoid")
    key, *_ = restrictions[0]
    listed = tuple((player, place, depth) for _, player, points, depth in restrictions for place in points)
    return RootMoves(allow=listed) if key == "allow" else RootMoves(avoid=listed)


@command("lz-analyze")
def lz_analyze(session: Session, arguments: list[str]) -> None:
    analyze(session, parse_request(session, arguments, kata=False), lz_line)


@command("kata-analyze")
def kata_analyze(session: Session, arguments: list[str]) -> None:
    analyze(session, parse_request(session, arguments, kata=True), kata_line)


@command("lz-genmove_analyze")
def lz_genmove_analyze(session: Session, arguments: list[str]) -> None:
    genmove_analyze(session, parse_request(session, arguments, kata=False), lz_line)


@command("kata-genmove_analyze")
def kata_genmove_analyze(session: Session, arguments: list[str]) -> None:
    genmove_analyze(session, parse_request(session, arguments, kata=True), kata_line)


@command("cgos-genmove_analyze")
def cgos_genmove_analyze(session: Session, arguments: list[str]) -> None:
    expect(arguments, 1)
    request = Request(colour(arguments[0]), fields=Fields(ownership=True))
    genmove_analyze(session, request, lambda report, fields: cgos_line(report))


class Stream:
    """Turns the search's reports into lines of the response. Reports come on the search's thread; lines leave on the
    main thread, and only the newest report counts there."""

    def __init__(self, session: Session, request: Request, form: Format) -> None:
        self._session = session
        self._request = request
        self._form = form
        self._newest: deque[SearchReport] = deque(maxlen=1)

    def take(self, report: "SearchReport") -> None:
        """For the search's thread."""
        self._newest.append(report)
        self._session.inbox.post(Event.NEWS)

    def send_newest(self) -> None:
        """Sends a report that has not been sent yet, if there is one."""
        if self._newest:
            self.send(self._newest.popleft())

    def send(self, report: "SearchReport") -> None:
        """Sends one line; none where nothing has been searched, as an empty one would end the response."""
        self._session.last_report = report
        if report.moves:
            self._session.stream(self._form(with_unvisited(report, self._request.least_moves), self._request.fields))


def analyze(session: Session, request: Request, form: Format) -> None:
    """Streams reports until anything comes in."""
    stream = Stream(session, request, form)
    future = session.engine.analyze(
        request.colour,
        on_report=stream.take,
        interval=request.interval,
        root_moves=request.root_moves,
        ownership=request.wants_ownership,
        moves_ownership=request.wants_moves_ownership,
    )
    session.stream()
    session.wait_for_input(future, stream.send_newest)


def genmove_analyze(session: Session, request: Request, form: Format) -> None:
    """As genmove; reports while it thinks, one at its end, then `play` and the move."""
    stream = Stream(session, request, form)
    future = session.engine.genmove(
        session.game.to_move if request.colour is None else request.colour,
        on_report=stream.take,
        interval=request.interval,
        root_moves=request.root_moves,
        ownership=request.wants_ownership,
        moves_ownership=request.wants_moves_ownership,
    )
    session.stream()
    decision = session.decide(future, stream.send_newest)
    if decision.report is not None:
        stream.send(decision.report)
    session.stream(f"play {commit(session, decision)}")
