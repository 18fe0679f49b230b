"""The search of one game: its tree, which is kept from move to move, and a search while it is under way."""

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..base.jit import njit
from ..go.coords import BLACK, EMPTY, as_colour, index_of_point, opponent
from ..go.game import Game
from . import tree as trees
from .averaging import Averaging, Utility, centred
from .evaluate.evaluator import Evaluator
from .evaluate.features import mark_earlier_ladders, new_workspace
from .evaluate.human_profile import check_profile
from .evaluate.row import EvaluationRow
from .gumbel import NO_HALVING, plan_halving
from .mirror import mirroring_opponent
from .parameters import SearchParameters
from .repetition import repeated_moves
from .request import RootMoves, SearchRequest
from .root_symmetry import find_symmetries, mirrored_moves
from .selection import Root, rule_of
from .transpositions import fill_table
from .tree import (
    MAX_DEPTH,
    NO_NODE,
    PRIOR_ONE,
    UNEVALUATED,
    OwnershipSums,
    Tree,
    TreeLayout,
    no_ownership,
    node_of,
    sum_ownership,
)
from .value_bias import fill_biases
from .visits import SearchState, rescore_tree

if TYPE_CHECKING:
    from .report import SearchReport

logger = logging.getLogger(__name__)

_NO_LIMIT = np.iinfo(np.int64).max // 2
# Nodes. Each of many searches side by side has an arena of its own, so it starts small.
_FIRST_CAPACITY = 1024


