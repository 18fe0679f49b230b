"""The facts about bad shape: empty triangles and dumplings, by the stones alone."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...go.coords import EMPTY, PASS
from ...go.regions import chains_of
from .variation import Fact, Study, Variation, cell_of, distance

# The most steps between the two moves: if they are farther apart the direction was wrong, not the shape. And the most
# liberties of opposing stones that a move next to them attacks: then it is about them. By judgement.
_NEAR, _ATTACKED = 3, 3


def find_bad_shape(study: Study) -> Iterator[Fact]:
    """Yields that the move played makes an empty triangle, or a dumpling: six stones that fill two rows of three.

    The better move is near, and makes neither; the move played neither captures nor attacks stones next to it.
    """
    if PASS in (study.move, study.best) or distance(study.move, study.best, study.game.width) > _NEAR:
        return
    chains = (chain for chain in chains_of(study.game.board[0]) if study.move in chain.liberties)
    if any(chain.colour != study.colour and len(chain.liberties) <= _ATTACKED for chain in chains):
        return
    made = _bad_shapes(study.played, study.colour)
    if made and not _bad_shapes(study.better, study.colour):
        yield Fact(made[0], study.played.line[:1])


def _bad_shapes(line: Variation, colour: int) -> list[str]:
    """Returns the names of the bad shapes that the first move of a line makes, the heavier first."""
    stones, (row, column) = line.games[1].stones(), cell_of(line.line[0], line.end.width)
    lumps = (_blocks(stones, row, column, *shape) for shape in ((2, 3), (3, 2)))
    is_dumpling = any(np.all(block == colour) for blocks in lumps for block in blocks)
    squares = _blocks(stones, row, column, 2, 2)
    is_triangle = any(np.sum(square == colour) == 3 and np.any(square == EMPTY) for square in squares)
    return ["dumpling"] * is_dumpling + ["triangle"] * is_triangle


def _blocks(stones: NDArray[np.int8], row: int, column: int, height: int, width: int) -> Iterator[NDArray[np.int8]]:
    """Yields the blocks of a size that hold a cell."""
    for top in range(max(0, row - height + 1), min(row, stones.shape[0] - height) + 1):
        for left in range(max(0, column - width + 1), min(column, stones.shape[1] - width) + 1):
            yield stones[top : top + height, left : left + width]
