"""The search of one game: batches of leaves, limits, reports, and the tree that goes on from move to move."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..evaluate.interface import Evaluator, Outputs
from ..game.board import BOARD
from ..game.coords import PASS, index_of_point, opponent, point_of_index
from ..game.game import Game
from . import tree as trees
from .ownership import add_ownership, mean_ownership, no_ownership, write_ownership
from .parameters import SearchParameters
from .report import MoveReport, SearchReport
from .tree import NOBODY, OWNERSHIP_UNKNOWN, PRIOR_ONE, UNEVALUATED, Root, Rule, Tree

_FIRST_CAPACITY = 16384
_LONGEST_LINE = 40
_NO_FIRST_PLAYS = np.zeros((0, 2, 2, 1), np.float32)
# A batch as large as the tree would be chosen blindly: at most a quarter of the visits is in flight.
_SHARE_IN_FLIGHT = 4


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
    """One game's tree. It belongs to one thread and is not for two at once."""

    def __init__(
        self, evaluator: Evaluator, parameters: SearchParameters | None = None, seed: int | None = None
    ) -> None:
        self.evaluator = evaluator
        self.parameters = parameters or SearchParameters()
        self._random = np.random.default_rng(seed)
        self._game = Game()
        self._tree: Tree | None = None
        self._spare: Tree | None = None  # the last one that was thrown away
        self._start_tree()
        self._boards = np.zeros(1, BOARD)  # the positions of a batch
        self._leaves = np.zeros(1, np.int32)
        self._playouts = 0
        self._owned = no_ownership(0)

    def clear(self) -> None:
        """Forgets the tree."""
        self._start_tree()

    def set_position(self, game: Game) -> None:
        """Makes the game's position the root of the next search.

        The tree is kept where the game goes on from a position that it knows: own and opponent's moves, an undo, the
        same moves replayed from the start.
        """
        self._game = game.copy()
        if not self.parameters.reuse_tree or not self._move_root():
            self._start_tree()

    def _start_tree(self) -> None:
        self._spare = self._tree or self._spare
        self._tree = None
        self._make_root_origin()

    def _make_root_origin(self) -> None:
        """From here on the tree begins at the game's position."""
        self._root = 0
        self._origin = _origin_of(self._game)
        self._origin_moves = list(self._game.moves)
        self._origin_to_move = self._game.to_move

    def _move_root(self) -> bool:
        """Finds the game's position in the tree."""
        game, known = self._game, len(self._origin_moves)
        if self._tree is None or _origin_of(game) != self._origin or game.moves[:known] != self._origin_moves:
            return False
        node = 0
        colour = self._origin_to_move
        for move in game.moves[known:]:
            node = trees.child_by_move(self._tree, node, index_of_point(move.point, game.width, game.height))
            if node == NOBODY or move.colour != colour:
                return False
            colour = opponent(colour)
        if colour != game.to_move or self._tree.nodes["state"][node] == trees.TERMINAL:
            return False
        self._root = node
        # The siblings' trees are kept for an undo while there is room.
        if node and self._tree.size[0] > self._most_nodes() // 2:
            self._rebase()
        return True

    def _rebase(self) -> None:
        """Throws away all but the root's subtree."""
        assert self._tree is not None
        target = self._empty_tree(len(self._tree.nodes), bool(len(self._tree.ownership)))
        trees.copy_subtree(self._tree, self._root, target)
        self._tree, self._spare = target, self._tree
        self._make_root_origin()

    def _empty_tree(self, capacity: int, ownership: bool) -> Tree:
        """A tree with room for `capacity` nodes: the spare one where it will do, since new memory is slow."""
        area, rave = self._game.area, self._has_rave()
        spare, self._spare = self._spare, None
        if spare is None or len(spare.nodes) < capacity or not trees.holds(spare, area, ownership=ownership, rave=rave):
            return trees.new_tree(capacity, area, ownership=ownership, rave=rave)
        trees.empty(spare)
        return spare

    def _has_rave(self) -> bool:
        return self.parameters.selection == "puct" and self.parameters.rave > 0 and self.evaluator.plays_out

    def _most_nodes(self) -> int:
        """Where the tree stops growing."""
        size = trees.bytes_per_node(self._game.area, rave=self._has_rave())
        return int(self.parameters.tree_megabytes * 1e6) // size

    def _ready_tree(self, ownership: bool) -> Tree:
        """The tree with room for a batch, and for ownership where it is asked for."""
        tree = self._tree
        if tree is None:
            tree = self._empty_tree(min(_FIRST_CAPACITY, self._most_nodes()), ownership)
        full = tree.size[0] + self._batch_size() > len(tree.nodes)
        capacity = min(len(tree.nodes) * 2, self._most_nodes()) if full else len(tree.nodes)
        if capacity > len(tree.nodes) or (ownership and not len(tree.ownership)):
            tree = _grown(tree, capacity, ownership or bool(len(tree.ownership)))
        self._tree = tree
        return tree

    def _batch_size(self) -> int:
        return self.parameters.batch_size or self.evaluator.batch_size

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
        if ownership and limits.visits is not None and not self._root_has_ownership():
            self._start_tree()  # its visits would count towards the limit, and leave too few that know ownership
        self._playouts = 0
        root = self._prepare_root(root_moves or RootMoves(), ownership)
        next_report = start + interval if interval is not None and on_report else float("inf")
        while True:
            now = time.perf_counter()
            if now >= next_report and on_report and interval is not None:
                on_report(self._report(root, now - start, ownership, moves_ownership))
                next_report = max(next_report + interval, now)
            visits = self._allowed_visits(root)
            if stop.is_set() or self._reached(limits, root, visits, now - start):
                break
            wanted = min(self._batch_size(), max(1, visits // _SHARE_IN_FLIGHT))
            if limits.visits is not None:
                wanted = min(wanted, limits.visits - visits)
            if not self._visit(root, wanted, ownership):
                # The tree is full: an endless search waits for whoever ends it.
                if limits.seconds is not None or limits.visits is not None:
                    break
                stop.wait(0.05)
        return self._report(root, time.perf_counter() - start, ownership, moves_ownership)

    @property
    def visits(self) -> int:
        """The root's visits."""
        return int(self._tree.nodes["visits"][self._root]) if self._tree is not None else 0

    def _root_has_ownership(self) -> bool:
        """Whether the root's ownership is known, and so that of all below it."""
        tree = self._tree
        return tree is not None and len(tree.ownership) > 0 and tree.ownership[self._root, 0] != OWNERSHIP_UNKNOWN

    def _allowed_visits(self, root: Root) -> int:
        """The root's visits but those of moves that are banned now."""
        if not root.banned_until.any():
            return self.visits
        assert self._tree is not None
        children = self._children()
        banned = self._are_banned(root, children)
        return self.visits - int(self._tree.nodes["visits"][children[banned]].sum())

    def _are_banned(self, root: Root, children: np.ndarray) -> np.ndarray:
        """Which of the root's children are not to be played, as bool."""
        assert self._tree is not None
        return root.banned_until[self._game.to_move][self._tree.nodes["move"][children]] > 0

    def _reached(self, limits: Limits, root: Root, visits: int, elapsed: float) -> bool:
        if limits.visits is not None and visits >= limits.visits:
            return True
        if limits.seconds is None:
            return False
        return elapsed >= limits.seconds or self._settled(limits, root, visits, elapsed)

    def _settled(self, limits: Limits, root: Root, visits: int, elapsed: float) -> bool:
        """Whether the visits still to come cannot change the most visited move."""
        assert limits.seconds is not None
        if self._playouts < 100:
            return False
        remaining = self._playouts / elapsed * (limits.seconds - elapsed)
        if limits.visits is not None:
            remaining = min(remaining, limits.visits - visits)
        assert self._tree is not None
        children = self._children()
        allowed = children[~self._are_banned(root, children)]
        counts = np.sort(self._tree.nodes["visits"][allowed])[::-1]
        if not len(counts):
            return False
        runner_up = counts[1] if len(counts) > 1 else 0
        return bool(counts[0] - runner_up > remaining)

    def _prepare_root(self, root_moves: RootMoves, ownership: bool) -> Root:
        """The root with its own priors, evaluated."""
        game = self._game
        tree = self._ready_tree(ownership)
        self._sum_ownership()
        boards = game.board.copy()
        if game.is_over:
            boards["passes"] = 0  # asked for a move after the end: the game goes on
        known = game.superko_history()
        history = np.zeros(len(known) + trees.MAX_DEPTH, np.uint64)
        history[: len(known)] = known
        priors = np.ones(game.area + 1, np.float32)
        noisy = self.parameters.root_noise > 0
        root = Root(self._root, boards, history, len(known), priors, noisy, _banned(game, root_moves))
        if tree.nodes["state"][self._root] == UNEVALUATED:
            self._visit(root, 1, ownership)
        priors[:] = self._priors()
        self._add_noise(priors)
        return root

    def _sum_ownership(self) -> None:
        """Sums up what the tree knows, where it keeps ownership; from here on each leaf is added when it comes."""
        tree = self._tree
        assert tree is not None
        if len(tree.ownership):
            self._owned = no_ownership(self._game.area)
            add_ownership(tree, self._root, np.arange(self._root, tree.size[0], dtype=np.int32), self._owned)

    def _priors(self) -> np.ndarray:
        """The evaluator's policy at the root, float32 [area+1]."""
        assert self._tree is not None
        priors = self._tree.priors[self._root].astype(np.float32) / PRIOR_ONE
        child = self._tree.nodes["first_child"][self._root]
        while child != NOBODY:
            node = self._tree.nodes[child]
            priors[node["move"]] = node["prior"]
            child = node["next_sibling"]
        return priors

    def _add_noise(self, priors: np.ndarray) -> None:
        """Mixes Dirichlet noise into the priors of the legal moves (AlphaZero, Silver et al. 2018)."""
        share = self.parameters.root_noise
        if not share:
            return
        legal = np.flatnonzero(priors)
        noise = self._random.dirichlet(np.full(len(legal), self.parameters.dirichlet_alpha / len(legal)))
        priors[legal] = (1 - share) * priors[legal] + share * noise

    def _visit(self, root: Root, wanted: int, ownership: bool) -> int:
        """Makes up to `wanted` visits; how many."""
        tree = self._ready_tree(ownership)
        ownership = len(tree.ownership) > 0  # once asked for it is kept for all: a later search may show it
        if len(self._boards) < self._batch_size():
            self._boards = np.zeros(self._batch_size(), BOARD)
            self._leaves = np.zeros(self._batch_size(), np.int32)
        settings = self.parameters
        rule = Rule(
            settings.selection == "uct",
            settings.c_puct,
            settings.c_uct,
            settings.fpu_reduction,
            settings.virtual_loss,
            settings.rave,
        )
        utility = settings.score_utility
        count, done = trees.select_leaves(tree, root, rule, utility, wanted, self._boards, self._leaves)
        if count:
            found = self._evaluate(count, ownership)
            trees.expand_and_back_up(
                tree,
                root.node,
                self._leaves,
                count,
                found.policy,
                found.value,
                found.lead,
                found.score_mean,
                found.score_stdev,
                found.first_plays if found.first_plays is not None else _NO_FIRST_PLAYS,
                utility,
            )
            if ownership and found.ownership is not None:
                write_ownership(tree, self._leaves, count, found.ownership)
                add_ownership(tree, root.node, self._leaves[:count], self._owned)
        self._playouts += count + done
        return int(count + done)

    def _evaluate(self, count: int, ownership: bool) -> Outputs:
        try:
            return self.evaluator.collect(self.evaluator.submit(self._boards, np.arange(count), ownership=ownership))
        except BaseException:
            self._start_tree()  # its leaves in flight would wait for ever
            raise

    def _children(self) -> np.ndarray:
        """The root's visited children."""
        assert self._tree is not None
        children = np.zeros(self._game.area + 1, np.int32)
        return children[: trees.children_of(self._tree, self._root, children)]

    def _report(self, root: Root, seconds: float, ownership: bool, moves_ownership: bool) -> SearchReport:
        tree = self._tree
        assert tree is not None
        children = self._children()
        totals, counts = self._owned
        shape = (self._game.height, self._game.width)
        rows = tree.nodes["move"][children]
        moves_owned = mean_ownership(totals[rows], counts[rows], shape) if moves_ownership else None
        moves = self._rank(children, moves_owned, root)
        whole = _means(tree.nodes[self._root : self._root + 1])
        priors = self._priors()
        priors[root.banned_until[self._game.to_move] > 0] = 0
        return SearchReport(
            width=self._game.width,
            height=self._game.height,
            to_move=self._game.to_move,
            visits=self.visits,
            playouts=self._playouts,
            winrate=float(whole["winrate"][0]),
            lead=float(whole["lead"][0]),
            score_mean=float(whole["score_mean"][0]),
            score_stdev=float(whole["score_stdev"][0]),
            utility=float(whole["utility"][0]),
            moves=moves,
            priors=priors,
            ownership=mean_ownership(totals.sum(0), counts.sum(), shape) if ownership else None,
            seconds=seconds,
        )

    def _rank(self, children: np.ndarray, owned: np.ndarray | None, root: Root) -> tuple[MoveReport, ...]:
        """The root's moves, best first."""
        assert self._tree is not None
        nodes = self._tree.nodes[children]
        banned = self._are_banned(root, children)
        means = _means(nodes)
        winrate, utility = 1 - means["winrate"], -means["utility"]
        radius = self.parameters.lcb_stdevs * means["utility_error"]
        order = self._order(nodes["visits"], utility - radius, banned)
        reports = []
        for rank, index in enumerate(order):
            line, visits = self._line(int(children[index]))
            reports.append(
                MoveReport(
                    point=line[0],
                    visits=int(nodes["visits"][index]),
                    winrate=float(winrate[index]),
                    lead=-float(means["lead"][index]),
                    score_mean=-float(means["score_mean"][index]),
                    score_stdev=float(means["score_stdev"][index]),
                    utility=float(utility[index]),
                    lcb=float(winrate[index] - radius[index] / 2),  # win rates span half of the utility's range
                    utility_lcb=float(utility[index] - radius[index]),
                    prior=float(nodes["prior"][index]),
                    weight=float(nodes["visits"][index]),
                    order=rank,
                    pv=line,
                    pv_visits=visits,
                    ownership=owned[index] if owned is not None else None,
                )
            )
        return tuple(reports)

    def _order(self, visits: np.ndarray, lower_bound: np.ndarray, banned: np.ndarray) -> list[int]:
        """The moves' indices, best first: by visits, the best lower bound moved to the front where `choice` says so."""
        order = [int(index) for index in np.lexsort((-lower_bound, -visits)) if not banned[index]]
        if self.parameters.choice == "lcb" and order:
            # KataGo's minVisitPropForLCB: bounds of moves with fewer visits mean little.
            eligible = [index for index in order if visits[index] >= 0.15 * visits[order[0]]]
            best = max(eligible, key=lambda index: lower_bound[index])
            order.remove(best)
            order.insert(0, best)
        return order

    def _line(self, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The main line through a child of the root, as points, and its visits."""
        assert self._tree is not None
        moves, visits = np.zeros(_LONGEST_LINE, np.int32), np.zeros(_LONGEST_LINE, np.int32)
        length = trees.main_line(self._tree, node, moves, visits)
        width, height = self._game.width, self._game.height
        points = tuple(point_of_index(int(move), width, height) for move in moves[:length])
        return points, tuple(int(count) for count in visits[:length])

    def choose(self, report: SearchReport, temperature: float | None = None) -> int:
        """The point to play: the best, or by chance in proportion to visits^(1/temperature).

        Without a temperature the parameters' own holds, for the game's first `temperature_moves`. Where no move has a
        visit the largest prior decides, where none is allowed it is a pass.
        """
        if not report.moves:
            best = int(np.argmax(report.priors))
            return point_of_index(best, report.width, report.height) if report.priors[best] else PASS
        if temperature is None:
            early = len(self._game.moves) < self.parameters.temperature_moves
            temperature = self.parameters.temperature if early else 0.0
        if temperature <= 0:
            return report.moves[0].point
        weights = np.array([move.weight for move in report.moves])
        weights = (weights / weights.max()) ** (1 / temperature)
        index = self._random.choice(len(weights), p=weights / weights.sum())
        return report.moves[int(index)].point


def _origin_of(game: Game) -> tuple[object, ...]:
    """What must be the same for a tree to be of use: everything but the moves."""
    return game.width, game.height, game.rules, game.komi, game.history_start, tuple(game.setup_stones)


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


def _grown(tree: Tree, capacity: int, ownership: bool) -> Tree:
    """A tree with the same nodes and more room."""
    size = int(tree.size[0])
    rave = len(tree.first_plays) > 0
    larger = trees.new_tree(capacity, tree.priors.shape[1] - 1, ownership=ownership, rave=rave)
    if rave:
        larger.first_plays[:size] = tree.first_plays[:size]
    larger.nodes[:size] = tree.nodes[:size]
    larger.priors[:size] = tree.priors[:size]
    if ownership:
        larger.ownership[:size, 0] = trees.OWNERSHIP_UNKNOWN
        larger.ownership[: min(size, len(tree.ownership))] = tree.ownership[:size]
    larger.size[0] = size
    return larger


def _means(nodes: np.ndarray) -> dict[str, np.ndarray]:
    """Averages over the visits of each node, for the side to move there."""
    visits = np.maximum(nodes["visits"], 1)
    utility = nodes["utility_sum"] / visits
    score_mean = nodes["score_sum"] / visits
    # One more visit as far from the mean as can be keeps the error of a move with few visits from being nil.
    variance = (nodes["utility_squares"] - visits * utility**2 + 1) / visits
    return {
        "winrate": 0.5 + 0.5 * nodes["value_sum"] / visits,
        "utility": utility,
        "utility_error": np.sqrt(np.maximum(variance, 0) / visits),
        "lead": nodes["lead_sum"] / visits,
        "score_mean": score_mean,
        "score_stdev": np.sqrt(np.maximum(nodes["score_squares"] / visits - score_mean**2, 0)),
    }
