"""Graph search: which positions share a node, what its links count, and that no way round ever repeats."""

import numpy as np
import pytest
from hash_evaluator import HashEvaluator
from searching import run, search_of, searched

from gtp_engine.go.coords import EMPTY, PASS, WHITE, index_of_point, parse_vertex, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.averaging import Averaging, average_children
from gtp_engine.search.evaluate.row import NO_RESULT, POLICY, WIN
from gtp_engine.search.request import Limits
from gtp_engine.search.search import Search
from gtp_engine.search.transpositions import fill_table, find_or_add, new_table, position_key
from gtp_engine.search.tree import NO_NODE, NOT_REACHED, TERMINAL, reached_from

NETWORK_LIKE = {"better_children": 0.25, "noise_pruning": 0.15, "value_bias": 0.45}


def key_after(moves: str, size: int = 9, rules: str = "chinese") -> int:
    """The key of the position after these moves, by turns."""
    game, key = Game(size, rules=RULESETS[rules]), np.uint64(0)
    for vertex in moves.split():
        game.play(game.to_move, parse_vertex(vertex, size, size))
        key = np.uint64(position_key(game.board[0], key))
    return int(key)


def test_another_order_of_the_same_moves_has_the_same_key() -> None:
    assert key_after("C3 G7 G3 C7") == key_after("G3 C7 C3 G7") != key_after("C7 G3 G7 C3")


def test_the_player_to_move_matters() -> None:
    assert key_after("C3 G7 pass E5") != key_after("C3 G7 E5 pass")


def test_a_ko_matters() -> None:
    game = Game(9)
    for vertex in ["C3", "D3", "B4", "E4", "C5", "D5", "A1", "C4", "D4"]:  # Black's last move takes C4 in a ko
        game.play(game.to_move, parse_vertex(vertex, 9, 9))
    board = game.board.copy()
    assert board["ko_point"][0] == parse_vertex("C4", 9, 9)
    before = position_key(board[0], np.uint64(0))
    board["ko_point"] = PASS
    assert position_key(board[0], np.uint64(0)) != before


def test_prisoners_matter_only_if_they_count() -> None:
    # A stone of White's in the corner is captured, or was never there: White passed.
    ways = "A2 A1 B1 J9 E5", "A2 J9 B1 pass E5"
    assert key_after(ways[0]) == key_after(ways[1])
    assert key_after(ways[0], rules="japanese") != key_after(ways[1], rules="japanese")


def test_it_matters_who_took_the_button() -> None:
    ways = "pass B2 A1 pass C3 D4", "A1 pass C3 B2 pass D4"
    assert key_after(ways[0]) == key_after(ways[1])
    assert key_after(ways[0], rules="aga-button") != key_after(ways[1], rules="aga-button")


def test_where_play_may_soon_repeat_the_order_matters() -> None:
    """On a board of nine points every stone can be taken off again soon."""
    assert key_after("A1 C3 C1 A3", size=3) != key_after("C1 A3 A1 C3", size=3)
    assert key_after("A1 C3 C1 A3", size=5) == key_after("C1 A3 A1 C3", size=5)


def test_a_table_finds_the_first_node_of_each_key() -> None:
    keys = np.array([0, 5, 5 + 16, 5, 9], np.uint64)  # the second and third meet in a table of 16
    table = new_table(len(keys))
    assert [find_or_add(table, keys, keys[node], node) for node in range(1, 5)] == [1, 2, 1, 4]
    keys[3] = 0
    fill_table(table, keys)
    assert [find_or_add(table, keys, key, 0) for key in (5, 21, 9)] == [1, 2, 4]


def legal_points(game: Game) -> list[int]:
    return [point_of_index(int(move), game.width, game.height) for move in np.flatnonzero(game.legal_moves())]


def check(search: Search) -> int:
    """Compares a graph with its positions, played out move by move; returns the number of links."""
    nodes = search.tree.nodes[: search.tree.size[0]]
    assert not nodes["in_flight"].any()
    seen: dict[int, tuple[object, ...]] = {}
    waiting, links = [(search.root, search.game.copy())], 0
    while waiting:
        node, game = waiting.pop()
        board = game.board[0]
        position = game.stones().tobytes(), game.to_move, int(board["ko_point"]), int(board["passes"])
        if node in seen:
            assert seen[node] == position
            continue
        seen[node] = position
        visits, child = 1, nodes[node]["first_child"]
        while child != NO_NODE:
            record, after = nodes[child], game.copy()
            point = point_of_index(int(record["move"]), game.width, game.height)
            if after.is_legal(point):  # superko may forbid it on one way of several
                after.play(after.to_move, point)
                if record["target"] != NO_NODE:
                    links += 1
                    assert record["first_child"] == NO_NODE
                    assert nodes[record["target"]]["parent"] == nodes[record["target"]]["target"] == NO_NODE
                waiting.append((int(child if record["target"] == NO_NODE else record["target"]), after))
            visits += record["visits"]
            child = record["next_sibling"]
        if nodes[node]["visits"] and nodes[node]["state"] != TERMINAL:
            assert nodes[node]["visits"] == visits
    return links


