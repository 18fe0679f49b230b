"""Boards as pages draw them: stones, and what is drawn besides them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from ...go.coords import PASS
from ...go.drawing import BoardDrawing, Candidate
from ...go.game import Game

_PIXELS = 1000  # the drawing's own size, which the page's style replaces


@dataclass
class Drawn:
    """What is drawn on the board besides stones: texts, shapes, moves, float owners [height, width], + for Black."""

    labels: dict[int, str] = field(default_factory=dict)
    shapes: Mapping[int, str] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    ownership: np.ndarray | None = None

    def on(self, game: Game) -> dict[str, Any]:
        """Returns it and the stones of a position as pages read them: rows of ".", "X" (Black) and "O" (White)."""
        discs = ((game.vertex(game.point(each.point)), each) for each in self.candidates)
        candidates = [
            {"vertex": vertex, "fill": each.colour, "text": each.text, "isBest": each.is_best} for vertex, each in discs
        ]
        return {
            "stones": ["".join(".XO"[stone] for stone in row) for row in game.stones()],
            "drawn": {
                "labels": {game.vertex(point): text for point, text in self.labels.items()},
                "marks": {game.vertex(point): shape for point, shape in self.shapes.items()},
                "ownership": [] if self.ownership is None else self.ownership.ravel().round(2).tolist(),
                "candidates": candidates,
            },
        }


def line_shown(
    game: Game, line: Sequence[int], shapes: Mapping[int, str] | None = None, candidates: Sequence[Candidate] = ()
) -> dict[str, Any]:
    """Returns a position with a line from there on, as numbered stones.

    Stones that the line captures have no numbers; shapes mark the stones that are left.
    """
    after, labels = game.copy(), dict[int, str]()
    for number, point in enumerate(line, 1):
        after.play(after.to_move, point, tolerant=True)  # solved lines leave ko threats out
        if point != PASS:
            labels[point] = str(number)
    labels = {point: text for point, text in labels.items() if after.stone_at(point)}
    shapes = {point: shape for point, shape in (shapes or {}).items() if after.stone_at(point)}
    return Drawn(labels, shapes, [*candidates]).on(after)


@cache
def empty_board(width: int, height: int) -> str:
    """Returns the drawing in which pages draw the positions of a board."""
    return BoardDrawing(np.zeros((height, width), np.int8), pixels=_PIXELS).to_svg()
