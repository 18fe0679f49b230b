"""What searches have found about the positions of a game, and what moves have lost by that."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ...go.coords import BLACK, PASS, vertex
from ...go.game import Game
from ...go.sgf import TreeNode
from ...search.report import MoveReport, SearchReport
from ...study.move_review import CLASSES, whole, worth

JUDGED_VISITS = 100  # a person waits for them: about a second on two cores with the bundled networks, or less
# Points: what is written on a stone, and what is marked as a mistake.
_LEAST_SHOWN, LEAST_LOSS, *_ = CLASSES


@dataclass(frozen=True)
class Value:
    """What a search has found about a position: Black's win rate and lead in points, and the best move, "" for none."""

    to_move: int
    winrate: float
    lead: float
    visits: int
    best: str
    images: frozenset[str] = frozenset()  # the best move and its mirror images


class Values:
    """The values of the positions of a game, by node.

    Who moves at a node may change, with the variation that is looked at and with edits: a value counts only while it is
    the turn of the player for whom it was found.
    """

    def __init__(self, to_move: Callable[[TreeNode], int]) -> None:
        """Begins without values; `to_move` returns the player to move at a node."""
        self._to_move = to_move
        self._values: dict[TreeNode, Value] = {}
        # What the engine has found about its last move, and the node after that move.
        self.opinion: tuple[MoveReport, TreeNode] | None = None
        self.reviewed: dict[TreeNode, float] = {}  # what the moves of nodes have lost by a review, in points

    def note(self, report: SearchReport, node: TreeNode) -> None:
        """Keeps what a search has found, unless a value counts that has more visits or is for the other player.

        It also holds for the node that led to the position: the move, if only comments or empty nodes stand in between.
        """
        lead, winrate = worth(report)
        best = report.moves[0].vertex if report.moves else ""
        images = frozenset(move.vertex for move in report.moves if move.searched_point == report.moves[0].point)
        value = Value(report.to_move, winrate, lead, report.visits, best, images)
        for each in (node, node.first_with_position):
            known = self.get(each)
            if known is None or (known.to_move == report.to_move and known.visits <= report.visits):
                self.set(each, value)

    def set(self, node: TreeNode, value: Value) -> None:
        """Keeps a value whatever was known before."""
        self._values[node] = value

    def agree(self, node: TreeNode, report: SearchReport) -> None:
        """Gives a position that was searched the value that a review tells."""
        value = worth(report)
        for each in (node, node.first_with_position):
            if (known := self.get(each)) is not None:
                self.set(each, replace(known, winrate=value.winrate, lead=value.lead))

    def get(self, node: TreeNode) -> Value | None:
        """Returns what is known about a position; None if it has not been searched for the player to move."""
        value = self._values.get(node)
        return value if value is not None and value.to_move == self._to_move(node) else None

    def forget(self, node: TreeNode | None = None) -> None:
        """Forgets a position; all of them, and the engine's opinion, if None."""
        if node is None:
            self.move_to(())
        else:
            self._values.pop(node, None)
            self.reviewed.pop(node, None)

    def move_to(self, nodes: Iterable[tuple[TreeNode, TreeNode]]) -> None:
        """Keeps only what is known about these nodes, as the values of others: pairs of old and new."""
        self._values = {new: self._values[old] for old, new in nodes if old in self._values}
        self.opinion, self.reviewed = None, {}

    def is_judged(self, node: TreeNode) -> bool:
        """Whether a position has been searched well enough to judge a move by it."""
        value = self.get(node)
        return value is not None and value.visits >= JUDGED_VISITS

    def curve(self, line: Sequence[TreeNode]) -> list[tuple[int, float, float]]:
        """Returns the place, Black's win rate and Black's lead of each position of a line that was searched."""
        found = ((place, self.get(node)) for place, node in enumerate(line))
        return [(place, round(value.winrate, 3), round(value.lead, 1) + 0.0) for place, value in found if value]

    def loss(self, node: TreeNode, width: int, height: int) -> tuple[float, str] | None:
        """Returns how many points the move of a node has lost, and the best one; None if few, or not known.

        The passes that end a game lose none, as in `study.move_review.MoveReview`.
        """
        if node.move is None or node.parent is None or not (self.is_judged(node) and self.is_judged(node.parent)):
            return None
        if node.ends_game:
            return None
        best, points = self._values[node.parent].best, self.reviewed.get(node, self.lost(node, width, height))
        return (points, best) if best and points is not None and points >= LEAST_LOSS else None

    def lost(self, node: TreeNode, width: int, height: int) -> float | None:
        """Returns how many points the move of a node has lost, below 0 for a gain; None if that is not known.

        The best move before it has lost none, as in `study.move_review.MoveReview`.
        """
        before, after = self.get(node.parent) if node.parent else None, self.get(node)
        if node.move is None or before is None or after is None:
            return None
        if vertex(node.move.point, width, height) in before.images | {before.best}:
            return 0.0
        lost = before.lead - after.lead if node.move.colour == BLACK else after.lead - before.lead
        return round(lost, 1) + 0.0  # as it is shown, and as in a review: nothing is no -0.0

    def on_stones(self, game: Game, path: Sequence[TreeNode]) -> dict[str, str]:
        """Returns the points lost by the moves that have placed the stones of a position, if half a point or more.

        Only the losses count that a review has found, or two searches of `JUDGED_VISITS`. They have a minus
        sign, so that nobody takes them for the numbers of moves.
        """
        losses = dict[int, tuple[int, float]]()
        for node in path:
            if node.move is not None:
                is_judged = node.parent is not None and self.is_judged(node) and self.is_judged(node.parent)
                lost = self.reviewed.get(node, self.lost(node, game.width, game.height) if is_judged else None)
                losses[node.move.point] = node.move.colour, 0.0 if lost is None or node.ends_game else lost
        losses.pop(PASS, None)
        found = {point: lost for point, (colour, lost) in losses.items() if game.stone_at(point) == colour}
        return {game.vertex(point): f"\u2212{whole(lost)}" for point, lost in found.items() if lost >= _LEAST_SHOWN}