@pytest.mark.parametrize("settings", [{}, NETWORK_LIKE, {"selection": "uct"}, {"gumbel_moves": 8}])
@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_a_shared_node_is_one_position(settings: dict[str, object], rules: str) -> None:
    search, _ = searched(Game(5, rules=RULESETS[rules]), 3000, graph_search=True, **{"c_puct": 4.0, **settings})
    assert check(search) > (30 if "gumbel_moves" not in settings else 10)


@pytest.mark.parametrize("rules", ["chinese", "japanese", "tromp-taylor", "new-zealand"])
@pytest.mark.parametrize("size", [(4, 4), (5, 4)])
def test_no_visit_goes_round_for_ever(rules: str, size: tuple[int, int]) -> None:
    """On small boards much repeats, under rules without superko at any length."""
    game, links = Game(*size, rules=RULESETS[rules]), 0
    for _ in range(4):
        search, _ = searched(game, 2000, graph_search=True, c_puct=4.0)
        links += check(search)
        game.play(game.to_move, legal_points(game)[0])
    assert links


def test_a_link_has_its_share_of_its_target() -> None:
    search, report = searched(Game(7), 2000, graph_search=True, c_puct=4.0, **NETWORK_LIKE)
    nodes = search.tree.nodes[: search.tree.size[0]]
    links = np.flatnonzero((nodes["target"] != NO_NODE) & (nodes["visits"] > 0))
    for parent in sorted(set(nodes["parent"][links]), reverse=True):
        average_children(search.tree, parent, Averaging(False, 0.25, 0.15, 0.45, 0.0))
        for link in links[nodes["parent"][links] == parent]:
            target = nodes[nodes["target"][link]]
            share = nodes["visits"][link] / target["visits"]
            for name in ("weight", "utility_sum", "score_squares"):
                assert nodes[name][link] == pytest.approx(share * target[name])
    assert len(links) and sum(move.visits for move in report.moves) == report.visits - 1


class CyclingEvaluator(HashEvaluator):
    """White fills the board but A1; there Black plays first and last, which takes everything else off again."""

    def submit(self, boards, indices, symmetries=None, ladders=None, **options):  # type: ignore[no-untyped-def]
        rows = super().submit(boards, indices, symmetries, ladders, **options)
        corner = index_of_point(parse_vertex("A1", 4, 3), 4, 3)
        for row, board in zip(rows, boards[indices], strict=True):
            points = [point_of_index(move, 4, 3) for move in range(12)]
            empty = [move for move, point in enumerate(points) if board["stones"][point] == EMPTY]
            free, whites = [move for move in empty if move != corner], board["stones"][points].tolist().count(WHITE)
            plays = free if board["to_move"] == WHITE else [corner] * (corner in empty and whites in (0, 11))
            row[WIN : NO_RESULT + 1] = 0.5, 0.5, 0
            row[POLICY : POLICY + 13] = 1e-4
            row[POLICY + (plays or [12])[0]] = 1
        return rows


def test_a_cycle_may_lead_through_positions_before_the_root() -> None:
    game = Game(4, 3, rules=RULESETS["chinese"])  # without superko
    search = search_of(game, CyclingEvaluator(), graph_search=True, tree_megabytes=0.39, c_puct=1.0)
    run(search, Limits(visits=400), ownership=True)
    below = []
    for vertex in ("A1", "A2", "pass"):
        game.play(game.to_move, parse_vertex(vertex, 4, 3))
        search.set_position(game)
        for _ in range(4):
            run(search, Limits(visits=search.visits + 150), ownership=True)
            nodes = search.tree.nodes[: search.tree.size[0]]
            assert not nodes["in_flight"].any()
            below.append(reached_from(search.tree, search.root)[nodes["parent"][search.root]] != NOT_REACHED)
    assert any(below)


def test_a_graph_is_kept_from_move_to_move() -> None:
    game = Game(5)
    search, report = searched(game, 2000, graph_search=True, tree_megabytes=0.9)
    for _ in range(6):
        game.play(game.to_move, report.best.point)
        search.set_position(game)
        before = search.visits
        assert before > 0 or game.passes
        report = run(search, Limits(visits=before + 1500), ownership=True)
        check(search)
    assert report.ownership is not None and report.ownership[0, 0] == pytest.approx(1 if game.to_move == 1 else -1)


def test_a_move_that_superko_forbids_is_not_taken_from_another_way() -> None:
    """The tree is dropped if the node of the game's position allows other moves than the game."""
    search, _ = searched(Game(5), 500, graph_search=True)
    search.set_position(search.game)
    assert search.visits == 500
    row = search.tree.priors[search.root]
    row[np.flatnonzero(row)[0]] = 0  # as if it had been forbidden on the way by which the node was first reached
    search.set_position(search.game)
    assert search.visits == 0


def test_with_rollouts_too() -> None:
    from gtp_engine.search.evaluate.rollouts import RolloutEvaluator

    search, report = searched(Game(5), 1500, RolloutEvaluator(seed=1), graph_search=True)
    assert check(search) > 10 and report.visits >= 1500
    assert search_of(Game(5)).tree.keys.size == 0  # a tree has none
