"""The search of one game: its tree, which is kept from move to move, and a search while it is under way."""

from dataclasses import replace

import numpy as np

from ..go.coords import as_colour, index_of_point
from ..go.game import Game
from .averaging import Averaging
from .evaluate.evaluator import Evaluator
from .evaluate.features import mark_earlier_ladders, new_workspace
from .evaluate.human_profile import check_profile
from .evaluate.row import EvaluationRow
from .game_tree import GameTree
from .gumbel import NO_HALVING, plan_halving
from .parameters import SearchParameters
from .report import SearchReport
from .request import RootMoves, SearchRequest
from .selection import Root, rule_of
from .tree import TreeLayout
from .utility import Utility, centred
from .visits import MAX_DEPTH, SearchState, rescore_tree

_NO_LIMIT = np.iinfo(np.int64).max // 2
# With fewer new visits their rate does not predict the number of those to come.
_LEAST_VISITS_TO_SETTLE = 100


class Search:
    """The tree of one game, searched by one evaluator. It belongs to one thread, and one search uses it at a time.

    `scheduler.run_search` searches it alone, a `scheduler.Scheduler` together with others.

    Attributes:
        evaluator: Evaluates the leaves.
        parameters: The parameters of requests that have none of their own.
        tree: The tree.
        random: The generator for the noise at the root and the choice of moves.
    """

    def __init__(
        self, evaluator: Evaluator, parameters: SearchParameters | None = None, seed: int | None = None
    ) -> None:
        """Makes an empty tree.

        Args:
            evaluator: Evaluates the leaves.
            parameters: The parameters of requests that have none of their own; None for the defaults. The layout of the
                tree and its largest size depend on these in any case.
            seed: The seed of the noise at the root, the symmetries and the choice of moves; None for a random one.
        """
        self.evaluator = evaluator
        self.parameters = parameters or SearchParameters()
        self.tree = GameTree(self.parameters, layout_for(self.parameters, evaluator))
        self.random = np.random.default_rng(seed)
        self.symmetry_state = np.random.SeedSequence(seed).spawn(1)[0].generate_state(1, np.uint64)
        """uint64 [1], the state of the compiled generator of symmetries."""
        self._workspace = new_workspace()

    def clear(self) -> None:
        """Clears the tree."""
        self.tree.clear()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root, as every search does with its own.

        The tree is kept if it knows the position: after moves of either player, after an undo, and if the same moves
        are replayed from the start. With a network and area scoring it is not kept after a pass, which a network must
        not see at the root.
        """
        self.tree.set_position(game)

    @property
    def visits(self) -> int:
        """The root's visits."""
        return self.tree.visits

    def begin(self, request: SearchRequest) -> "ActiveSearch":
        """Prepares the tree for a search of the request's position and returns the search."""
        self.set_position(request.game)
        parameters, visits = request.parameters or self.parameters, request.limits.visits
        lacks_ownership = request.needs_ownership and not self.tree.root_knows_ownership()
        if lacks_ownership and (visits is not None or self.tree.is_full):
            self.clear()  # its visits would count towards the limit, or take all the memory, but have no ownership
        if parameters.gumbel_moves > 0 and visits is not None and self.visits > 1:
            self.clear()  # sequential halving starts with moves that have no visits
        self.tree.make_room(1, ownership=request.needs_ownership)
        self.tree.sum_ownership()
        return ActiveSearch(self, replace(request, parameters=parameters), self._root(request, parameters))

    def _root(self, request: SearchRequest, parameters: SearchParameters) -> Root:
        """Returns the root as it is before its evaluation: without noise and sequential halving."""
        game = self.tree.game
        boards = game.board.copy()
        if game.is_over:
            boards["passes"] = 0  # a move was requested after the end: play continues
        if self.evaluator.reads_ladders:
            mark_earlier_ladders(game, self._workspace, boards)
        known = game.superko_history()
        history = np.zeros(len(known) + MAX_DEPTH, np.uint64)
        history[: len(known)] = known
        banned_until = _banned_until(game, request.root_moves)
        noisy = parameters.root_noise > 0 or parameters.root_policy_temperature != 1
        priors = np.ones(game.area + 1, np.float32)
        hides_passes = self.tree.hides_passes
        return Root(self.tree.root, boards, history, len(known), priors, noisy, banned_until, hides_passes, NO_HALVING)

    def choose(self, report: SearchReport, temperature: float | None = None) -> int:
        """Chooses the point to play (`SearchReport.choose`); None is the temperature that the parameters have now."""
        if temperature is None:
            temperature = self.parameters.temperature_after(len(self.tree.game.moves))
        return report.choose(temperature, self.random)


