"""The search of one game: batches of leaves until a limit is reached, and what they found."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..evaluate.inputs import mark_earlier_ladders, new_workspace
from ..evaluate.interface import Evaluator, Outputs
from ..game.coords import PASS, index_of_point, point_of_index
from ..game.game import Game
from .averaging import Averaging
from .game_tree import GameTree
from .group import Group
from .gumbel import NO_HALVING, halving_of, policy_target
from .parameters import SearchParameters
from .ranking import make_report
from .report import SearchReport
from .selection import Root, rule_of
from .tree import Parts
from .utility import Utility, centred
from .visits import MAX_DEPTH, View, judge_anew

_NO_LIMIT = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Limits:
    """Where a search ends: visits of the root (reused ones included), seconds, whichever comes first; None for none."""

    visits: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class RootMoves:
    """Which moves the search may make.

    avoid: (colour, point, depth): that colour may not play there in the first `depth` moves from the root.
    allow: the same, but everything else is forbidden to that colour; empty allows all.
    """

    avoid: tuple[tuple[int, int, int], ...] = ()
    allow: tuple[tuple[int, int, int], ...] = ()


class Search:
    """One game's tree, searched. It belongs to one thread and is not for two at once.

    `run` does it all with the search's own evaluator. Whoever evaluates the leaves of many searches together
    (`search.scheduler`) calls `begin`, then has a `group.Group` search, and calls `report`.
    """

    def __init__(
        self, evaluator: Evaluator, parameters: SearchParameters | None = None, seed: int | None = None
    ) -> None:
        self.evaluator = evaluator
        self.parameters = parameters or SearchParameters()
        self._random = np.random.default_rng(seed)
        self.tree = GameTree(self.parameters, parts_of(self.parameters, evaluator))
        self._workspace = new_workspace()
        self._turns = np.random.SeedSequence(seed).spawn(1)[0].generate_state(1, np.uint64)
        self._visits_before = 0
        self.root_outputs: Outputs | None = None
        """What the evaluator said of the root, where this search has asked it."""

    def clear(self) -> None:
        """Forgets the tree."""
        self.tree.clear()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root of the next search.

        The tree is kept where the game goes on from a position that it knows: own and opponent's moves, an undo, the
        same moves replayed from the start.
        """
        self.tree.set_position(game)

    @property
    def visits(self) -> int:
        """The root's visits."""
        return self.tree.visits

    @property
    def playouts(self) -> int:
        """Those since the search began."""
        return self.tree.visits - self._visits_before

    def run(
        self,
        limits: Limits,
        *,
        stop: threading.Event | None = None,
        on_report: Callable[[SearchReport], None] | None = None,
        interval: float | None = None,
        root_moves: RootMoves | None = None,
        ownership: bool = False,
        moves_ownership: bool = False,
    ) -> SearchReport:
        """Searches until a limit, or until `stop` is set, and reports.

        The root is evaluated in any case. Visits of moves that `root_moves` forbids do not count towards the limit.
        `on_report` is called every `interval` seconds, from the searching thread.
        Under a time limit the search ends early when no other move can catch up with the leader.
        """
        start = time.perf_counter()
        stop = stop or threading.Event()
        ownership = ownership or moves_ownership
        self.begin(limits, root_moves, ownership=ownership)
        group = Group(self.evaluator)
        group.enter(self)
        try:
            if not self.tree.is_evaluated:
                self._advance(group, group.states()[0]["room"], 1)
            next_report = start + interval if interval is not None and on_report else float("inf")
            while True:
                now = time.perf_counter()
                if now >= next_report and on_report and interval is not None:
                    on_report(self.report(now - start, ownership=ownership, moves_ownership=moves_ownership))
                    next_report = max(next_report + interval, now)
                overlap = self.evaluator.overlap
                state = group.states(overlap - 1)[0]
                if stop.is_set() or self._reached(limits, int(state["left"]), now - start):
                    break
                if not self._advance(group, int(state["room"]), overlap):
                    # The tree is full: an endless search waits for whoever ends it.
                    if limits.seconds is not None or limits.visits is not None:
                        break
                    stop.wait(0.05)
            while group.pending:
                group.collect()
        except BaseException:
            self.clear()  # leaves in flight would wait for ever
            raise
        seconds = time.perf_counter() - start
        return self.report(seconds, ownership=ownership, moves_ownership=moves_ownership)

    def begin(self, limits: Limits, root_moves: RootMoves | None = None, *, ownership: bool = False) -> None:
        """Prepares the root for a `group.Group`, with the parameters as they are now; with `ownership` the tree keeps
        it from now on.
        """
        self._rule = rule_of(self.parameters)
        self._averaging = _averaging_of(self.parameters)
        if ownership and limits.visits is not None and not self.tree.root_knows_ownership():
            self.clear()  # its visits would count towards the limit, and leave too few that know ownership
        halves = self.parameters.gumbel_moves > 0 and limits.visits is not None
        if halves and self.tree.visits > 1:
            self.clear()  # halving begins with moves that have no visits
        self._visits_to_halve = limits.visits - 1 if halves and limits.visits is not None else 0
        game = self.tree.game
        self.tree.make_room(1, ownership=ownership)
        self.tree.sum_ownership()
        boards = game.board.copy()
        if game.is_over:
            boards["passes"] = 0  # asked for a move after the end: the game goes on
        if self.evaluator.reads_ladders:
            mark_earlier_ladders(game, self._workspace, boards)
        known = game.superko_history()
        history = np.zeros(len(known) + MAX_DEPTH, np.uint64)
        history[: len(known)] = known
        banned = _banned(game, root_moves or RootMoves())
        noisy = self.parameters.root_noise > 0 or self.parameters.root_policy_temperature != 1
        priors = np.ones(game.area + 1, np.float32)
        self._root = Root(self.tree.root, boards, history, len(known), priors, noisy, banned, NO_HALVING)
        self._limit = min(limits.visits, _NO_LIMIT) if limits.visits is not None else _NO_LIMIT
        self._visits_before = self.tree.visits
        self.root_outputs = None
        self._utility = self._utility_of(0.0)
        if self.tree.is_evaluated:
            node = self.tree.arrays.nodes[self.tree.root]
            self._utility = self._utility_of(float(node["score_sum"] / node["weight"]))
            if self._utility.dynamic and not self._averaging.plain:
                judge_anew(self.tree.arrays, self.tree.origin_to_move, game.area, self._utility, self._averaging)
            self._look_at_root()

    def view(self) -> View:
        """This search as compiled code sees it, until the next call that says so."""
        return View(
            self.tree.arrays,
            self._root,
            self._rule,
            self._utility,
            self._averaging,
            self.tree.owned,
            bool(self._root.banned_until.any()),
            self._limit,
            self.parameters.batch_size,
            self._turns,
        )

    def meet_root(self, outputs: Outputs, row: int) -> None:
        """Goes on once the evaluator has seen the root, and that is backed up; it changes the view."""
        self._utility = self._utility_of(float(outputs.score_mean[row]))
        # The evaluator writes over its own.
        rows = {name: None if said is None else said[row : row + 1].copy() for name, said in vars(outputs).items()}
        self.root_outputs = Outputs(**rows)  # type: ignore[arg-type]
        self._look_at_root()

    def _utility_of(self, score: float) -> Utility:
        """The utility for a root at which the side to move expects so many points."""
        game, parameters = self.tree.game, self.parameters
        scale = Utility(float(parameters.score_utility), float(parameters.dynamic_score_utility), 0.0)
        return centred(scale, score, game.area, game.to_move)

    def _look_at_root(self) -> None:
        """Prepares what depends on the root's evaluation."""
        self._vary_priors()
        if self._visits_to_halve:
            priors = self._root.priors if self._root.noisy else self.tree.root_priors()
            noise = self.parameters.gumbel_noise * self._random.gumbel(size=len(priors))
            moves, visits = self.parameters.gumbel_moves, self._visits_to_halve
            self._root = self._root._replace(halving=halving_of(priors, self._banned_now(), moves, visits, noise))

    def _vary_priors(self) -> None:
        """Makes the root's own priors: levelled by a temperature (KataGo), with Dirichlet noise among the legal moves
        (AlphaZero, Silver et al. 2018).
        """
        if not self._root.noisy:
            return
        share, priors = self.parameters.root_noise, self.tree.root_priors()
        legal = np.flatnonzero(priors)
        levelled = priors[legal].astype(np.float64) ** (1 / self.parameters.root_policy_temperature)
        priors[legal] = levelled / levelled.sum()
        if share > 0:
            noise = self._random.dirichlet(np.full(len(legal), self.parameters.dirichlet_alpha / len(legal)))
            priors[legal] = (1 - share) * priors[legal] + share * noise
        self._root.priors[:] = priors

    @staticmethod
    def _advance(group: Group, wanted: int, overlap: int) -> bool:
        """Submits a batch of up to `wanted` visits, and takes back the oldest one when `overlap` are under way or none
        was to be had; False where nothing could be done.
        """
        begun = Search._submit(group, wanted) if wanted > 0 else 0
        if group.pending and (len(group.pending) >= overlap or begun == 0):
            group.collect()
            return True
        return begun > 0

    @staticmethod
    def _submit(group: Group, wanted: int) -> int:
        """Begins up to `wanted` visits; how many."""
        batch, _, done = group.select(np.zeros(1, np.int64), wanted)
        if batch.count:
            group.submit(batch)
        else:
            group.release(batch)
        return batch.count + int(done[0])

    def _banned_now(self) -> np.ndarray:
        """Which moves may not be played at the root, bool [area+1]."""
        return self._root.banned_until[self.tree.game.to_move] > 0

    def _reached(self, limits: Limits, left: int, elapsed: float) -> bool:
        if left <= 0:
            return True
        if limits.seconds is None:
            return False
        return elapsed >= limits.seconds or self._settled(limits.seconds, left, elapsed)

    def _settled(self, seconds: float, left: int, elapsed: float) -> bool:
        """Whether the visits still to come cannot change the most visited move."""
        if self.playouts < 100:
            return False
        remaining = min(self.playouts / elapsed * (seconds - elapsed), left)
        nodes = self.tree.arrays.nodes[self.tree.children()]
        counts = np.sort(nodes["visits"][~self._banned_now()[nodes["move"]]])[::-1]
        if not len(counts):
            return False
        runner_up = counts[1] if len(counts) > 1 else 0
        return bool(counts[0] - runner_up > remaining)

    def report(self, seconds: float, *, ownership: bool = False, moves_ownership: bool = False) -> SearchReport:
        """What the tree says now, `seconds` after the search began."""
        return make_report(
            self.tree,
            self.parameters,
            self._root,
            self._rule,
            playouts=self.playouts,
            seconds=seconds,
            ownership=ownership,
            moves_ownership=moves_ownership,
        )

    def policy_target(self, report: SearchReport) -> np.ndarray:
        """What a network should learn to say of the root's moves, float32 [area+1], sums to 1.

        These are shares of the weight that speaks for each, or Gumbel's improved policy; the policy itself where no
        move has a visit.
        """
        if len(self._root.halving.schedule):
            return policy_target(self.tree.arrays, self.tree.root, self._root.halving)
        target = np.zeros_like(report.priors)
        for move in report.moves:
            target[index_of_point(move.point, report.width, report.height)] = move.selection
        if not target.any():
            target = report.priors.copy()
        return target / target.sum()

    def choose(self, report: SearchReport, temperature: float | None = None) -> int:
        """The point to play: the best, or by chance in proportion to visits^(1/temperature).

        Without a temperature the parameters' own holds, for the game's first `temperature_moves`. Where no move has a
        visit the priors decide in their place, where none is allowed it is a pass.
        """
        if temperature is None:
            early = len(self.tree.game.moves) < self.parameters.temperature_moves
            temperature = self.parameters.temperature if early else 0.0
        if report.moves:
            points = [move.point for move in report.moves]
            weights = np.array([move.selection for move in report.moves])
        else:
            order = np.argsort(-report.priors, kind="stable")[: np.count_nonzero(report.priors)]
            points = [point_of_index(int(move), report.width, report.height) for move in order]
            weights = report.priors[order].astype(np.float64)
        if temperature <= 0 or not points:
            return points[0] if points else PASS
        weights = (weights / weights.max()) ** (1 / temperature)
        return points[int(self._random.choice(len(weights), p=weights / weights.sum()))]


def parts_of(parameters: SearchParameters, evaluator: Evaluator) -> Parts:
    """What the tree of such a search keeps."""
    rave = parameters.selection == "puct" and parameters.rave > 0 and evaluator.plays_out
    return Parts(rave, evaluator.reads_ladders, parameters.value_bias > 0)


def _averaging_of(parameters: SearchParameters) -> Averaging:
    numbers = parameters.better_children, parameters.noise_pruning, parameters.value_bias
    return Averaging(not any(numbers), *map(float, (*numbers, parameters.uncertainty)))


def _banned(game: Game, root_moves: RootMoves) -> np.ndarray:
    """`tree.Root.banned_until` for avoided and allowed moves."""
    banned = np.zeros((3, game.area + 1), np.int16)
    for colour in {colour for colour, _, _ in root_moves.allow}:
        allowed = [(point, depth) for mover, point, depth in root_moves.allow if mover == colour]
        banned[colour] = max(depth for _, depth in allowed)
        for point, _ in allowed:
            banned[colour, index_of_point(point, game.width, game.height)] = 0
    for colour, point, depth in root_moves.avoid:
        banned[colour, index_of_point(point, game.width, game.height)] = depth
    return banned