class Search:
    """The tree of one game, searched by one evaluator. It belongs to one thread, and one search uses it at a time.

    `scheduler.run_search` searches it alone, a `scheduler.Scheduler` together with others.

    Attributes:
        evaluator: Evaluates the leaves.
        parameters: The parameters of requests that have none of their own.
        random: The generator for the noise at the root and the choice of moves.
        game: The position of the root.
        root: Its node. Its siblings' subtrees may still be in the arena, for an undo.
        evaluated_root: The node that was last evaluated as a root, and the optimism of its policy; or None.
        ownership_sums: The ownership of the root's subtree if the search under way needs it, or else nothing.
        random_state: uint64 [1], the state of the compiled generator of symmetries and wide root noise.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        parameters: SearchParameters | None = None,
        seed: int | None = None,
        *,
        ownership: bool = False,
    ) -> None:
        """Makes an empty tree.

        Args:
            evaluator: Evaluates the leaves.
            parameters: The tree's layout, its largest size and whether it is reused depend on these in any case; None
                for the defaults.
            seed: The seed of the noise at the root, the symmetries and the choice of moves.
            ownership: Whether to keep ownership before a request needs it, which would clear a tree without it.
        """
        self.evaluator = evaluator
        self.parameters = parameters or SearchParameters()
        self.random = np.random.default_rng(seed)
        self.random_state = np.random.SeedSequence(seed).spawn(1)[0].generate_state(1, np.uint64)
        self._made_with = self.parameters
        self._layout = layout_for(self.parameters, evaluator)._replace(ownership=ownership)
        self._workspace = new_workspace()
        self._tree: Tree | None = None
        self._spare: Tree | None = None  # the last arena, once it was cleared
        self._dead: frozenset[int] = frozenset()  # of the last request, as is the next
        self._doublings = 0.0  # the playout doubling advantage of Black
        self._restriction: tuple[object, ...] | None = None  # the last root whose moves were restricted, and how
        self.game = Game()
        self.clear()

    @property
    def tree(self) -> Tree:
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
        return bool(self.tree.nodes["state"][self.root] != UNEVALUATED)

    def clear(self) -> None:
        """Clears the tree."""
        self._spare = self._tree or self._spare
        self._tree = None
        self._most_in_memory: int | None = None  # nodes, once memory has run out
        self._begin_here()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root, as every search does with its own.

        The tree is kept if it knows the position: after moves of either player, after an undo, and if the same moves
        are replayed from the start.
        """
        self.game = game.copy()
        if not self._made_with.reuse_tree or not self._find_position():
            self.clear()

    def begin(self, request: SearchRequest) -> "ActiveSearch":
        """Prepares the tree for a search of the request's position and returns the search."""
        self.set_position(request.game)
        parameters, visits = request.parameters or self.parameters, request.limits.visits
        if request.dead != self._dead and self._has_counts():
            self.clear()  # games that ended in it were counted with other stones dead
        self._dead = request.dead
        if (doublings := self._doublings_of(parameters)) != self._doublings:
            self.clear()  # its nodes were evaluated for other players
            self._doublings = doublings
        if request.needs_ownership and not self._layout.ownership:
            self._layout = self._layout._replace(ownership=True)
            self.clear()
        if parameters.gumbel_moves > 0 and visits is not None and self.visits > 1:
            self.clear()  # sequential halving starts with moves that have no visits
        banned_until, symmetries = _banned_until(self.game, request.root_moves), tuple[int, ...]()
        restriction = (tuple(self.game.moves), banned_until.tobytes()) if banned_until.any() else None
        if restriction != self._restriction:
            self.clear()  # its values rest on moves that are forbidden now, or on others than those allowed then
            self._restriction = restriction
        if parameters.root_symmetry_pruning:
            symmetries = find_symmetries(self.game, banned_until, request.dead)
        mirrored = mirrored_moves(self.game, symmetries)
        if symmetries and mirrored[self.tree.nodes["move"][self.children()]].any():
            self.clear()  # the visits of mirror images would count for no move
        self.make_room(1)
        # As in KataGo a node that becomes the root is evaluated again if the evaluator treats roots differently.
        differs = parameters.root_policy_optimism != parameters.policy_optimism and self.evaluator.has_optimism
        as_root = self.root, parameters.root_policy_optimism
        if self.visits and self.evaluated_root != as_root and (differs or self.hides_passes):
            self.tree.nodes["state"][self.root] = UNEVALUATED
            self.tree.ownership[self.root : self.root + 1, 0] = trees.OWNERSHIP_UNKNOWN
        self.ownership_sums = self._summed_ownership() if request.needs_ownership else no_ownership(0)
        root = self._root(request, parameters, banned_until.copy())
        return ActiveSearch(self, replace(request, parameters=parameters), root, symmetries, mirrored)

    def _doublings_of(self, parameters: SearchParameters) -> float:
        """Returns the playout doubling advantage of Black, which the parameters give to the player at the root."""
        advantage = float(parameters.playout_doubling_advantage)
        return advantage if self.game.to_move == BLACK else -advantage

    def _root(self, request: SearchRequest, parameters: SearchParameters, banned_until: np.ndarray) -> Root:
        """Returns the root as it is before its evaluation: without noise and sequential halving."""
        game = self.game
        boards = game.board.copy()
        boards["doublings"] = self._doublings
        if game.is_over:
            boards["passes"] = 0  # a move was requested after the end: play continues
        if self.evaluator.reads_ladders:
            mark_earlier_ladders(game, self._workspace, boards)
        known = game.superko_history()
        history = np.zeros(len(known) + MAX_DEPTH, np.uint64)
        history[: len(known)] = known
        temperature = parameters.root_policy_temperature_after(len(game.moves), game.area)
        noisy = parameters.root_noise > 0 or temperature != 1
        priors = np.ones(game.area + 1, np.float32)
        return Root(
            node=self.root,
            boards=boards,
            history=history,
            length=len(known),
            priors=priors,
            noisy=noisy,
            banned_until=banned_until,
            hides_passes=self.hides_passes,
            dead=np.array(sorted(request.dead), np.int16),
            penalties=_penalties(game, parameters.avoid_repeated_patterns),
            mirroring=mirroring_opponent(game) if parameters.anti_mirror else EMPTY,
            halving=NO_HALVING,
            random=self.random_state,
        )

    def choose(self, report: "SearchReport", temperature: float | None = None) -> int:
        """Chooses the point to play (`SearchReport.choose`); None is the temperature that the parameters have now."""
        if temperature is None:
            temperature = self.parameters.temperature_after(len(self.game.moves), self.game.area)
        return report.choose(temperature, self.random)

    # The tree.

    def _begin_here(self, node: int = 0) -> None:
        """Makes the game's position the origin of the tree, at this node of it."""
        self.root = self._origin_node = node
        self.evaluated_root: tuple[int, float] | None = None
        self.ownership_sums = no_ownership(0)
        self._origin = _origin_of(self.game)
        self._origin_moves = list(self.game.moves)
        self._origin_to_move = self.game.to_move

    def _find_position(self) -> bool:
        """Moves the root to the game's position; returns False if the tree does not know it."""
        game, known = self.game, len(self._origin_moves)
        if self._tree is None or _origin_of(game) != self._origin or game.moves[:known] != self._origin_moves:
            return False
        node = self._origin_node
        colour = self._origin_to_move
        for move in game.moves[known:]:
            node = trees.child_by_move(self._tree, node, index_of_point(move.point, game.width, game.height))
            if node == NO_NODE or move.colour != colour:
                return False
            node = node_of(self._tree.nodes, node)
            colour = opponent(colour)
        state = self._tree.nodes["state"][node]
        if colour != game.to_move or state == trees.TERMINAL:
            return False
        is_visited = len(self._tree.keys) and self._tree.nodes["visits"][node] > 0
        if is_visited and not (state == trees.EXPANDED and self._allows_legal_moves(node)):
            return False
        self.root = node
        # The siblings' subtrees are kept for an undo until half of the memory is in use.
        if node != self._origin_node and self._tree.size[0] > self._most_nodes() // 2:
            self._begin_here(trees.keep_subtree(self._tree, node))
        return True

    def _allows_legal_moves(self, node: int) -> bool:
        """Whether the moves of a node are those that are legal in the game's position.

        With graph search superko may have forbidden others on the way by which the node was first reached.
        """
        return bool(np.array_equal(self.priors_at(node) > 0, self.game.legal_moves()))

    @property
    def hides_passes(self) -> bool:
        """Whether a network does not see at the root that the game's last moves were passes.

        Elsewhere in the tree it does (`visits._prepare_leaf`).
        """
        return self._layout.ladders and self.game.passes > 0 and self.game.rules.scoring == "AREA"

    def _empty(self, capacity: int) -> Tree:
        """Returns an empty tree for `capacity` nodes.

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
        most = int(self._made_with.tree_megabytes * 1e6) // size
        return most if self._most_in_memory is None else min(most, self._most_in_memory)

    def _has_counts(self) -> bool:
        """Returns whether a finished game in the tree has been counted."""
        tree = self._tree
        return tree is not None and bool(np.any(tree.nodes["state"][: tree.size[0]] == trees.TERMINAL))

    @property
    def is_full(self) -> bool:
        """Whether the tree cannot grow any more."""
        return self._tree is not None and int(self._tree.size[0]) >= self._most_nodes()

    def make_room(self, leaves: int) -> Tree:
        """Lets the arena grow, and returns it.

        If that many leaves do not fit, it doubles, up to its limit. If memory runs out, it stays as it is.
        """
        tree = self.tree
        full = tree.size[0] + leaves > len(tree.nodes)
        capacity = min(len(tree.nodes) * 2, self._most_nodes()) if full else len(tree.nodes)
        if capacity > len(tree.nodes):
            try:
                self._tree = tree = self._grown(tree, capacity)
            except MemoryError:
                self._most_in_memory = len(tree.nodes)
                logger.warning(f"not enough memory for a tree of more than {len(tree.nodes):,} nodes: it stops growing")
        return tree

    def _grown(self, tree: Tree, capacity: int) -> Tree:
        """Returns a larger arena with the same nodes."""
        size = int(tree.size[0])
        larger = trees.new_tree(capacity, self.game.area, self._layout)
        for name in ("nodes", "priors", "ownership", "amaf", "ladders", "keys"):
            getattr(larger, name)[:size] = getattr(tree, name)[:size]
        if len(larger.biases):
            fill_biases(larger.biases, larger.nodes[:size])
        if len(larger.keys):
            fill_table(larger.table, larger.keys[:size])
        larger.size[0] = size
        return larger

    def _summed_ownership(self) -> OwnershipSums:
        """Returns the sums over all nodes so far; later ones are added one by one."""
        sums = no_ownership(self.game.area)
        sum_ownership(self.tree, self.root, sums)
        return sums

    def children(self) -> np.ndarray:
        """Returns the root's visited children, int32."""
        children = np.zeros(self.game.area + 1, np.int32)
        return children[: trees.children_of(self.tree, self.root, children)]

    def priors_at(self, node: int) -> np.ndarray:
        """Returns the evaluator's policy at a node, float32 [area+1]."""
        tree = self.tree
        priors = tree.priors[node].astype(np.float32) / PRIOR_ONE
        _add_children(tree, node, priors)
        return priors