class ActiveSearch:
    """A search under way, made by `Search.begin`; batcher and report (`ranking`) read it.

    Attributes:
        search: The search of the game.
        request: The request, with the parameters that are used.
        parameters: These parameters.
        tree: The game's tree.
        rule: The parameters of selection for compiled code.
        root: The root, with noise and the plan of sequential halving once it is evaluated.
        root_evaluation: The evaluation of the root; None if it was in the tree already, or is not there yet.
    """

    def __init__(self, search: Search, request: SearchRequest, root: Root) -> None:
        self.search = search
        self.request = request
        self.parameters = request.parameters or search.parameters
        check_profile(search.evaluator.name, search.evaluator.takes_profile, self.parameters.profile)
        self.tree = search.tree
        self.root = root
        self.rule = rule_of(self.parameters)
        self.root_evaluation: EvaluationRow | None = None
        self._averaging = _averaging_of(self.parameters)
        self._visits_before = self.tree.visits
        self._utility = self._utility_of(0.0)
        if self.tree.is_evaluated:
            node = self.tree.arrays.nodes[self.tree.root]
            self._utility = self._utility_of(float(node["score_sum"] / node["weight"]))
            if self._utility.dynamic and not self._averaging.plain:
                rescore_tree(
                    self.tree.arrays, self.tree.origin_to_move, self.tree.game.area, self._utility, self._averaging
                )
            self._prepare_root()

    @property
    def new_visits(self) -> int:
        """The root's visits since this search began."""
        return self.tree.visits - self._visits_before

    def state(self) -> SearchState:
        """Returns this search for compiled code. It is replaced when the arena grows and when the root is evaluated."""
        visits = self.request.limits.visits
        return SearchState(
            self.tree.arrays,
            self.root,
            self.rule,
            self._utility,
            self._averaging,
            self.tree.ownership_sums,
            bool(self.root.banned_until.any()),
            min(visits, _NO_LIMIT) if visits is not None else _NO_LIMIT,
            self.parameters.batch_size,
            self.search.symmetry_state,
        )

    def on_root_evaluated(self, row: np.ndarray) -> None:
        """Called with the root's evaluation row after it has been backed up; replaces the state."""
        self.root_evaluation = EvaluationRow(row.copy(), self.tree.game.area)  # the evaluator reuses its rows
        self._utility = self._utility_of(self.root_evaluation.score_mean)
        self._prepare_root()

    def is_settled(self, elapsed: float, left: int) -> bool:
        """Returns whether no other move can overtake the most visited one within the time limit.

        Args:
            elapsed: Seconds since the search began.
            left: Visits up to the limit.
        """
        seconds = self.request.limits.seconds
        if seconds is None or self.new_visits < _LEAST_VISITS_TO_SETTLE:
            return False
        remaining = min(self.new_visits / elapsed * (seconds - elapsed), left)
        nodes = self.tree.arrays.nodes[self.tree.children()]
        counts = np.sort(nodes["visits"][~self.banned[nodes["move"]]])[::-1]
        if not len(counts):
            return False
        runner_up = counts[1] if len(counts) > 1 else 0
        return bool(counts[0] - runner_up > remaining)

    @property
    def banned(self) -> np.ndarray:
        """bool [area+1], the moves that are forbidden at the root."""
        return np.asarray(self.root.banned_until[self.tree.game.to_move] > 0)

    def _utility_of(self, score: float) -> Utility:
        """Returns the utility for a root at which the side to move expects this score, in points."""
        game, parameters = self.tree.game, self.parameters
        scale = Utility(float(parameters.score_utility), float(parameters.dynamic_score_utility), 0.0)
        return centred(scale, score, game.area, game.to_move)

    def _prepare_root(self) -> None:
        """Adds what depends on the root's evaluation: noise, and the plan of sequential halving."""
        if self.root.noisy:
            self._add_root_noise()
        visits = self.request.limits.visits
        if self.parameters.gumbel_moves > 0 and visits is not None and visits > 1:
            priors = self.root.priors if self.root.noisy else self.tree.root_priors()
            noise = self.parameters.gumbel_noise * self.search.random.gumbel(size=len(priors))
            halving = plan_halving(priors, self.banned, self.parameters.gumbel_moves, visits - 1, noise)
            self.root = self.root._replace(halving=halving)

    def _add_root_noise(self) -> None:
        """Writes the root's own priors: p^(1/temperature) (KataGo), mixed with Dirichlet noise on the legal moves
        (AlphaZero, Silver et al. 2018).
        """
        share, priors = self.parameters.root_noise, self.tree.root_priors()
        legal = np.flatnonzero(priors)
        levelled = priors[legal].astype(np.float64) ** (1 / self.parameters.root_policy_temperature)
        priors[legal] = levelled / levelled.sum()
        if share > 0:
            noise = self.search.random.dirichlet(np.full(len(legal), self.parameters.dirichlet_alpha / len(legal)))
            priors[legal] = (1 - share) * priors[legal] + share * noise
        self.root.priors[:] = priors


def layout_for(parameters: SearchParameters, evaluator: Evaluator) -> TreeLayout:
    """Returns the layout of the tree that a search with these parameters needs."""
    rave = parameters.selection == "puct" and parameters.rave > 0 and evaluator.is_rollout
    return TreeLayout(rave, evaluator.reads_ladders, parameters.value_bias > 0)


def _averaging_of(parameters: SearchParameters) -> Averaging:
    numbers = parameters.better_children, parameters.noise_pruning, parameters.value_bias
    return Averaging(not any(numbers), *map(float, (*numbers, parameters.uncertainty)))


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
    return banned
