"""The position that is shown: its stones, what is drawn on it, and its place in the game."""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from ...go.coords import BLACK, PASS, WHITE, colour_name
from ...go.drawing import BoardDrawing, Candidate
from ...go.game import Game
from .session import Document, Drawn, Part

_PIXELS = 1000  # the drawing's own size, which the page's style replaces


class Position(Part):
    """The position that is shown, with what the other parts draw on it."""

    name = "position"

    def document(self) -> Document:
        session, line = self.session, self.session.line
        node, game = session.node, session.position()
        last = game.moves[-1] if game.moves else None
        siblings, variation, _ = self.played.tree.branching(node)
        marks = self.played.tree.marks(node)
        drawn = Drawn(dict(marks.labels), marks.shapes)
        for part in session.parts:
            if part.draws:
                part.draw(drawn)
        return {
            **_as_document(game, drawn),
            "node": node.number,
            "tree": session.tree_version,
            "moves": len(line) - 1,
            "place": line.index(node),
            "moveNumbers": [len(each.moves) for each in (node, line[-1])],
            "variation": {"number": variation + 1, "of": len(siblings)},
            "numbers": self._numbers(game),
            "next": [game.vertex(child.move.point) for child in node.children if child.move is not None],
            "lastMove": {"colour": colour_name(last[0]), "vertex": game.vertex(last[1])} if last else None,
            "toMove": colour_name(game.to_move),
            "passes": game.passes,
            "followsPass": len(game.moves) > 1 and game.moves[-2].point == PASS != game.moves[-1].point,
            "captures": {colour_name(colour): game.captures(colour) for colour in (BLACK, WHITE)},
            "comment": node.comment,
        }

    def _numbers(self, game: Game) -> dict[str, str]:
        """Returns the number of the move that has placed each stone of a position, those that were set up left out."""
        moves = enumerate(self.session.node.moves, 1)
        last = {move.point: (number, move.colour) for number, move in moves if move.point != PASS}
        of_stones = {point: number for point, (number, colour) in last.items() if game.stone_at(point) == colour}
        return {game.vertex(point): str(number) for point, number in of_stones.items()}


def line_shown(
    game: Game, line: Sequence[int], shapes: Mapping[int, str] | None = None, candidates: Sequence[Candidate] = ()
) -> Document:
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
    return _as_document(after, Drawn(labels, shapes, [*candidates]))


def _as_document(game: Game, drawn: Drawn) -> Document:
    """Returns a position as pages read it: the stones as rows of ".", "X" (Black) and "O" (White)."""
    discs = ((game.vertex(game.point(each.point)), each) for each in drawn.candidates)
    candidates = [
        {"vertex": vertex, "fill": each.colour, "text": each.text, "isBest": each.is_best} for vertex, each in discs
    ]
    return {
        "stones": ["".join(".XO"[stone] for stone in row) for row in game.stones()],
        "drawn": {
            "labels": {game.vertex(point): text for point, text in drawn.labels.items()},
            "marks": {game.vertex(point): shape for point, shape in drawn.shapes.items()},
            "ownership": [] if drawn.ownership is None else drawn.ownership.ravel().round(2).tolist(),
            "candidates": candidates,
        },
    }


@cache
def empty_board(width: int, height: int) -> str:
    """Returns the drawing in which pages draw the positions of a board."""
    return BoardDrawing(np.zeros((height, width), np.int8), pixels=_PIXELS).to_svg()
