"""What searches have found about the positions of a game: its graph, and what a move has lost."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...go.coords import BLACK, vertex
from ...go.sgf import TreeNode
from ...search.report import SearchReport

JUDGED_VISITS = 100  # a person waits for them: about a second on two cores with the bundled networks, or less
LEAST_LOSS = 1.5  # points; the second class of the mistakes of `review`, which are KaTrain's


@dataclass(frozen=True)
class Value:
    """What a search has found about a position.

    Attributes:
        to_move: The player to move.
        winrate: Black's win rate.
        lead: Black's lead in points.
        visits: The visits behind them.
        best: The best move.
        losses: What each move that was searched loses in points against the best one, by vertex.
    """

    to_move: int
    winrate: float
    lead: float
    visits: int
    best: str
    losses: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Loss:
    """What the move of a node has lost.

    Attributes:
        point: Where it was played.
        points: The points lost.
        best: The best move instead of it.
    """

    point: int
    points: float
    best: str


class Values:
    """The values of the positions of a game, by node.

    Who moves at a node may change, with the variation that is looked at and with edits: a value counts only while it is
    the turn of the player for whom it was found.

    Attributes:
        opinion: The search behind the engine's last move, and the node after that move; None if there is none.
    """

    def __init__(self, to_move: Callable[[TreeNode], int]) -> None:
        """Begins without values; `to_move` returns the player to move at a node."""
        self._to_move = to_move
        self._values: dict[TreeNode, Value] = {}
        self.opinion: tuple[SearchReport, TreeNode] | None = None

    def note(self, report: SearchReport, node: TreeNode) -> None:
        """Keeps what a search has found, unless a value counts that has more visits or is for the other player.

        It also holds for the node that led to the position: the move, if only comments or empty nodes stand in between.
        """
        if not report.moves:
            return
        is_black = report.to_move == BLACK
        winrate = report.winrate if is_black else 1 - report.winrate
        lead = report.lead if is_black else -report.lead
        losses = {move.vertex: max(0.0, report.moves[0].lead - move.lead) for move in report.moves}
        value = Value(report.to_move, winrate, lead, report.visits, report.moves[0].vertex, losses)
        for each in (node, node.first_with_position):
            known = self.get(each)
            if known is None or (known.to_move == report.to_move and known.visits <= report.visits):
                self.set(each, value)

    def set(self, node: TreeNode, value: Value) -> None:
        """Keeps a value whatever was known before."""
        self._values[node] = value

    def get(self, node: TreeNode) -> Value | None:
        """Returns what is known about a position; None if it has not been searched for the player to move."""
        value = self._values.get(node)
        return value if value is not None and value.to_move == self._to_move(node) else None

    def forget(self, node: TreeNode | None = None) -> None:
        """Forgets a position; all of them, and the engine's opinion, if None."""
        if node is None:
            self._values.clear()
            self.opinion = None
        else:
            self._values.pop(node, None)

    def move_to(self, nodes: Iterable[tuple[TreeNode, TreeNode]]) -> None:
        """Keeps only what is known about these nodes, as the values of others: pairs of old and new."""
        self._values = {new: self._values[old] for old, new in nodes if old in self._values}
        self.opinion = None

    def is_judged(self, node: TreeNode) -> bool:
        """Whether a position has been searched well enough to judge a move by it."""
        value = self.get(node)
        return value is not None and value.visits >= JUDGED_VISITS

    def curve(self, line: Sequence[TreeNode]) -> list[tuple[int, float, float]]:
        """Returns the place, Black's win rate and Black's lead of each position of a line that was searched."""
        found = ((place, self.get(node)) for place, node in enumerate(line))
        return [(place, round(value.winrate, 3), round(value.lead, 1) + 0.0) for place, value in found if value]

    def loss(self, node: TreeNode, width: int, height: int) -> Loss | None:
        """Returns what the move of a node has lost; None if that is little, or not known."""
        if node.move is None or node.parent is None or not (self.is_judged(node) and self.is_judged(node.parent)):
            return None
        before, after, move = self._values[node.parent], self._values[node], node.move
        points = before.lead - after.lead if move.colour == BLACK else after.lead - before.lead
        if points < LEAST_LOSS or before.best == vertex(move.point, width, height):
            return None
        return Loss(move.point, points, before.best)
