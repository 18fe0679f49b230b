"""A policy by the names of its moves, for readers outside compiled code."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...base.errors import UserError
from ...go.coords import all_points, as_point, index_of_point, point_of_index, vertex

_SHOWN = 5  # moves in its repr


class Policy(Mapping[str, float]):
    """The probability of each move of a board by its vertex: `policy["D4"]`, `policy["pass"]`.

    It is a mapping over all points in move-index order, with the pass last; illegal moves have probability 0.
    `numpy.asarray(policy)` returns the probabilities in this order.

    Args:
        probabilities: float32 [area + 1] in move-index order; not copied.
        width: The board's columns.
        height: The board's rows.
    """

    def __init__(self, probabilities: np.ndarray, width: int, height: int) -> None:
        self._probabilities = probabilities
        self._size = width, height

    def __getitem__(self, move: int | str) -> float:
        """Returns the probability of a vertex or a point; raises UserError if it is not on the board."""
        return float(self._probabilities[index_of_point(as_point(move, *self._size), *self._size)])

    def __contains__(self, move: object) -> bool:
        try:
            as_point(move, *self._size)  # type: ignore[arg-type]
        except UserError:
            return False
        return True

    def get(self, move: object, default: Any = None) -> Any:
        """Returns the probability of a vertex or a point, or the default if it is not on the board."""
        try:
            return self[move]  # type: ignore[index]
        except UserError:
            return default

    def __iter__(self) -> Iterator[str]:
        yield from (vertex(point, *self._size) for point in all_points(*self._size))
        yield "pass"

    def __len__(self) -> int:
        return len(self._probabilities)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._probabilities, dtype, copy=copy)

    def top(self, count: int = _SHOWN) -> list[tuple[str, float]]:
        """Returns the most probable moves with their probabilities, the most probable first."""
        order = np.argsort(-self._probabilities, kind="stable")[:count].tolist()
        found = [(vertex(point_of_index(index, *self._size), *self._size), index) for index in order]
        return [(name, float(self._probabilities[index])) for name, index in found if self._probabilities[index] > 0]

    def __repr__(self) -> str:
        moves = ", ".join(f"{name} {probability:.1%}" for name, probability in self.top())
        return f"<Policy: {moves}>"