class ActiveSearch:
    """A search under way, made by `Search.begin`; scheduler and report (`make_report`) read it.

    Attributes:
        search: The search of the game.
        request: The request, with the parameters that are used.
        parameters, rule: These parameters, and those of selection for compiled code.
        root: The root, with noise and the plan of sequential halving once it is evaluated.
        symmetries: Those of the position if one of several mirror images is searched (`root_symmetry`), or else none.
        mirrored: bool [area+1], the allowed moves that are not searched because a mirror image is.
        visits_before: The root's visits when it began.
        root_evaluation: The evaluation of the root; None if it was in the tree already, or is not there yet.
    """

    def __init__(
        self, search: Search, request: SearchRequest, root: Root, symmetries: tuple[int, ...], mirrored: np.ndarray
    ) -> None:
        self.search = search
        self.request = request
        self.parameters = request.parameters or search.parameters
        check_profile(search.evaluator.name, search.evaluator.takes_profile, self.parameters.profile)
        self.root = root
        self.symmetries = symmetries
        banned_until = root.banned_until[search.game.to_move]
        self.mirrored = mirrored & (banned_until == 0)
        banned_until[self.mirrored] = 1
        self.rule = rule_of(self.parameters)
        self.root_evaluation: EvaluationRow | None = None
        numbers = self.parameters.better_children, self.parameters.noise_pruning, self.parameters.value_bias
        plain = not any(numbers) and not len(search.tree.keys)  # the averages of a graph are made of those of links
        self._averaging = Averaging(plain, *map(float, (*numbers, self.parameters.uncertainty)))
        self.visits_before = self.search.visits
        self._utility = self._utility_of(0.0)
        if self.visits_before:
            node = self.search.tree.nodes[self.search.root]
            self._utility = self._utility_of(float(node["score_sum"] / node["weight"]))
            if self._utility.dynamic and not self._averaging.plain:
                rescore_tree(self.search.tree, self.search.game.area, self._utility, self._averaging)
            if self.search.is_evaluated:
                self._prepare_root()

    @property
    def new_visits(self) -> int:
        """The root's visits since this search began."""
        return self.search.visits - self.visits_before

    def state(self) -> SearchState:
        """Returns this search for compiled code. It is replaced when the arena grows and when the root is evaluated."""
        visits = self.request.limits.visits
        return SearchState(
            self.search.tree,
            self.root,
            self.rule,
            self._utility,
            self._averaging,
            self.search.ownership_sums,
            int(self.root.banned_until.max()),
            min(visits, _NO_LIMIT) if visits is not None else _NO_LIMIT,
            self.parameters.batch_size,
        )

    def on_root_evaluated(self, row: np.ndarray) -> None:
        """Called with the root's evaluation row after it has been backed up; replaces the state."""
        self.root_evaluation = EvaluationRow(row.copy(), self.search.game.area)  # the evaluator reuses its rows
        self.search.evaluated_root = self.search.root, self.parameters.root_policy_optimism
        if not self.visits_before:
            self._utility = self._utility_of(self.root_evaluation.score_mean)
        self._prepare_root()

    @property
    def banned(self) -> np.ndarray:
        """bool [area+1], the moves that are forbidden at the root."""
        return np.asarray(self.root.banned_until[self.search.game.to_move] > 0)

    def _utility_of(self, score: float) -> Utility:
        """Returns the utility for a root at which the side to move expects this score, in points."""
        game, parameters = self.search.game, self.parameters
        scale = Utility(float(parameters.score_utility), float(parameters.dynamic_score_utility), 0.0)
        return centred(scale, score, game.area, game.to_move)

    def _prepare_root(self) -> None:
        """Adds what depends on the root's evaluation: noise, and the plan of sequential halving."""
        if self.root.noisy:
            self._add_root_noise()
        visits = self.request.limits.visits
        if self.parameters.gumbel_moves > 0 and visits is not None and visits > 1:
            priors = self.root.priors if self.root.noisy else self.search.priors_at(self.search.root)
            noise = self.parameters.gumbel_noise * self.search.random.gumbel(size=len(priors))
            halving = plan_halving(priors, self.banned, self.parameters.gumbel_moves, visits - 1, noise)
            self.root = self.root._replace(halving=halving)

    def _add_root_noise(self) -> None:
        """Writes the root's own priors: p^(1/temperature) (KataGo), mixed with Dirichlet noise on the legal moves
        (AlphaZero, Silver et al. 2018).
        """
        share, game = self.parameters.root_noise, self.search.game
        priors = self.search.priors_at(self.search.root)
        legal = np.flatnonzero(priors)
        temperature = self.parameters.root_policy_temperature_after(len(game.moves), game.area)
        levelled = priors[legal].astype(np.float64) ** (1 / temperature)
        priors[legal] = levelled / levelled.sum()
        if share > 0:
            alphas = concentrations(priors[legal], self.parameters.dirichlet_alpha, shaped=self.parameters.shaped_noise)
            noise = self.search.random.dirichlet(alphas)
            priors[legal] = (1 - share) * priors[legal] + share * noise
        self.root.priors[:] = priors


