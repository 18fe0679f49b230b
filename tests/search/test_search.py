"""The compiled search against a slow reference, and what it promises to its callers."""

import tracemalloc
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from drawn_positions import drawn, game_of
from hash_evaluator import HashEvaluator
from reference_search import search as reference_search
from searching import run, search_of, searched

from gtp_engine.go.coords import BLACK, PASS, WHITE, index_of_point, parse_vertex, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search import tree as trees
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator, UniformEvaluator
from gtp_engine.search.evaluate.row import POLICY, ownership_column
from gtp_engine.search.parameters import SearchParameters, default_parameters
from gtp_engine.search.report import best_first
from gtp_engine.search.request import ANY_MOVE, Limits, RootMoves, SearchRequest
from gtp_engine.search.search import Search, concentrations
from gtp_engine.search.selection import select

FOR_NETWORKS = vars(default_parameters("network.bin.gz"))


def check_tree(search: Search) -> None:
    """Every visit of a node but its first went to a child, and nothing is left in flight."""
    tree = search.tree
    nodes = tree.nodes[: tree.size[0]]
    assert not nodes["in_flight"].any()
    below = np.zeros(len(nodes), int)
    parents = nodes["parent"][1:]
    np.add.at(below, parents, nodes["visits"][1:])
    inner = nodes["first_child"] >= 0
    assert (nodes["visits"][inner] == 1 + below[inner]).all()


@pytest.mark.parametrize("rules", ["tromp-taylor", "new-zealand", "ing"])
@pytest.mark.parametrize(("width", "height", "moves"), [(3, 3, ""), (3, 2, ""), (5, 5, "C3 B3 C2 D3"), (2, 2, "A1 B2")])
def test_visits_equal_the_reference(width: int, height: int, moves: str, rules: str) -> None:
    game = Game(width, height, rules=RULESETS[rules], komi=0.5)
    for name in moves.split():
        game.play(game.to_move, parse_vertex(name, width, height))
    settings = SearchParameters(c_puct=1.5)
    root = reference_search(game, 300, settings)
    _, report = searched(game, 300, c_puct=1.5)
    found = {index_of_point(move.point, width, height): move.visits for move in report.moves}
    assert found == {move: child.visits for move, child in root.children.items()}
    assert report.utility == pytest.approx(root.utility / root.visits, abs=1e-5)


def test_values_are_for_the_side_to_move() -> None:
    game = Game(5, komi=-30)  # black has won whatever happens
    for colour, winrate in ((BLACK, 1.0), (WHITE, 0.0)):
        game.to_move = colour
        game_over = game.copy()
        search = search_of(game_over, UniformEvaluator())
        report = run(
            search, Limits(visits=200), root_moves=RootMoves(allow=tuple((c, PASS, 9) for c in (BLACK, WHITE)))
        )
        assert report.to_move == colour
        assert report.moves[0].winrate == pytest.approx(winrate, abs=0.01)  # but for the first, unfinished visit
        assert (report.moves[0].lead > 0) == (colour == BLACK)


def test_batches_and_virtual_loss_leave_a_consistent_tree() -> None:
    search, report = searched(Game(7), 2000, evaluator=HashEvaluator(16))
    check_tree(search)
    assert report.visits == 2000
    assert sum(move.visits for move in report.moves) == 1999


def test_a_visit_in_flight_makes_a_move_look_worse_even_in_a_lost_position() -> None:
    search = search_of(Game(2), **FOR_NETWORKS | {"c_puct": 0.1})
    state = search.begin(SearchRequest(search.game, Limits(100))).state()
    nodes = state.tree.nodes
    for move in range(2):
        child = trees.add_node(state.tree, 0, move, 0.5)
        # Black is so far behind that no utility could be lower.
        nodes[child]["visits"], nodes[child]["weight"], nodes[child]["utility_sum"] = 10, 10, 10 * 1.399
    nodes[0]["visits"], nodes[0]["weight"], nodes[0]["utility_sum"] = 21, 21, -21 * 1.399
    nodes[0]["children_weight"], nodes[0]["visited_prior"] = 20, 1
    for flying in (1, 2):
        nodes["in_flight"][[0, flying]] = 5, 4
        child, _ = select(state.tree, state.root, state.rule, 0, trees.NO_MOVE, BLACK, 0, 0)
        assert child == 3 - flying
        nodes["in_flight"] = 0


