"""How long the searches of a review are: as the caller says, or as many visits as fit into a budget of time."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..search.request import Limits
from .known_reports import LONGEST
from .move_review import LISTED
from .reasons.explain import REASON_WORK
from .searches import SECOND_LOOK_FACTOR, most_looked_at_again

# Visits of a position: after the second look costs are as true as with 16 (benchmarks/review.md), by a few games.
FLOOR = 8
# A game on 9x9 takes up to 18 s, on 13x13 37 s, and on 19x19 79 s; less if only a few moves are reviewed.
_SECONDS_PER_POINT, _LEAST_SECONDS, _SECONDS_PER_MOVE = 0.22, 10.0, 1 / 3
# Visits change when what fits differs by more than this factor, so that most positions are searched alike.
_NOTABLE = 1.25
# The weight of the speed measured before the review: a share of the budget, or seconds if there is none.
_TRUST, _TRUST_SECONDS = 0.05, 1.0


def usual_seconds(width: int, height: int, moves: int) -> float:
    """Returns the seconds that the review of so many moves may take if nobody says otherwise."""
    return min(_SECONDS_PER_POINT * width * height, _LEAST_SECONDS + _SECONDS_PER_MOVE * moves)


def later_work(positions: int, listed: int) -> tuple[int, int]:
    """Returns the work of the second look and of the reasons that is expected, for so many positions and mistakes."""
    # Seen in games of 40 to 280 moves: 19 to 34 positions are looked at again, and 6 to 15 mistakes explained.
    again = min(most_looked_at_again(positions), 2 * listed + positions // 25)
    return SECOND_LOOK_FACTOR * again, REASON_WORK * min(listed, positions - 1)


class Plan:
    """The limits of a review's searches, and how much of its work is done.

    The unit of work is the first look at a position. What the later stages will need is at first an estimate.

    Attributes:
        limits: Those of the first look at the next position, or the unit of the later stages.
        seconds: The budget; None if the caller gave the limits.
    """

    def __init__(
        self,
        positions: int,
        limits: Limits | None,
        rate: float,
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        listed: int = LISTED,
        spared: Callable[[], int] = lambda: 0,
    ) -> None:
        """Plans the review of so many positions.

        Args:
            positions: How many there are.
            limits: The limits of the first look at each; None if they follow from the budget.
            rate: The visits/s, as measured before.
            seconds: The budget, without `limits`.
            clock: Returns the time in seconds.
            listed: How many mistakes are explained whatever time is left.
            spared: Returns the visits that were known before and not made again (`KnownReports.spared`).
        """
        self.left = {"moves": float(positions), "later": float(sum(later_work(positions, listed)))}
        self.seconds, self._clock, self._rate = seconds, clock, rate
        self._spared, self._spared_before = spared, spared()
        self._started, self._visits, self._done, self._positions = clock(), 0.0, 0.0, positions
        self._fixed = limits
        self._first: float | None = None  # visits of the first look, once it is over
        self.limits = limits or Limits(self._fitting)

    @property
    def is_too_small(self) -> bool:
        """Whether the budget does not suffice for `FLOOR` visits a position."""
        return self._fixed is None and self._rate * (self.seconds or 0) < FLOOR * sum(self.left.values())

    @property
    def expected(self) -> float:
        """The seconds that the rest of the review is expected to take."""
        work = sum(self.left.values())
        if self.limits.visits is None:
            return work * (self.limits.seconds or 0)
        return work * self.limits.visits / self.rate

    @property
    def rate(self) -> float:
        """The visits/s so far."""
        trust = _TRUST_SECONDS if self.seconds is None else _TRUST * self.seconds
        made = self._visits - (self._spared() - self._spared_before)
        return (self._rate * trust + max(0.0, made)) / (trust + self.elapsed)

    @property
    def elapsed(self) -> float:
        """The seconds since the review began."""
        return self._clock() - self._started

    @property
    def is_over(self) -> bool:
        """Whether there is a budget, and it is used up."""
        return self.seconds is not None and self.elapsed > self.seconds

    @property
    def progress(self) -> float:
        """The share of the work that is done, 0 to 1."""
        return self._done / max(1e-9, self._done + sum(self.left.values()))

    def advance(self, work: float) -> None:
        """Counts this much of the stage's work as done, and chooses the limits of the searches that follow."""
        stage = next(iter(self.left))
        self._done += work
        self._visits += work * (self.limits.visits or 0)
        self.left[stage] = max(0.0, self.left[stage] - work)
        # The limits of the stage "again" stay the same throughout.
        if self._fixed is None and stage != "again" and any(self.left.values()):
            fitting, now = self._fitting, self.limits.visits or 1
            if not 1 / _NOTABLE < fitting / now < _NOTABLE:
                self.limits = Limits(fitting)

    def begin(self, stage: str, work: float, later: float = 0.0) -> None:
        """Begins a stage after the first one, with what is now known about its work and about that of later ones."""
        if self._first is None:
            self._first = self._visits / max(1.0, self._done)
        self.left = {stage: work, "later": later}
        if self._fixed is None and work + later:
            self.limits = Limits(self._fitting)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leaves the time of a `with` block out of that of the review."""
        before = self._clock()
        yield
        self._started += self._clock() - before

    @property
    def _fitting(self) -> int:
        """The visits of the first look, or the unit of a later stage, with which the rest fits into the budget."""
        visits = self.rate * ((self.seconds or 0) - self.elapsed) / sum(self.left.values())
        if self._first is not None:  # lack of time makes the later stages at most half as long
            visits = min(max(visits, self._first / 2), LONGEST * self._first)
        return max(FLOOR, int(visits))
