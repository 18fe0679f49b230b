"""The position that is shown: its stones, what is drawn on it, and its place in the game."""

from ...go.coords import BLACK, PASS, WHITE, colour_name
from ...go.game import Game
from .boards import Drawn
from .session import Document, Part


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
            **drawn.on(game),
            "node": node.number,
            "tree": session.tree_version,
            "moves": len(line) - 1,
            "place": line.index(node),
            "moveNumbers": [sum(each.move is not None for each in nodes) for nodes in (node.path, line)],
            "variation": {"number": variation + 1, "of": len(siblings)},
            "numbers": self._numbers(game),
            "lastMove": {"colour": colour_name(last[0]), "vertex": game.vertex(last[1])} if last else None,
            "toMove": colour_name(game.to_move),
            "passes": game.passes,
            "captures": {colour_name(colour): game.captures(colour) for colour in (BLACK, WHITE)},
            "comment": node.comment,
        }

    def _numbers(self, game: Game) -> dict[str, str]:
        """Returns the number of the move that has placed each stone of a position, those that were set up left out."""
        moves = [node.move for node in self.session.node.path if node.move is not None]
        last = {move.point: (number, move.colour) for number, move in enumerate(moves, 1) if move.point != PASS}
        of_stones = {point: number for point, (number, colour) in last.items() if game.stone_at(point) == colour}
        return {game.vertex(point): str(number) for point, number in of_stones.items()}