class CountingEvaluator(HashEvaluator):
    """Keeps of each batch its size, the leaves that were under way before, and those that were back."""

    overlap = portions = 3

    def __init__(self, batch_size: int) -> None:
        super().__init__(batch_size)
        self.batches: list[tuple[int, int, int]] = []
        self._in_flight = self._back = 0

    def submit(self, boards, indices, symmetries=None, ladders=None, **options):  # type: ignore[no-untyped-def]
        self.batches.append((len(indices), self._in_flight, self._back))
        self._in_flight += len(indices)
        return super().submit(boards, indices, symmetries, **options)

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        self._in_flight -= len(ticket)
        self._back += len(ticket)
        return ticket


def test_batches_side_by_side_have_equal_portions_of_what_may_be_under_way() -> None:
    evaluator = CountingEvaluator(8)
    run(Search(evaluator, SearchParameters()), Limits(visits=400))
    for size, in_flight, back in evaluator.batches:
        assert size + in_flight <= max(2, back // 4)
        assert size <= min(8, max(1, back // 12))
    assert [(size, in_flight) for size, in_flight, _ in evaluator.batches[:4]] == [(1, 0), (1, 0), (1, 1), (1, 1)]
    assert (8, 16) in {(size, in_flight) for size, in_flight, _ in evaluator.batches}  # the third waits


@pytest.mark.parametrize(("visits", "highest"), [(7200, 36), (2000, 9)])
def test_many_leaves_are_under_way_only_while_they_are_few_of_the_visits(visits: int, highest: int) -> None:
    evaluator = CountingEvaluator(12)
    evaluator.early_leaves = 6
    run(Search(evaluator, SearchParameters()), Limits(visits=visits))
    most = {back: size + in_flight for size, in_flight, back in evaluator.batches}
    for back, under_way in most.items():
        assert under_way <= max(2, min(back // 4, max(6, min(back // 16, visits // 200))))
    assert max(under_way for back, under_way in most.items() if back < 96) == 6
    assert max(most.values()) == highest  # portions of a third: three full batches of 12, or of 10 // 3


@pytest.mark.parametrize("button", [False, True])
def test_superko_is_obeyed_in_the_tree(button: bool) -> None:
    # On 2x2 under positional superko every line of play is short; a cycle would fill the tree with repetitions.
    rules = replace(RULESETS["tromp-taylor"], has_button=button)
    search, _ = searched(Game(2, rules=rules, komi=0.5), 3000, evaluator=HashEvaluator(4))
    check_tree(search)
    tree = search.tree
    parents = tree.nodes["parent"][: tree.size[0]]
    for number in np.flatnonzero(tree.nodes["visits"][: tree.size[0]] > 0):
        node, path = number, []
        while node > 0:
            path.append(int(tree.nodes["move"][node]))
            node = tree.nodes["parent"][node]
        game = Game(2, rules=rules, komi=0.5)
        for move in reversed(path):
            assert game.legal_moves()[move]
            game.play(game.to_move, 0 if move == 4 else (move // 2 + 1) * 3 + move % 2 + 1)
        if not game.is_over:
            considered = tree.priors[number] > 0
            considered[[tree.nodes["move"][child] for child in np.flatnonzero(parents == number)]] = True
            assert considered.tolist() == game.legal_moves().tolist()


def test_uct_tries_every_move_once_before_any_twice() -> None:
    _, report = searched(Game(3), 11, selection="uct")
    assert sorted(move.visits for move in report.moves) == [1] * 10


def test_the_tree_goes_on_with_the_game() -> None:
    game = Game(5)
    search, report = searched(game, 500)
    best = report.moves[0]
    game.play(BLACK, best.point)
    search.set_position(game)
    assert search.visits == best.visits
    answer = run(search, Limits(visits=300)).moves[0]
    check_tree(search)
    game.play(WHITE, answer.point)
    search.set_position(game)
    assert search.visits == answer.visits

    game.undo()
    game.undo()
    search.set_position(game)
    assert search.visits >= 500  # back at the origin, later visits included

    replayed = Game(5)
    replayed.play(BLACK, best.point)
    search.set_position(replayed)
    assert search.visits >= best.visits


class ShownMovesEvaluator(HashEvaluator):
    """Reads ladders, as networks do, and notes the moves and passes that it is shown in each position."""

    reads_ladders = True

    def __init__(self) -> None:
        super().__init__(watch=self._note)
        self.shown: list[tuple[int, int]] = []

    def _note(self, boards: np.ndarray, indices: np.ndarray, *_: object, **options: object) -> None:
        self.shown += zip(boards["moves_shown"][indices].tolist(), boards["passes"][indices].tolist(), strict=True)


@pytest.mark.parametrize(("rules", "is_hidden"), [("chinese", True), ("japanese", False)])
def test_a_root_after_a_pass_is_evaluated_as_a_root(rules: str, is_hidden: bool) -> None:
    game = Game(3, rules=RULESETS[rules])
    evaluator = ShownMovesEvaluator()
    search = search_of(game, evaluator)
    run(search, Limits(visits=500))
    assert 1 in [passes for _, passes in evaluator.shown]  # the tree knows the position after a pass
    game.play(BLACK, PASS)
    search.set_position(game)
    evaluator.shown.clear()
    before = search.visits
    assert before > 0
    report = run(search, Limits(visits=before + 100))
    assert (evaluator.shown[0] == (0, 0)) == is_hidden and (report.root_evaluation is not None) == is_hidden
    search.set_position(game)
    assert search.visits == before + 100  # searched again, the same root is kept
    assert run(search, Limits(visits=before + 110)).root_evaluation is None
    answer = next(move for move in report.moves if move.point != PASS)
    game.play(WHITE, answer.point)
    search.set_position(game)
    assert search.visits >= answer.visits > 0


@pytest.mark.parametrize("settings", [{}, {"better_children": 0.25, "noise_pruning": 0.15}])
def test_a_node_that_becomes_the_root_gets_the_policy_of_a_root(settings: dict[str, float]) -> None:
    """The policy at a root is less optimistic. The tree below is kept, and the evaluation does not count as a visit."""

    class OptimisticEvaluator(HashEvaluator):
        has_optimism = True

        def submit(self, boards, indices, symmetries=None, ladders=None, **options):  # type: ignore[no-untyped-def]
            rows = super().submit(boards, indices, symmetries, ladders, **options)
            if options["optimism"] == 0.25:
                rows[:, POLICY : POLICY + 26] = 1 / 26
            return rows

    game = Game(5)
    search = search_of(game, OptimisticEvaluator(), root_policy_optimism=0.25, policy_optimism=1.0, **settings)
    best = run(search, Limits(visits=300), ownership=True).best
    game.play(BLACK, best.point)
    search.set_position(game)
    old = search.tree.nodes[search.root].copy()
    report = run(search, Limits(visits=best.visits), ownership=True)
    new = search.tree.nodes[search.root]
    assert report.visits == new["visits"] == old["visits"] and new["in_flight"] == 0
    assert report.priors[report.priors > 0] == pytest.approx(1 / np.count_nonzero(report.priors), rel=1e-3)
    assert new["visited_prior"] == pytest.approx(len(report.moves) / np.count_nonzero(report.priors), rel=1e-3)
    for name in ("weight", "utility_sum", "score_sum", "children_weight"):
        assert new[name] == pytest.approx(old[name], rel=1e-4)
    assert report.ownership is not None and report.ownership[0, 0] == pytest.approx(-1)
    check_tree(search)
    run(search, Limits(visits=best.visits + 50))
    check_tree(search)


FINISHED = """
    . X . O .
    X X O O O
    o X . O x
    . X . O .
    X X . O O
"""


def test_games_that_end_in_the_tree_are_counted_without_dead_stones() -> None:
    game = game_of(FINISHED, komi=0.5, to_move=WHITE)
    game.play(WHITE, PASS)
    search = search_of(game, UniformEvaluator())
    passes = RootMoves(allow=((BLACK, PASS, 9), (WHITE, PASS, 9)))
    leads = []
    for dead in ({"A3"}, {"A3", "E3"}, set()):
        points = frozenset(parse_vertex(name, 5, 5) for name in dead)
        leads.append(run(search, Limits(visits=20), root_moves=passes, dead=points).moves[0].lead)
        assert leads[-1] == game.score(dead).points
    assert leads[1] < leads[0] != leads[2]


def test_the_root_of_a_finished_game_shows_no_moves() -> None:
    game = Game(3)
    for colour, point in ((BLACK, parse_vertex("B2", 3, 3)), (WHITE, PASS), (BLACK, PASS)):
        game.play(colour, point)
    evaluator = ShownMovesEvaluator()
    search = search_of(game, evaluator)
    run(search, Limits(visits=2))
    root, child = evaluator.shown
    assert root == (0, 0)
    assert child[0] == 2  # the last pass and the move after it, as in the game if it continues


def test_other_prisoners_begin_another_tree() -> None:
    game = Game(5, rules="japanese")
    for colour, point in ((BLACK, "A1"), (WHITE, "A2"), (BLACK, PASS), (WHITE, "B1")):
        game.play(colour, point)
    games = [game.copy(), game.copy()]
    for number, one in enumerate(games):
        one.set_up("A5", "A2 B1", is_edited=number == 0)
    assert [one.captures(WHITE) for one in games] == [1, 0]
    search = search_of(games[0])
    run(search, Limits(visits=100))
    search.set_position(games[1])
    assert search.visits == 0


@pytest.mark.parametrize("change", ["komi", "rules", "setup", "turn", "history", "size", "handicap"])
def test_another_game_begins_another_tree(change: str) -> None:
    game = Game(5)
    search, _ = searched(game, 100)
    if change == "komi":
        game.set_komi(3)
    elif change == "rules":
        game.set_rules(RULESETS["japanese"])
    elif change == "setup":
        game.set_up([parse_vertex("C3", 5, 5)], [])
    elif change == "turn":
        game.play(WHITE, parse_vertex("C3", 5, 5))
    elif change == "history":  # what ko and superko forbade is free now
        game.play(BLACK, parse_vertex("C3", 5, 5))
        search.set_position(game)
        game.to_move = BLACK
        game.to_move = WHITE
    elif change == "handicap":
        for colour, name in ((BLACK, "C3"), (WHITE, "pass"), (BLACK, "B2")):
            run(search, Limits(visits=200))
            assert game.handicap == 0
            game.play(colour, name)
            search.set_position(game)
        assert game.handicap == 2
    else:
        game = Game(6)
    search.set_position(game)
    assert search.visits == 0
    assert run(search, Limits(visits=20)).visits == 20


def test_a_small_search_takes_little_memory() -> None:
    search, _ = searched(Game(19), 2)
    assert sum(array.nbytes for array in search.tree) < 2e6


@pytest.mark.parametrize("nodes", [1, 2, 3, 1000, 1025])
def test_a_tree_takes_no_more_memory_than_its_nodes_are_said_to_take(nodes: int) -> None:
    layout = trees.TreeLayout(ladders=True, biases=True, ownership=True)
    arrays = trees.new_tree(nodes, 81, layout)
    assert sum(array.nbytes for array in arrays[:-1]) <= nodes * trees.bytes_per_node(81, layout)


def test_a_full_tree_is_thinned_to_what_is_below_the_root() -> None:
    game = Game(5)
    search, report = searched(game, 1500, tree_megabytes=0.16)
    assert report.visits < 1500
    best = report.moves[0]
    game.play(BLACK, best.point)
    search.set_position(game)
    assert search.visits == best.visits
    after = run(search, Limits(visits=best.visits + 50))
    assert after.visits == best.visits + 50
    check_tree(search)


def test_a_full_tree_takes_no_more_memory_from_move_to_move() -> None:
    def play_on() -> list[int]:
        """Returns the bytes in use with the first full tree, then the most while it is thinned and after a search."""
        game = Game(9)
        search, report = searched(game, 3000, tree_megabytes=0.7)
        used = [tracemalloc.get_traced_memory()[0]]
        for _ in range(3):
            assert search.is_full
            game.play(game.to_move, report.moves[0].point)
            tracemalloc.reset_peak()
            search.set_position(game)
            used.append(tracemalloc.get_traced_memory()[1])
            assert 0 < search.visits == report.moves[0].visits
            report = run(search, Limits(visits=3000))
            used.append(tracemalloc.get_traced_memory()[0])
        return used

    play_on()  # compiles, which takes memory
    tracemalloc.start()
    try:
        first, *later = play_on()
    finally:
        tracemalloc.stop()
    assert max(later) < first + 0.2e6


def test_after_two_passes_it_still_finds_a_move() -> None:
    game = Game(5)
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    _, report = searched(game, 50)
    assert report.visits == 50


@pytest.mark.parametrize(("rules", "is_asked"), [("japanese", True), ("tromp-taylor", False)])
def test_territory_games_end_with_the_evaluators_word(rules: str, is_asked: bool) -> None:
    passes: set[int] = set()

    def watch(boards: np.ndarray, indices: np.ndarray, *_: object, **__: object) -> None:
        passes.update(boards["passes"][indices].tolist())

    search, _ = searched(Game(3, rules=RULESETS[rules], komi=0.5), 2000, evaluator=HashEvaluator(4, watch))
    check_tree(search)
    assert 1 in passes and (2 in passes) == is_asked


def test_moves_to_avoid_and_to_allow() -> None:
    c3, b2 = parse_vertex("C3", 5, 5), parse_vertex("B2", 5, 5)
    search = search_of(Game(5))
    report = run(search, Limits(visits=200), root_moves=RootMoves(avoid=((BLACK, c3, 1),)))
    assert c3 not in {move.point for move in report.moves}
    search.clear()
    report = run(search, Limits(visits=200), root_moves=RootMoves(allow=((BLACK, c3, 1), (BLACK, b2, 1))))
    assert {move.point for move in report.moves} == {c3, b2}


@pytest.mark.parametrize(("depth", "other"), [(9, 1), (1, 9), (40_000, 1), (2**70, 2**16)])
def test_the_longest_of_several_bans_counts(depth: int, other: int) -> None:
    c3 = parse_vertex("C3", 5, 5)
    search = search_of(Game(5))
    bans = RootMoves(avoid=((BLACK, c3, depth), (BLACK, c3, other), (WHITE, c3, depth), (WHITE, c3, other)))
    run(search, Limits(visits=500), root_moves=bans)
    tree = search.tree
    assert index_of_point(c3, 5, 5) not in tree.nodes["move"][: tree.size[0]]


def test_moves_may_be_allowed_to_any_depth() -> None:
    points = [parse_vertex(name, 5, 5) for name in ("C3", "B2")]
    search = search_of(Game(5))
    report = run(search, Limits(50), root_moves=RootMoves(allow=tuple((BLACK, point, 2**40) for point in points)))
    assert report.moves and {move.point for move in report.moves} <= set(points)


def test_where_nothing_is_allowed_further_down_the_search_goes_on() -> None:
    search = search_of(Game(5), HashEvaluator(4))
    only = RootMoves(allow=((BLACK, parse_vertex("C3", 5, 5), 5),))  # taken at once, so black has nothing left
    assert run(search, Limits(visits=300), root_moves=only).visits == 300


@pytest.mark.parametrize("graph_search", [False, True])
def test_no_search_knows_what_one_with_other_moves_has_found(graph_search: bool) -> None:
    def found(search: Search, root_moves: RootMoves) -> tuple[object, ...]:
        report = run(search, Limits(visits=200), root_moves=root_moves)
        moves = [(move.point, move.visits, move.pv) for move in report.moves]
        return report.visits, report.new_visits, report.winrate, report.lead, moves

    search, free = searched(Game(5), 200, graph_search=graph_search)
    best, reply, *_ = free.best.pv
    after_two = Game(5)
    after_two.play(BLACK, best)
    after_two.play(WHITE, reply)
    only_last = RootMoves(allow=((BLACK, free.moves[-1].point, 1),))
    others = [RootMoves(avoid=((BLACK, best, 1),)), RootMoves(avoid=((WHITE, reply, 10),)), only_last, ANY_MOVE]
    asked = [(Game(5), root_moves) for root_moves in others]
    asked += [(after_two, others[1]), (Game(5), others[1]), (after_two, ANY_MOVE)]
    for game, root_moves in asked:
        search.set_position(game)
        reused = found(search, root_moves)
        assert reused == found(search_of(game, graph_search=graph_search), root_moves)
        assert found(search, root_moves)[1] == 0  # the same question once more


def test_what_restricts_nothing_keeps_the_tree() -> None:
    game = Game(5).after(BLACK, "C3")
    search = search_of(game)
    run(search, Limits(visits=100))
    for avoid in ((BLACK, "B2", 1), (WHITE, "C3", 1)):  # not to move, and occupied
        moves = RootMoves(avoid=(avoid,)).on_board(5, 5)
        assert run(search, Limits(visits=100), root_moves=moves).new_visits == 0


def test_a_pass_that_ends_the_game_has_the_owners_of_the_count() -> None:
    game = drawn(
        """
        . X . O .
        X X . O x
        . X . O O""",
        WHITE,
    )[0]
    dead = frozenset({game.point("E2")})
    for colour in (BLACK, WHITE):
        ended = game.copy()
        ended.to_move = colour
        ended = ended.after(colour, PASS)
        only = RootMoves(allow=((ended.to_move, PASS, 1),))
        (found,) = run(search_of(ended), Limits(visits=5), root_moves=only, moves_ownership=True, dead=dead).moves
        assert found.ownership is not None
        sign = 1 if ended.to_move == BLACK else -1
        assert (sign * found.ownership).tolist() == [[1, 1, 0, -1, -1]] * 3


def test_one_visit_chooses_among_the_allowed() -> None:
    search, before = searched(Game(5), 300)
    last = before.moves[-1].point
    search.clear()
    report = run(search, Limits(visits=1), root_moves=RootMoves(allow=((BLACK, last, 1),)))
    assert search.choose(report) == last


class FailingEvaluator(HashEvaluator):
    """Fails once when told to."""

    fails = False

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        if self.fails:
            self.fails = False
            raise RuntimeError("device lost")
        return ticket


def test_a_failed_evaluation_leaves_nothing_in_flight() -> None:
    evaluator = FailingEvaluator(4)
    search = search_of(Game(5), evaluator)
    run(search, Limits(visits=50))
    evaluator.fails = True
    with pytest.raises(RuntimeError, match="device lost"):
        run(search, Limits(visits=100))
    assert run(search, Limits(visits=200)).visits == 200
    check_tree(search)


def test_noise_moves_the_choice_and_not_the_reported_priors() -> None:
    _, plain = searched(Game(5), 100)
    _, noisy = searched(Game(5), 100, root_noise=0.9)
    assert [m.visits for m in plain.moves] != [m.visits for m in noisy.moves]
    assert np.array_equal(plain.priors, noisy.priors)


def test_shaped_noise_prefers_moves_of_some_promise() -> None:
    priors = np.array([0.9, 0.05, 0.01, 0.001, 0.0001, 0.0001], np.float32)
    even, shaped = (concentrations(priors, 12.0, shaped=each) for each in (False, True))
    assert even.tolist() == [2] * 6 and shaped.sum() == pytest.approx(12)
    assert shaped[0] == pytest.approx(shaped[2]) and shaped[3] == pytest.approx(1.0, abs=0.2) and shaped[5] == 1
    # Above the mean of their logarithms lie the three that count as 1 %, and hardly the fourth.
    logs = np.log([0.01, 0.01, 0.01, 0.001, 0.0001, 0.0001])
    above = np.maximum(logs - logs.mean(), 0)
    assert shaped == pytest.approx(1 + 6 * above / above.sum(), rel=1e-5)
    assert concentrations(np.full(4, 0.25), 8.0, shaped=True).tolist() == [2] * 4
    reports = [searched(Game(5), 200, root_noise=0.5, shaped_noise=each)[1] for each in (False, True)]
    assert [move.visits for move in reports[0].moves] != [move.visits for move in reports[1].moves]


def test_wide_root_noise_spreads_the_visits_by_the_seed_and_only_at_the_root() -> None:
    def visits(noise: float, seed: int = 1, **settings: Any) -> dict[int, int]:
        report = searched(Game(5), 400, seed=seed, wide_root_noise=noise, **settings)[1]
        return {move.point: move.visits for move in report.moves}

    plain, some, much = visits(0.0), visits(0.1), visits(1.0)
    assert len(plain) < len(some) < len(much) and max(much.values()) < max(some.values()) < max(plain.values())
    assert visits(0.1) == some != visits(0.1, seed=2)
    assert max(much.values()) < 400 / 8  # hardly anything else decides
    _, report = searched(Game(5), 100, wide_root_noise=1.0)
    _, usual = searched(Game(5), 100)
    assert np.array_equal(report.priors, usual.priors)
    best = max(report.moves, key=lambda move: move.visits)
    assert usual.move_at(best.point) is None or usual.best.visits > best.visits


@pytest.mark.parametrize("settings", [{"root_noise": 0.25}, {"selection": "uct"}, {"forced_playouts": 2.0}])
def test_wide_root_noise_goes_with_other_settings(settings: dict[str, Any]) -> None:
    _, report = searched(Game(5), 200, wide_root_noise=0.2, batch_size=8, **settings)
    assert sum(move.visits for move in report.moves) == 199


def test_with_one_visit_the_priors_decide() -> None:
    search, report = searched(Game(5), 1, temperature=1.0)
    legal = int(np.count_nonzero(report.priors))
    chosen = Counter(search.choose(report) for _ in range(2000))
    best = point_of_index(int(np.argmax(report.priors)), 5, 5)
    assert len(chosen) > legal / 3 and chosen[best] / 2000 == pytest.approx(float(report.priors.max()), abs=0.05)
    assert {search.choose(report, 0.0) for _ in range(5)} == {best}


def test_temperature_spreads_the_choice() -> None:
    search, report = searched(Game(5), 300)
    assert search.choose(report) == report.moves[0].point
    assert len({search.choose(report, 1.0) for _ in range(100)}) > 3
    assert {search.choose(report, 1e-3) for _ in range(20)} <= {move.point for move in report.moves[:2]}


def test_lower_bound_prefers_the_surer_of_two_alike() -> None:
    visits, bound = np.array([100, 90, 5]), np.array([0.1, 0.2, 0.9])
    assert best_first(visits, bound, "lcb")[0] == 1
    assert best_first(visits, bound, "visits") == [0, 1, 2]


def test_a_forbidden_move_does_not_weigh_down_the_others() -> None:
    search, free = searched(Game(5), 400)
    best = free.moves[0].point
    report = run(search, Limits(visits=50), root_moves=RootMoves(avoid=((BLACK, best, 1),)))
    assert best not in [move.point for move in report.moves]
    assert max(move.selection for move in report.moves) == max(move.weight for move in report.moves)
    assert best not in {search.choose(report, 1.0) for _ in range(20)}


def test_a_visit_limit_is_played_out_and_a_time_limit_is_not() -> None:
    # With one move allowed nothing can catch up from half of the way on.
    only = RootMoves(allow=((BLACK, parse_vertex("C3", 5, 5), 1),))
    search = search_of(Game(5), UniformEvaluator())
    assert run(search, Limits(visits=400), root_moves=only).visits == 400
    search.clear()
    assert run(search, Limits(seconds=1.0), root_moves=only).seconds < 0.9


def test_ownership_is_for_the_side_to_move() -> None:
    for colour, sign in ((BLACK, 1), (WHITE, -1)):
        game = Game(5)
        game.to_move = colour
        search = search_of(game, HashEvaluator(4))
        report = run(search, Limits(visits=100), ownership=True, moves_ownership=True)
        assert report.ownership is not None
        assert report.ownership[0, :3].tolist() == [sign, -sign, 0]
        assert all(move.ownership is not None and move.ownership[0, 0] == sign for move in report.moves)


def test_ownership_asked_for_later_is_there_though_the_visits_are() -> None:
    search, _ = searched(Game(5), 100)
    report = run(search, Limits(visits=100), ownership=True)
    assert report.ownership is not None and report.ownership[0, 0] == 1
    assert report.new_visits == 100  # the tree did not keep it


def test_a_tree_that_keeps_ownership_keeps_it_for_all() -> None:
    game = Game(5)
    search = Search(HashEvaluator(4), seed=1, ownership=True)
    search.set_position(game)
    best = run(search, Limits(visits=500)).moves[0]
    game.play(BLACK, best.point)
    search.set_position(game)
    report = run(search, Limits(visits=best.visits), ownership=True)
    assert report.new_visits == 0 and report.visits == best.visits
    assert report.ownership is not None and report.ownership[0, 0] == -1


def vary(rows: np.ndarray, boards: np.ndarray, indices: np.ndarray) -> None:
    """Gives every position an ownership of its own."""
    ownership = [np.random.default_rng(int(boards["hash"][i])).uniform(-1, 1, (4, 4)).ravel() for i in indices]
    rows[:, ownership_column(16) :] = ownership


def test_ownership_is_the_mean_over_the_nodes_below() -> None:
    """What is summed up leaf by leaf, from a reused tree on, against every node looked at afresh."""
    game = Game(4)
    search = search_of(game, HashEvaluator(4, change=vary))
    best = run(search, Limits(visits=200), ownership=True).moves[0]
    game.play(BLACK, best.point)
    search.set_position(game)
    report = run(search, Limits(visits=best.visits + 100), moves_ownership=True)
    tree, root = search.tree, search.root
    assert tree is not None and root > 0 and report.ownership is not None
    rows: dict[int, list[np.ndarray]] = {}
    for leaf in range(tree.size[0]):
        line = [leaf]
        while line[-1] not in (root, -1):
            line.append(int(tree.nodes["parent"][line[-1]]))
        if line[-1] == root and tree.nodes["state"][leaf] == trees.EXPANDED:
            owned = tree.ownership[leaf] / 127.0 * (-1) ** (len(line) - 1)
            rows.setdefault(int(tree.nodes["move"][line[-2]]) if leaf != root else -1, []).append(owned)
    everything = [owned for row in rows.values() for owned in row]
    assert report.ownership.ravel() == pytest.approx(np.mean(everything, axis=0), abs=1e-6)
    for move in report.moves:
        expected = np.mean(rows[index_of_point(move.point, 4, 4)], axis=0)
        assert move.ownership is not None and move.ownership.ravel() == pytest.approx(expected, abs=1e-6)


def test_the_same_seed_repeats_the_same_search() -> None:
    first, second = (searched(Game(7), 500, evaluator=HashEvaluator(8), root_noise=0.25)[1] for _ in range(2))
    assert [(m.point, m.visits, m.pv) for m in first.moves] == [(m.point, m.visits, m.pv) for m in second.moves]


def test_rave_counts_the_rollouts_of_the_subtree_and_the_moves_of_the_path() -> None:
    game = Game(5, komi=0.5)
    search = search_of(game, RolloutEvaluator(seed=1, rollouts=2), rave=100)
    run(search, Limits(visits=200))
    tree = search.tree
    size = int(tree.size[0])
    plays, wins = tree.amaf[:size, :, 0], tree.amaf[:size, :, 1]
    visits = tree.nodes["visits"][:size, None]
    assert (plays <= visits * (1 + 1e-5)).all()  # each visit's rollouts weigh one
    assert (abs(wins) <= plays + 1e-3).all()
    children = np.zeros(26, np.int32)
    for child in children[: trees.children_of(tree, 0, children)]:
        if tree.nodes["move"][child] < 25:
            assert plays[0, tree.nodes["move"][child]] >= tree.nodes["visits"][child] * (1 - 1e-5)


def test_rave_is_for_evaluators_with_rollouts() -> None:
    search, _ = searched(Game(5), 50, rave=100)
    assert len(search.tree.amaf) == 0


def test_a_root_policy_temperature_levels_the_priors() -> None:
    game = Game(5)
    tried = [len(searched(game, 60, root_policy_temperature=temperature)[1].moves) for temperature in (0.5, 1.0, 3.0)]  # type: ignore[attr-defined]
    assert tried[0] < tried[1] < tried[2]
    early = searched(game, 60, root_policy_temperature=0.5, early_root_policy_temperature=3.0)[1]
    assert len(early.moves) == tried[2]  # at the start of the game
    _, report = searched(game, 60, root_policy_temperature=3.0)
    assert report.root_evaluation is not None
    shown = {move.point: move.prior for move in report.moves}  # type: ignore[attr-defined]
    policy = report.root_evaluation.policy
    assert all(prior == pytest.approx(policy[index_of_point(p, 5, 5)], abs=1e-3) for p, prior in shown.items())