def concentrations(priors: np.ndarray, total: float, *, shaped: bool) -> np.ndarray:
    """Returns the concentrations of Dirichlet noise for legal moves with these priors, float64 [n] with this total.

    They are all alike, or shaped as in KataGo: half of the sum is spread evenly, the other half in proportion to how
    far the logarithm of a prior of at most 1 % lies above the mean, so that noise finds moves that are worth a look.
    """
    even = np.full(len(priors), total / len(priors))
    logarithms = np.log(np.minimum(priors.astype(np.float64), 0.01) + 1e-20)
    above = np.maximum(logarithms - logarithms.mean(), 0)
    return even / 2 + total / 2 * above / above.sum() if shaped and above.any() else even


def layout_for(parameters: SearchParameters, evaluator: Evaluator) -> TreeLayout:
    """Returns the layout of the tree that a search with these parameters needs, without ownership."""
    rave = parameters.selection == "puct" and parameters.rave > 0 and evaluator.has_amaf
    biases, graph = parameters.value_bias > 0, parameters.graph_search
    return TreeLayout(rave, evaluator.reads_ladders, biases, graph=graph)


def _penalties(game: Game, penalty: float) -> np.ndarray:
    """Returns `selection.Root.penalties`: this one for moves that repeat a pattern of the player's moves."""
    repeats = repeated_moves(game) if penalty else np.zeros(game.area + 1, bool)
    return repeats * np.float32(penalty)


def _banned_until(game: Game, root_moves: RootMoves) -> np.ndarray:
    """Returns `selection.Root.banned_until` for avoided and allowed moves, int16 [3, area+1]."""
    banned = np.zeros((3, game.area + 1), np.int16)
    for colour in {as_colour(colour) for colour, _, _ in root_moves.allow}:
        allowed = [(point, depth) for mover, point, depth in root_moves.allow if as_colour(mover) == colour]
        banned[colour] = min(max(depth for _, depth in allowed), MAX_DEPTH)
        for point, _ in allowed:
            banned[colour, index_of_point(point, game.width, game.height)] = 0
    for player, point, depth in root_moves.avoid:
        entry = as_colour(player), index_of_point(point, game.width, game.height)
        banned[entry] = max(banned[entry], min(depth, MAX_DEPTH))
    if banned.any():  # what restricts nothing is left out: it would only clear the tree
        banned[opponent(game.to_move)][banned[opponent(game.to_move)] == 1] = 0
        banned[game.to_move][(banned[game.to_move] == 1) & ~game.legal_moves()] = 0
    return banned


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
