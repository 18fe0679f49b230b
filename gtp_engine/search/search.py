"""The search of one game: batches of leaves until a limit is reached, and what they found."""

import copy
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..evaluate.inputs import mark_earlier_ladders, new_workspace
from ..evaluate.interface import ALL_SYMMETRIES, Evaluator, Outputs
from ..game.board import BOARD
from ..game.coords import BLACK, PASS, index_of_point, point_of_index
from ..game.game import Game
from .averaging import Averaging
from .game_tree import GameTree
from .gumbel import NO_HALVING, halving_of, policy_target
from .ownership import add_ownership, write_ownership
from .parameters import SearchParameters
from .ranking import make_report
from .report import SearchReport
from .selection import Root, rule_of
from .tree import Parts
from .utility import Utility, centre_of
from .visits import MAX_DEPTH, expand_and_back_up, judge_anew, select_leaves

_NO_FIRST_PLAYS = np.zeros((0, 2, 2, 1), np.float32)
_NO_OUTLOOK = np.zeros((0, 3), np.float32)
# Leaves chosen before the tree knows much are chosen blindly: at most a quarter of the visits is in flight.
_SHARE_IN_FLIGHT = 4
_TURNS_AHEAD = 1024  # a few random numbers at a time would take a hundredth of a small network's time


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


@dataclass
class _Batch:
    """Leaves under way: their positions, their nodes, and the evaluator's ticket for the first `count` of them."""

    boards: np.ndarray
    leaves: np.ndarray
    count: int = 0
    ticket: Any = None


