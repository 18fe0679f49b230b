"""The tree of one game: it is kept from move to move, grows, and is pruned to the subtree that is still needed."""

import logging

import numpy as np

from ..base.jit import njit
from ..go.coords import index_of_point, opponent
from ..go.game import Game
from . import tree as trees
from .ownership import add_ownership, no_ownership
from .parameters import SearchParameters
from .tree import NO_NODE, OWNERSHIP_UNKNOWN, PRIOR_ONE, UNEVALUATED, Tree, TreeLayout
from .value_bias import fill_biases

logger = logging.getLogger(__name__)

# Nodes. Each of many searches side by side has an arena of its own, so it starts small.
_FIRST_CAPACITY = 1024


class GameTree:
    """The arena and the node of the game's present position in it.

    Attributes:
        game: The position of the root.
        root: Its node. Its siblings' subtrees may still be in the arena, for an undo.
        origin_to_move: The colour to move at the tree's origin.
        ownership_sums: The ownership of the root's subtree (`ownership.OwnershipSums`), as of `sum_ownership`.
    """

    def __init__(self, parameters: SearchParameters, layout: TreeLayout) -> None:
        """Makes an empty tree.

        Args:
            parameters: Whether the tree is reused, and how large it may become.
            layout: Which optional arrays it has.
        """
        self._parameters = parameters
        self._layout = layout
        self._tree: Tree | None = None
        self._spare: Tree | None = None  # the last arena, once it was cleared
        self.game = Game()
        self.clear()

    @property
    def arrays(self) -> Tree:
        """The present arena; growing replaces it."""
        if self._tree is None:
            self._tree = self._empty(min(_FIRST_CAPACITY, self._most_nodes()))
        return self._tree

    @property
    def visits(self) -> int:
        """The root's visits."""
        return int(self._tree.nodes["visits"][self.root]) if self._tree is not None else 0

    @property
    def is_evaluated(self) -> bool:
        """Whether the evaluation of the root has been backed up."""
        return bool(self.arrays.nodes["state"][self.root] != UNEVALUATED)

    def clear(self) -> None:
        """Forgets everything but the game."""
        self._spare = self._tree or self._spare
        self._tree = None
        self._most_in_memory: int | None = None  # nodes, once memory has run out
        self._begin_here()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root: of its subtree if the tree knows the position, else of an empty tree."""
        self.game = game.copy()
        if not self._parameters.reuse_tree or not self._find_position():
            self.clear()

    def _begin_here(self) -> None:
        """Makes the game's position the origin of the tree."""
        self.root = 0
        self.ownership_sums = no_ownership(0)
        self._origin = _origin_of(self.game)
        self._origin_moves = list(self.game.moves)
        self.origin_to_move = self.game.to_move

    def _find_position(self) -> bool:
        """Moves the root to the game's position; returns False if the tree does not know it."""
        game, known = self.game, len(self._origin_moves)
        if self._tree is None or _origin_of(game) != self._origin or game.moves[:known] != self._origin_moves:
            return False
        node = 0
        colour = self.origin_to_move
        for move in game.moves[known:]:
            node = trees.child_by_move(self._tree, node, index_of_point(move.point, game.width, game.height))
            if node == NO_NODE or move.colour != colour:
                return False
            colour = opponent(colour)
        state = self._tree.nodes["state"][node]
        if colour != game.to_move or state == trees.TERMINAL:
            return False
        if node != self.root and state == trees.EXPANDED and self.hides_passes:
            return False
        self.root = node
        # The siblings' subtrees are kept for an undo until half of the memory is in use.
        if node and self._tree.size[0] > self._most_nodes() // 2:
            trees.keep_subtree(self._tree, node)
            self._begin_here()
        return True

    @property
    def hides_passes(self) -> bool:
        """Whether a network does not see at the root that the game's last moves were passes.

        Elsewhere in the tree it does (`visits._complete_position`): a node that was not the root has priors for a game
        that another pass would end. They have decided which moves its visits tried, so these are given up too. So is,
        after an undo, a node that was the root once: the tree does not remember that.
        """
        return self._layout.ladders and self.game.passes > 0 and self.game.rules.scoring == "AREA"

    def _empty(self, capacity: int) -> Tree:
        """Returns an empty tree for `capacity` nodes, without ownership.

        It is the spare arena if that is large enough: the system clears new memory page by page when it is first used.
        """
        area = self.game.area
        spare, self._spare = self._spare, None
        if spare is None or len(spare.nodes) < capacity or not trees.matches(spare, area, self._layout):
            return trees.new_tree(capacity, area, self._layout)
        trees.empty(spare)
        return spare

    def _most_nodes(self) -> int:
        """Returns the number of nodes at which the tree stops growing."""
        size = trees.bytes_per_node(self.game.area, self._layout)
        most = int(self._parameters.tree_megabytes * 1e6) // size
        return most if self._most_in_memory is None else min(most, self._most_in_memory)

    @property
    def is_full(self) -> bool:
        """Whether the tree cannot grow any more."""
        return self._tree is not None and int(self._tree.size[0]) >= self._most_nodes()

    def make_room(self, leaves: int, *, ownership: bool) -> Tree:
        """Lets the arena grow, and returns it.

        Without memory for more nodes it stays as large as it is.

        Args:
            leaves: The number of nodes to add next. The arena doubles if they do not fit, within its limit.
            ownership: Whether ownership has to be kept. Once it was, it is always kept, since a later search may
                report it.

        Raises:
            MemoryError: There is not enough memory for ownership.
        """
        tree = self.arrays
        full = tree.size[0] + leaves > len(tree.nodes)
        capacity = min(len(tree.nodes) * 2, self._most_nodes()) if full else len(tree.nodes)
        lacks_ownership = ownership and not len(tree.ownership)
        if capacity > len(tree.nodes) or lacks_ownership:
            try:
                self._tree = tree = self._grown(tree, capacity, ownership or bool(len(tree.ownership)))
            except MemoryError:
                if lacks_ownership:
                    raise
                self._most_in_memory = len(tree.nodes)
                logger.warning(f"not enough memory for a tree of more than {len(tree.nodes):,} nodes: it stops growing")
        return tree

    def _grown(self, tree: Tree, capacity: int, ownership: bool) -> Tree:
        """Returns a larger arena with the same nodes."""
        size = int(tree.size[0])
        larger = trees.new_tree(capacity, self.game.area, self._layout, ownership=ownership)
        larger.nodes[:size] = tree.nodes[:size]
        larger.priors[:size] = tree.priors[:size]
        larger.amaf[:size] = tree.amaf[:size]
        larger.ladders[:size] = tree.ladders[:size]
        if ownership:
            larger.ownership[:size, 0] = trees.OWNERSHIP_UNKNOWN
            larger.ownership[: min(size, len(tree.ownership))] = tree.ownership[:size]
        if len(larger.biases):
            fill_biases(larger.biases, larger.nodes[:size])
        larger.size[0] = size
        return larger

    def root_knows_ownership(self) -> bool:
        """Returns whether the root's ownership is known, and thus that of all nodes below it that were evaluated.

        Finished games that were counted instead have none.
        """
        tree = self._tree
        return tree is not None and len(tree.ownership) > 0 and tree.ownership[self.root, 0] != OWNERSHIP_UNKNOWN

    def sum_ownership(self) -> None:
        """Sums up the ownership of all nodes so far; later ones are added to `ownership_sums` one by one."""
        tree = self.arrays
        if len(tree.ownership):
            self.ownership_sums = no_ownership(self.game.area)
            add_ownership(tree, self.root, np.arange(self.root, tree.size[0], dtype=np.int32), self.ownership_sums)

    def children(self) -> np.ndarray:
        """Returns the root's visited children, int32."""
        children = np.zeros(self.game.area + 1, np.int32)
        return children[: trees.children_of(self.arrays, self.root, children)]

    def root_priors(self) -> np.ndarray:
        """Returns the evaluator's policy at the root, float32 [area+1]."""
        tree = self.arrays
        priors = tree.priors[self.root].astype(np.float32) / PRIOR_ONE
        _add_children(tree, self.root, priors)
        return priors


@njit
def _add_children(tree: Tree, node: int, priors: np.ndarray) -> None:
    """Writes the priors of a node's children: its row of `Tree.priors` no longer has them."""
    child = tree.nodes[node]["first_child"]
    while child != NO_NODE:
        priors[tree.nodes[child]["move"]] = tree.nodes[child]["prior"]
        child = tree.nodes[child]["next_sibling"]


def _origin_of(game: Game) -> tuple[object, ...]:
    """Returns everything but the moves that two games must have in common to share a tree."""
    komi = float(game.board["komi"][0])  # with the compensation for handicap stones, which the first moves decide
    start = game.history_start, tuple(game.setup_stones), game.first_captures
    return game.width, game.height, game.rules, komi, *start
