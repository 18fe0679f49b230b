"""A search as it is requested: one value, from the caller down to the tree and the report.

Importing this module imports neither numba nor torch.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from ..base.fields import Instance, Range, invalid
from ..base.settings import check, setting
from ..go.coords import as_colour, as_point, is_whole
from .parameters import SearchParameters

if TYPE_CHECKING:
    from ..go.game import Game
    from .report import SearchReport

RootMove: TypeAlias = tuple[int | str, int | str, int]  # colour, point and depth
_ROOT_MOVE = 'colour, point and depth, such as ("black", "D4", 1)'
_ROOT_MOVES = 'a tuple of moves, such as (("black", "D4", 1),)'


@dataclass(frozen=True)
class Limits:
    """When a search ends: at whichever limit is reached first; None for no limit.

    Attributes:
        visits: Visits of the root, those of a reused tree included.
        seconds: Time since the search began.

    Raises:
        UserError: A limit is not a number, or negative.
    """

    visits: int | None = setting(None, accepts=Range(0, whole=True), what="number of visits")
    seconds: float | None = setting(None, accepts=Range(0), what="number of seconds")

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_endless(self) -> bool:
        """Whether nothing but a stop ends the search."""
        return self.visits is None and self.seconds is None

    def times(self, factor: int) -> "Limits":
        """Returns limits that are `factor` times as large."""
        return Limits(
            None if self.visits is None else factor * self.visits,
            None if self.seconds is None else factor * self.seconds,
        )


@dataclass(frozen=True)
class RootMoves:
    """Which moves a search may consider.

    A search keeps the tree of the last one only if neither restricts moves, or both restrict the same ones in the same
    position.

    Attributes:
        avoid: (colour, point, depth): that colour may not play there in the first `depth` moves from the root. Colour
            and point may be texts: ("black", "D4", 1). The depth is 1 or more; of several for one move the largest
            counts.
        allow: The same, but everything else is forbidden to that colour; empty allows all.

    Raises:
        UserError: An entry is not of this form.
    """

    avoid: Sequence[RootMove] = ()
    allow: Sequence[RootMove] = ()

    def __post_init__(self) -> None:
        for name, moves in (("avoid", self.avoid), ("allow", self.allow)):
            if not isinstance(moves, tuple | list):
                raise invalid(name, moves, _ROOT_MOVES)
            for move in moves:
                if not isinstance(move, tuple | list) or len(move) != 3 or not is_whole(move[2]):
                    raise invalid(f"entry of {name}", move, _ROOT_MOVE)
                if move[2] < 1:
                    raise invalid(f"depth in {name}", move[2], "a whole number of 1 or more")
                as_colour(move[0])
            object.__setattr__(self, name, tuple(map(tuple, moves)))

    def on_board(self, width: int, height: int) -> "RootMoves":
        """Returns these moves with colours and points as numbers.

        Raises:
            UserError: A point is not on this board, or a colour is invalid.
        """

        def numbers(moves: Sequence[RootMove]) -> tuple[RootMove, ...]:
            return tuple((as_colour(colour), as_point(point, width, height), depth) for colour, point, depth in moves)

        return RootMoves(numbers(self.avoid), numbers(self.allow))


ANY_MOVE = RootMoves()
_LIMITS = Instance(Limits, "Limits, such as Limits(visits=100)")
_OF_ROOT = Instance(RootMoves, 'RootMoves, such as RootMoves(avoid=(("black", "D4", 1),))')
_PARAMETERS = Instance(SearchParameters, "SearchParameters, such as engine.parameters.with_value('c_puct', 1.3)")
_FUNCTION = Instance(Callable, "a function of a report")


class RequestOptions(TypedDict, total=False):
    """The fields of `SearchRequest` without the game, for the keyword arguments of `Engine.request`."""

    limits: Limits
    root_moves: RootMoves
    parameters: SearchParameters | None
    ownership: bool
    moves_ownership: bool
    on_report: "Callable[[SearchReport], None] | None"
    interval: float | None
    first_report: float | None
    stop: threading.Event | None
    early_stop: bool
    dead: frozenset[int]


@dataclass(frozen=True)
class SearchRequest:
    """One search: the position, when to end, and what to report.

    Attributes:
        game: The position. It must not change while the request waits for its turn.
        limits: When the search ends. Without any it runs until `stop` is set.
        root_moves: The moves it may consider. Visits of other moves do not count towards the limit.
        parameters: How to search; None for the parameters that the `search.Search` was made with.
        ownership: Whether the report has the ownership of each point.
        moves_ownership: Whether it has it for every move as well.
        on_report: Called with a report every `interval` seconds, on the searching thread.
        interval: Seconds between these reports; None for none after the first one.
        first_report: Seconds until the first of these reports; None for `interval`.
        stop: Set by another thread to end the search. The root is evaluated in any case.
        early_stop: Whether a time limit need not be used up: the search then ends as soon as no other move can
            overtake the most visited one, if that is the best one.
        dead: Points of stones that both players would agree are dead: where two passes end the game in the tree, the
            count takes off those that still stand. It is ignored under rules whose end the evaluator judges.

    Raises:
        UserError: A field is of another type, or a root move is not on the board.
    """

    game: "Game"
    limits: Limits = setting(Limits(), accepts=_LIMITS)
    root_moves: RootMoves = setting(ANY_MOVE, accepts=_OF_ROOT, what="root moves")
    parameters: SearchParameters | None = setting(None, accepts=_PARAMETERS)
    ownership: bool = setting(False)
    moves_ownership: bool = setting(False)
    on_report: "Callable[[SearchReport], None] | None" = setting(None, accepts=_FUNCTION)
    interval: float | None = setting(None, accepts=Range(0))
    first_report: float | None = setting(None, accepts=Range(0))
    stop: threading.Event | None = None
    early_stop: bool = setting(True)
    dead: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        check(self)
        if self.root_moves.avoid or self.root_moves.allow:
            object.__setattr__(self, "root_moves", self.root_moves.on_board(self.game.width, self.game.height))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickles it, if that makes sense: an event ends searches of this process alone."""
        if self.stop is not None:
            raise TypeError("this SearchRequest has an event of this process: send its game, limits and parameters")
        return super().__reduce_ex__(protocol)

    @property
    def needs_ownership(self) -> bool:
        """Whether the tree has to keep ownership."""
        return self.ownership or self.moves_ownership

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` is set."""
        return self.stop is not None and self.stop.is_set()