class Search:
    """One game's tree, searched. It belongs to one thread and is not for two at once.

    `run` does it all with the search's own evaluator. Whoever evaluates the leaves of many searches together
    (`search.scheduler`) calls `begin`, then `room`, `select` and `absorb` in turns, and `report`.
    """

    def __init__(
        self, evaluator: Evaluator, parameters: SearchParameters | None = None, seed: int | None = None
    ) -> None:
        self.evaluator = evaluator
        self.parameters = parameters or SearchParameters()
        self._random = np.random.default_rng(seed)
        self.tree = GameTree(self.parameters, parts_of(self.parameters, evaluator))
        self._workspace = new_workspace()
        self._free: list[_Batch] = []
        self._pending: deque[_Batch] = deque()  # submitted, the oldest first
        self._playouts = 0
        self._turns = np.zeros(0, np.intp)  # symmetries to come
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
        if not self.tree.is_evaluated:
            self._advance(1, 1)
        next_report = start + interval if interval is not None and on_report else float("inf")
        while True:
            now = time.perf_counter()
            if now >= next_report and on_report and interval is not None:
                on_report(self.report(now - start, ownership=ownership, moves_ownership=moves_ownership))
                next_report = max(next_report + interval, now)
            if stop.is_set() or self._reached(limits, self.allowed_visits(), now - start):
                break
            in_flight = sum(batch.count for batch in self._pending)
            overlap = self.evaluator.overlap
            if not self._advance(self.room(limits, in_flight, overlap - 1), overlap):
                # The tree is full: an endless search waits for whoever ends it.
                if limits.seconds is not None or limits.visits is not None:
                    break
                stop.wait(0.05)
        while self._pending:
            self._collect()
        seconds = time.perf_counter() - start
        return self.report(seconds, ownership=ownership, moves_ownership=moves_ownership)

    def begin(self, limits: Limits, root_moves: RootMoves | None = None, *, ownership: bool = False) -> None:
        """Prepares the root for `select`, with the parameters as they are now; with `ownership` the tree keeps it from
        now on."""
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
        self._is_restricted = bool(banned.any())
        self._playouts = 0
        self.root_outputs = None
        self._utility = self._make_utility(0.0)
        if self.tree.is_evaluated:
            node = self.tree.arrays.nodes[self.tree.root]
            self._utility = self._make_utility(float(node["score_sum"] / node["weight"]))
            if self._utility.dynamic and not self._averaging.plain:
                judge_anew(self.tree.arrays, self.tree.origin_to_move, game.area, self._utility, self._averaging)
            self._look_at_root()

    def _make_utility(self, score: float) -> Utility:
        """The utility for a root at which the side to move expects so many points."""
        game, parameters = self.tree.game, self.parameters
        centre = centre_of(score if game.to_move == BLACK else -score, game.area)
        return Utility(parameters.score_utility, parameters.dynamic_score_utility, centre)

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

    def select(self, wanted: int, boards: np.ndarray, leaves: np.ndarray) -> tuple[int, int]:
        """Begins up to `wanted` visits: the positions to evaluate come into `boards` (BOARD), their nodes into `leaves`
        (int32). The first result is their number, the second that of visits which needed no evaluation and are done.
        Both are 0 where the tree is full, nothing is allowed at the root, or all that is worth a visit is under way.
        """
        tree = self.tree.make_room(wanted, ownership=False)
        count, done = select_leaves(
            tree, self._root, self._rule, self._utility, self._averaging, wanted, boards, leaves
        )
        self._playouts += int(done)
        return int(count), int(done)

    def absorb(self, boards: np.ndarray, leaves: np.ndarray, outputs: Outputs) -> None:
        """Gives the positions and leaves of a `select` what the evaluator said of them, and backs it up."""
        tree = self.tree.arrays
        is_root = leaves[0] == self.tree.root
        if is_root:
            self._utility = self._make_utility(float(outputs.score_mean[0]))
            self.root_outputs = copy.deepcopy(outputs.rows(0, 1))  # the evaluator writes over its own
        expand_and_back_up(
            tree,
            self.tree.root,
            boards,
            leaves,
            outputs.policy,
            outputs.value,
            outputs.lead,
            outputs.score_mean,
            outputs.score_stdev,
            outputs.outlook if outputs.outlook is not None else _NO_OUTLOOK,
            outputs.first_plays if outputs.first_plays is not None else _NO_FIRST_PLAYS,
            self._utility,
            self._averaging,
        )
        self._playouts += len(leaves)
        if len(tree.ownership) and outputs.ownership is not None:
            write_ownership(tree, leaves, len(leaves), outputs.ownership)
            add_ownership(tree, self.tree.root, leaves, self.tree.owned)
        if is_root:
            self._look_at_root()

    def _batch_size(self) -> int:
        return self.parameters.batch_size or self.evaluator.batch_size

    def room(self, limits: Limits, in_flight: int, side_by_side: int = 0) -> int:
        """How many visits may begin now, beside those whose leaves are under way; 0 or less for none.

        side_by_side: for a search that has the evaluator for itself, how many batches that evaluates at once. Each gets
        an equal portion of the leaves that may be under way, and there is at least one for each.
        """
        if not self.tree.is_evaluated:
            return 1 - in_flight
        visits = self.allowed_visits()
        share = max(1, side_by_side, visits // _SHARE_IN_FLIGHT)
        free = share - in_flight
        wanted = min(self._batch_size(), free)
        if side_by_side:
            portion = min(self._batch_size(), share // side_by_side)
            wanted = portion if free >= portion else 0
        if limits.visits is not None:
            wanted = min(wanted, limits.visits - visits - in_flight)
        return wanted

    def _advance(self, wanted: int, overlap: int) -> bool:
        """Submits a batch of up to `wanted` visits, and takes back the oldest one when `overlap` are under way or none
        was to be had; False where nothing could be done.
        """
        done = 0
        if wanted > 0:
            done = self._submit(wanted)
        if self._pending and (len(self._pending) >= overlap or done == 0):
            self._collect()
            return True
        return done > 0

    def _submit(self, wanted: int) -> int:
        """Begins up to `wanted` visits; how many."""
        batch = self._free.pop() if self._free else _Batch(np.zeros(1, BOARD), np.zeros(1, np.int32))
        if len(batch.boards) < wanted:
            batch.boards, batch.leaves = np.zeros(self._batch_size(), BOARD), np.zeros(self._batch_size(), np.int32)
        batch.count, done = self.select(wanted, batch.boards, batch.leaves)
        if not batch.count:
            self._free.append(batch)
            return done
        try:
            batch.ticket = self.evaluator.submit(
                batch.boards,
                np.arange(batch.count),
                self.symmetries(batch.count),
                ownership=self.keeps_ownership,
                optimism=self.optimism,
                profile=self.parameters.profile,
            )
        except BaseException:
            self._give_up()
            raise
        self._pending.append(batch)
        return batch.count + done

    @property
    def keeps_ownership(self) -> bool:
        """Whether the evaluator is to be asked for ownership."""
        return len(self.tree.arrays.ownership) > 0

    @property
    def optimism(self) -> float:
        """The optimism with which the next leaves are to be evaluated, as `Evaluator.submit` takes it."""
        root = not self.tree.is_evaluated
        return self.parameters.root_policy_optimism if root else self.parameters.policy_optimism

    def symmetries(self, count: int) -> np.ndarray | None:
        """By which symmetries the next positions are to be evaluated, as `Evaluator.submit` takes it."""
        if self.parameters.symmetry == "none":
            return None
        if self.parameters.symmetry == "average":
            return np.full(count, ALL_SYMMETRIES)
        if len(self._turns) < count:
            self._turns = self._random.integers(0, ALL_SYMMETRIES, max(count, _TURNS_AHEAD))
        turns, self._turns = self._turns[:count], self._turns[count:]
        return turns

    def _collect(self) -> None:
        """Waits for the oldest batch and backs it up."""
        batch = self._pending.popleft()
        try:
            outputs = self.evaluator.collect(batch.ticket)
        except BaseException:
            self._give_up()
            raise
        self.absorb(batch.boards[: batch.count], batch.leaves[: batch.count], outputs)
        self._free.append(batch)

    def _give_up(self) -> None:
        """After a failure: leaves in flight would wait for ever."""
        self._pending.clear()
        self.clear()

    def allowed_visits(self) -> int:
        """The root's visits but those of moves that are banned now: those that a limit counts."""
        if not self._is_restricted:
            return self.visits
        nodes = self.tree.arrays.nodes[self.tree.children()]
        return self.visits - int(nodes["visits"][self._banned_now()[nodes["move"]]].sum())

    def _banned_now(self) -> np.ndarray:
        """Which moves may not be played at the root, bool [area+1]."""
        return self._root.banned_until[self.tree.game.to_move] > 0

    def _reached(self, limits: Limits, visits: int, elapsed: float) -> bool:
        if limits.visits is not None and visits >= limits.visits:
            return True
        if limits.seconds is None:
            return False
        return elapsed >= limits.seconds or self._settled(limits, visits, elapsed)

    def _settled(self, limits: Limits, visits: int, elapsed: float) -> bool:
        """Whether the visits still to come cannot change the most visited move."""
        assert limits.seconds is not None
        if self._playouts < 100:
            return False
        remaining = self._playouts / elapsed * (limits.seconds - elapsed)
        if limits.visits is not None:
            remaining = min(remaining, limits.visits - visits)
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
            playouts=self._playouts,
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
    return Averaging(not any(numbers), *numbers, parameters.uncertainty)


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
