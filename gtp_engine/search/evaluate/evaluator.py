"""The interface between search and evaluators."""

import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np


class Evaluator(ABC):
    """Evaluates positions. One evaluator belongs to one thread.

    Several batches may be in flight (`overlap`), so that the next one is prepared while a device or other threads work;
    an evaluator that blocks does its work in `submit`. They are collected in the order of their submission.

    Attributes:
        name: Its name for users: "rollouts", or the network's name.
        batch_size: The number of positions in a batch that suits one search; `submit` accepts more.
        largest_board: The largest width or height of a board that it evaluates, in points.
        overlap: The number of batches that are best in flight at once: half of them are evaluated side by side, the
            others wait; 1 if `submit` returns only when its work is done.
        portions: In how many batches the leaves of one search are best evaluated while they are few; 1 if
            nothing is prepared while a batch is evaluated.
        early_leaves: How many leaves of a search may be in flight as soon as they are a quarter of its visits; more
            have to be a sixteenth of them at most, and a 64th of the number to which the visits are limited.
        least_visits: How many evaluations it takes until their mean tells the lead and the owners of the points; 1 if
            a single one does.
        has_amaf: Whether its rows have AMAF statistics.
        reads_ladders: Whether it needs positions complete as `evaluate.features` reads them, with superko's marks and
            the ladders of earlier boards, and returns the ladders of this one.
        has_optimism: Whether its policy depends on the share of the optimistic policy.
        takes_profile: Whether it imitates humans and needs a profile that tells which.
    """

    name: str
    batch_size: int
    largest_board: int
    overlap: int = 1
    portions: int = 1
    early_leaves: int = sys.maxsize
    least_visits: int = 1
    has_amaf: bool = False
    reads_ladders: bool = False
    has_optimism: bool = False
    takes_profile: bool = False

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
        *,
        optimism: float = 0.0,
        profile: str = "",
    ) -> Any:
        """Begins to evaluate `boards[indices]`, positions on boards of one size, and returns a ticket.

        Args:
            boards: a `board.BOARD` array. It is only read, and must not change before the batch is collected.
            indices: int [n].
            symmetries: int [n], one of the eight for each position (`go.symmetry`), or ALL_SYMMETRIES for the mean
                over the eight. None for the identity. Evaluators without a network ignore them.
            ladders: uint8 [n, (area + 7) // 8 or more], written by evaluators that read ladders: a bit for each stone
                that a ladder catches now, in move-index order, the lowest bit of a byte first. None if it is not
                wanted.
            optimism: the share of the optimistic policy, 0..1. Evaluators that have none ignore it.
            profile: the humans to imitate (`evaluate.human_profile`) if the evaluator takes a profile.

        Raises:
            UserError: a network needs a profile and none was given, or it takes none and one was given.
        """

    @abstractmethod
    def collect(self, ticket: Any) -> np.ndarray:
        """Waits for a batch and returns its evaluations in the order of its indices.

        Returns:
            C-contiguous float32 [n, columns], laid out as `evaluate.row` tells, valid until the next `submit`. The
            search overwrites AMAF statistics when it backs them up.
        """

    def prepare(self, width: int, height: int) -> None:
        """Does what the first batches on such a board would have to do first; by default there is nothing to do."""
        return

    def clear_cache(self) -> None:
        """Forgets the evaluations of earlier positions; by default there are none."""
        return

    def close(self) -> None:
        """Ends its threads and releases its memory; by default there is nothing to end."""
        return
