"""The seam between search and knowledge: what every evaluator takes and gives."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

ALL_SYMMETRIES = 8  # no symmetry's number: the mean over all of them


@dataclass(frozen=True)
class Outputs:
    """What an evaluator says of n positions, all of it for the side to move of each.

    policy: float32 [n, area+1], move-index order, 0 on illegal moves, sums to 1.
    value: float32 [n, 3], probabilities of win, loss and no result.
    lead: float32 [n], points by which the position is ahead.
    score_mean, score_stdev: float32 [n], the final score's distribution in points.
    ownership: float32 [n, area] in -1..1 (+1 = the side to move owns the point), or None where it was not asked for.
    outlook: float32 [n, 3], expected errors in the short term of win less loss and of the score in points, and turns
        until the value settles; None of an evaluator that says nothing of it.
    first_plays: float32 [n, 2, 2, area] of an evaluator by playouts, else None. [i, 0] is for the side to move, [i, 1]
        for the opponent: the share of playouts in which that player was the first to play at a point, and the sum over
        these of win minus loss for that player, divided by the number of all playouts.
    """

    policy: np.ndarray
    value: np.ndarray
    lead: np.ndarray
    score_mean: np.ndarray
    score_stdev: np.ndarray
    ownership: np.ndarray | None = None
    outlook: np.ndarray | None = None
    first_plays: np.ndarray | None = None


class Evaluator(Protocol):
    """Judges positions. One evaluator belongs to one thread.

    Several batches may be in flight (`overlap`), so that the next one is prepared while a device or other threads work;
    an evaluator that blocks does its work in `submit`. They are collected in the order of their submission. The boards
    of a batch stay as they are until it is collected. Outputs are valid until the next `submit`.
    """

    batch_size: int
    """The number of positions in a batch that suits one search; `submit` takes more."""

    largest_board: int
    """The most points a side that it judges."""

    overlap: int
    """How many batches are best under way at once: those that are evaluated side by side and one that waits for its
    turn; 1 where `submit` returns only when its work is done.
    """

    plays_out: bool
    """Whether the outputs have `first_plays`."""

    reads_ladders: bool
    """Whether it wants positions complete as `evaluate.inputs` takes them: `ladders` marked for the boards before, to
    which it adds its own reading, and superko's marks.
    """

    takes_profile: bool
    """Whether it imitates people and has to be told which."""

    name: str
    """What a user calls it: "rollouts", a network's name."""

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        *,
        ownership: bool = False,
        optimism: float = 0.0,
        profile: str = "",
    ) -> Any:
        """Begins to judge `boards[indices]` (a `board.BOARD` array, int indices), all of one size; gives a ticket.

        symmetries: one of the eight for each position (`game.symmetry`), or ALL_SYMMETRIES for all of them: the mean
            over the eight. None for the identity.
        optimism: share of the optimistic policy, 0..1, where a network has one.
        profile: of the people to imitate (`evaluate.metadata`). A network raises ValueError where it needs one and has
            none, and the other way round.
        Rollouts and what else knows no symmetries ignore all three.
        """
        ...

    def collect(self, ticket: Any) -> Outputs:
        """Waits for the outputs of a ticket, in the order of its indices."""
        ...

    def clear_cache(self) -> None:
        """Forgets what it keeps of earlier positions."""
        ...

    def close(self) -> None:
        """Ends its threads and gives its memory back."""
        ...
