"""The tree of one game: it goes on from move to move, grows, and is thinned out."""

import numpy as np

from ..compiled import njit
from ..game.coords import index_of_point, opponent
from ..game.game import Game
from ..log import log
from . import tree as trees
from .ownership import add_ownership, no_ownership
from .parameters import SearchParameters
from .tree import NOBODY, OWNERSHIP_UNKNOWN, PRIOR_ONE, UNEVALUATED, Parts, Tree
from .value_bias import fill_biases

# Of many small searches side by side each has an arena of its own: it begins small.
_FIRST_CAPACITY = 1024


class GameTree:
    """The arena, and where in it the game stands.

    game: the position of the root. root: its node; its siblings' subtrees may still be there, for an undo.
    origin_to_move: the colour to move at the tree's origin.
    owned: the sums of `ownership` over the root's subtree.
    """

    def __init__(self, parameters: SearchParameters, parts: Parts) -> None:
        self._parameters = parameters
        self._parts = parts
        self._tree: Tree | None = None
        self._spare: Tree | None = None  # the last one that was thrown away
        self.game = Game()
        self.clear()

    @property
    def arrays(self) -> Tree:
        """The arena as it is now: another one once it has grown."""
        if self._tree is None:
            self._tree = self._empty(min(_FIRST_CAPACITY, self._most_nodes()), False)
        return self._tree

    @property
    def visits(self) -> int:
        """The root's visits."""
        return int(self._tree.nodes["visits"][self.root]) if self._tree is not None else 0

    @property
    def is_evaluated(self) -> bool:
        """Whether the evaluator has seen the root."""
        return bool(self.arrays.nodes["state"][self.root] != UNEVALUATED)

    def clear(self) -> None:
        """Forgets everything but the game."""
        self._spare = self._tree or self._spare
        self._tree = None
        self._most_in_memory: int | None = None  # nodes, once there was no room for more
        self._begin_here()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root, in the tree where it is known there, else in an empty one."""
        self.game = game.copy()
        if not self._parameters.reuse_tree or not self._find_position():
            self.clear()

    def _begin_here(self) -> None:
        """From here on the tree begins at the game's position."""
        self.root = 0
        self.owned = no_ownership(0)
        self._origin = _origin_of(self.game)
        self._origin_moves = list(self.game.moves)
        self.origin_to_move = self.game.to_move

    def _find_position(self) -> bool:
        """Moves the root to the game's position; False where the tree does not know it."""
        game, known = self.game, len(self._origin_moves)
        if self._tree is None or _origin_of(game) != self._origin or game.moves[:known] != self._origin_moves:
            return False
        node = 0
        colour = self.origin_to_move
        for move in game.moves[known:]:
            node = trees.child_by_move(self._tree, node, index_of_point(move.point, game.width, game.height))
            if node == NOBODY or move.colour != colour:
                return False
            colour = opponent(colour)
        if colour != game.to_move or self._tree.nodes["state"][node] == trees.TERMINAL:
            return False
        self.root = node
        # The siblings' trees are kept for an undo while there is room.
        if node and self._tree.size[0] > self._most_nodes() // 2:
            return self._rebase()
        return True

    def _rebase(self) -> bool:
        """Throws away all but the root's subtree; False where there is no memory for it."""
        assert self._tree is not None
        try:
            target = self._empty(len(self._tree.nodes), bool(len(self._tree.ownership)))
        except MemoryError:
            return False
        trees.copy_subtree(self._tree, self.root, target)
        self._tree, self._spare = target, self._tree
        self._begin_here()
        return True

    def _empty(self, capacity: int, ownership: bool) -> Tree:
        """A tree with room for `capacity` nodes: the spare one where it will do, since new memory is slow."""
        area = self.game.area
        spare, self._spare = self._spare, None
        if (
            spare is None
            or len(spare.nodes) < capacity
            or not trees.holds(spare, area, self._parts, ownership=ownership)
        ):
            return trees.new_tree(capacity, area, self._parts, ownership=ownership)
        trees.empty(spare)
        return spare

    def _most_nodes(self) -> int:
        """Where the tree stops growing."""
        size = trees.bytes_per_node(self.game.area, self._parts)
        most = int(self._parameters.tree_megabytes * 1e6) // size
        return most if self._most_in_memory is None else min(most, self._most_in_memory)

    def make_room(self, leaves: int, *, ownership: bool) -> Tree:
        """The arena with room for so many leaves more, unless it may not grow, and for ownership where that is asked
        for; once it has been, it is kept for all, since a later search may show it.

        Without memory for more nodes the tree is full as it is. MemoryError where there is none for ownership.
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
                log(f"no memory for a tree of more than {len(tree.nodes):,} nodes: it stays as large as it is")
        return tree

    def _grown(self, tree: Tree, capacity: int, ownership: bool) -> Tree:
        """A tree with the same nodes and more room."""
        size = int(tree.size[0])
        larger = trees.new_tree(capacity, self.game.area, self._parts, ownership=ownership)
        larger.nodes[:size] = tree.nodes[:size]
        larger.priors[:size] = tree.priors[:size]
        larger.first_plays[:size] = tree.first_plays[:size]
        larger.ladders[:size] = tree.ladders[:size]
        if ownership:
            larger.ownership[:size, 0] = trees.OWNERSHIP_UNKNOWN
            larger.ownership[: min(size, len(tree.ownership))] = tree.ownership[:size]
        if len(larger.biases):
            fill_biases(larger.biases, larger.nodes[:size])
        larger.size[0] = size
        return larger

    def root_knows_ownership(self) -> bool:
        """Whether the root's ownership is known, and so that of all below it."""
        tree = self._tree
        return tree is not None and len(tree.ownership) > 0 and tree.ownership[self.root, 0] != OWNERSHIP_UNKNOWN

    def sum_ownership(self) -> None:
        """Sums up what the tree knows, where it keeps ownership; what comes later is to be added to `owned`."""
        tree = self.arrays
        if len(tree.ownership):
            self.owned = no_ownership(self.game.area)
            add_ownership(tree, self.root, np.arange(self.root, tree.size[0], dtype=np.int32), self.owned)

    def children(self) -> np.ndarray:
        """The root's visited children."""
        children = np.zeros(self.game.area + 1, np.int32)
        return children[: trees.children_of(self.arrays, self.root, children)]

    def root_priors(self) -> np.ndarray:
        """The evaluator's policy at the root, float32 [area+1]."""
        tree = self.arrays
        priors = tree.priors[self.root].astype(np.float32) / PRIOR_ONE
        _add_children(tree, self.root, priors)
        return priors


@njit
def _add_children(tree: Tree, node: int, priors: np.ndarray) -> None:
    child = tree.nodes[node]["first_child"]
    while child != NOBODY:
        priors[tree.nodes[child]["move"]] = tree.nodes[child]["prior"]
        child = tree.nodes[child]["next_sibling"]


def _origin_of(game: Game) -> tuple[object, ...]:
    """What must be the same for a tree to be of use: everything but the moves."""
    return game.width, game.height, game.rules, game.komi, game.history_start, tuple(game.setup_stones)
