"""What the network thinks of a group whose life nobody has proved: how many of ten such groups live."""

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..base.languages.texts import Phrase, Value
from ..go.coords import BLACK, opponent
from ..go.game import Game
from ..go.regions import cells_of
from ..search.request import SearchRequest
from ..solver.part import find_way_out

if TYPE_CHECKING:
    from .worker import SearchWorker

# Of chains with a mean ownership of o for their owner, a share of (1 + 0.9 o) / 2 lived to the end of the game: the
# factor fits 902 chains of 15 games of people on OGS, whoever was to move (benchmarks/group_fates.py). Those of strong
# amateurs are a little surer: 1.0 fits 630 chains of 9 games on KGS.
_TRUST = 0.9
_LIKELY = 0.75  # told as eight of ten or more; of fewer the games have too few chains to be sure


class GroupView(NamedTuple):
    """What the network thinks of a group.

    Attributes:
        attacked: How many of such groups live, as a share, if the opponent moves first.
        defended: The same if their owner does.
        way_out: Where the group can run if it is not enclosed (`solver.part.find_way_out`); else None.
    """

    attacked: float
    defended: float
    way_out: str | None = None

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """What is said of it; that it can run only if it is likely to live then."""
        runs = self.way_out is not None and self.defended >= _LIKELY
        return (self._phrase, Phrase("view.out", {"point": self.way_out or ""})) if runs else (self._phrase,)

    @property
    def _phrase(self) -> Phrase:
        # Nothing is proved, so that it is never more than nine of ten.
        if self.attacked >= _LIKELY:
            return Phrase("view.alive", _of_ten(self.attacked))
        if self.defended <= 1 - _LIKELY:
            return Phrase("view.dead", _of_ten(1 - self.defended))
        is_unsettled = self.defended >= _LIKELY and self.attacked <= 1 - _LIKELY
        return Phrase("view.unsettled" if is_unsettled else "view.unsure")


def group_view(worker: "SearchWorker", request: SearchRequest, points: Collection[int]) -> GroupView:
    """Returns what the network thinks of the chains on some points in the position of a request."""
    game = request.game
    colour = game.stone_at(next(iter(points)))
    attacked, defended = (_lives(worker, request, points, first) for first in (opponent(colour), colour))
    out = find_way_out(game, points)
    return GroupView(attacked, defended, None if out is None else game.vertex(out))


def _lives(worker: "SearchWorker", request: SearchRequest, points: Collection[int], first: int) -> float:
    """Returns the share of chains like the weakest of these that live if a player moves first."""
    ownership = worker.ownership_moving_first(request, first)
    means = (_owned(request.game, point, ownership) for point in points)
    return (1 + _TRUST * min(means)) / 2


def _owned(game: Game, point: int, ownership: np.ndarray) -> float:
    """Returns the mean ownership of the chain on a point for its owner."""
    chain = game.chain(point)
    assert chain is not None
    mean = float(np.mean([ownership[cell] for cell in cells_of(chain.stones, game.width)]))
    return mean if chain.colour == BLACK else -mean


def _of_ten(share: float) -> dict[str, Value]:
    return {"number": str(min(9, int(10 * share + 0.5)))}
