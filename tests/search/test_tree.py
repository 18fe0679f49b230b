"""The arena of nodes, and what it keeps of the errors of evaluations: which positions share an entry."""

import numpy as np
import pytest
from searching import searched

from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.search.tree import NO_NODE, TreeLayout, add_node, keep_subtree, new_tree
from gtp_engine.search.value_bias import entry_of, fill_biases, key_of, mean_gap, new_biases


def test_every_field_of_a_new_node_is_written() -> None:
    """Whatever the memory held before."""
    nodes = []
    for byte in (0x00, 0xFF):
        tree = new_tree(2, 9, TreeLayout())
        tree.nodes[1:].view(np.uint8)[:] = byte
        add_node(tree, 0, 4, 0.25)
        nodes.append(tree.nodes[1].copy())
    assert nodes[0] == nodes[1]


def test_a_subtree_moves_up_in_its_order() -> None:
    tree = new_tree(8, 9, TreeLayout(rave=True, ladders=True, biases=True, ownership=True))
    for parent, move in ((0, 1), (0, 2), (1, 3), (2, 4), (2, 5), (1, 6), (4, 7)):  # nodes 1 to 7
        add_node(tree, parent, move, 0.5)
    for array in (tree.priors, tree.ownership, tree.ladders, tree.amaf):
        array[:] = np.arange(8).reshape(8, *[1] * (array.ndim - 1))
    tree.nodes["bias_key"], tree.nodes["bias_weight"] = 7, np.arange(8)
    tree.biases[3] = (7, 100.0, 100.0)
    keep_subtree(tree, 2)
    assert tree.size[0] == 4
    nodes = tree.nodes[:4]
    assert nodes["move"].tolist() == [2, 4, 5, 7]
    assert nodes["parent"].tolist() == [NO_NODE, 0, 0, 1]
    assert nodes["first_child"].tolist() == [1, 3, NO_NODE, NO_NODE]
    assert nodes["next_sibling"].tolist() == [NO_NODE, 2, NO_NODE, NO_NODE]
    for array in (tree.priors, tree.ownership, tree.ladders, tree.amaf):
        assert array[:4].reshape(4, -1).T.tolist() == [[2, 4, 5, 7]] * array[0].size
    assert tree.biases["weight"].sum() == 2 + 4 + 5 + 7 and tree.biases["gap"].sum() == 0


def key(stones: str, move: str) -> int:
    """Of the position after the last move, the others played by turns before."""
    game = Game(9)
    for vertex in stones.split():
        game.play(game.to_move, parse_vertex(vertex, 9, 9))
    return int(key_of(game.board[0], parse_vertex(move, 9, 9)))


def test_far_stones_do_not_matter() -> None:
    assert key("A1 J9 E5", "E4") == key("J1 A9 E5", "E4") != 0


@pytest.mark.parametrize(
    ("stones", "move"),
    [
        ("A1 J9 E6", "E4"),  # another move before
        ("A1 J9 E5", "F4"),  # another move
        ("J9 E5", "E4"),  # another colour
        ("F6 J9 E5", "E4"),  # a stone within two of the move
    ],
)
def test_near_stones_and_the_last_moves_do(stones: str, move: str) -> None:
    assert key(stones, move) not in (0, key("A1 J9 E5", "E4"))


def test_atari_does() -> None:
    # Black's F5 lies outside the 5x5 round C3 and takes one of the liberties of white's E5 inside: its last but one.
    assert key("E6 E5 D5 A9 J5 J9 H1 J1", "C3") != key("E6 E5 D5 A9 F5 J9 H1 J1", "C3")
    assert key("G9 E5 D5 A9 J5 J9 H1 J1", "C3") == key("G9 E5 D5 A9 F5 J9 H1 J1", "C3")


def test_passes_and_first_moves_share_nothing() -> None:
    assert key("", "E5") == 0
    assert key("E5", "pass") == 0
    assert key("E5 pass", "C3") != 0


def test_entries_are_found_again_though_they_collide() -> None:
    biases = new_biases(4)
    keys = [np.uint64(number) for number in (8, 16, 24, 3)]
    indices = [int(entry_of(biases, number)) for number in keys]
    assert len(set(indices)) == 4
    assert [int(entry_of(biases, number)) for number in keys] == indices


def test_the_table_holds_what_the_nodes_have_found() -> None:
    tree = searched(Game(4), 600, value_bias=0.45)[0].tree
    nodes = tree.nodes[: tree.size[0]]
    made_again = new_biases(len(tree.nodes))
    fill_biases(made_again, nodes)
    shared = {}
    for record in nodes[nodes["bias_weight"] > 0]:
        mean = record["utility_sum"] - (record["weight"] - record["children_weight"]) * record["own_utility"]
        assert record["bias_weight"] == pytest.approx(record["children_weight"] ** 0.85, rel=1e-5)
        assert abs(mean) < 10 * record["weight"]
        number = record["bias_key"]
        shared[number] = shared.get(number, 0) + 1
        live, again = (biases[entry_of(biases, number)] for biases in (tree.biases, made_again))
        assert live["weight"] == pytest.approx(again["weight"], abs=1e-3)
        assert live["gap"] == pytest.approx(again["gap"], abs=1e-3)
    assert max(shared.values()) > 1


def test_an_evaluation_is_corrected_by_its_share_of_the_gap() -> None:
    tree = searched(Game(4), 600, value_bias=0.45)[0].tree
    nodes = tree.nodes[: tree.size[0]]
    latest = nodes[(nodes["visits"] == 1) & (nodes["bias_key"] != 0)][-1]  # nothing was learnt after it of its kind
    gap = mean_gap(tree.biases[entry_of(tree.biases, latest["bias_key"])])
    assert latest["utility_sum"] == pytest.approx(latest["own_utility"] + 0.45 * gap, abs=0.05)
    plain = searched(Game(4), 600, value_bias=0.0, noise_pruning=10.0)[0].tree
    assert not len(plain.biases)
    assert not plain.nodes["bias_key"][: plain.size[0]].any()


def test_a_tree_that_goes_on_after_a_move_keeps_what_it_knows() -> None:
    game = Game(4)
    search, report = searched(game, 500, value_bias=0.45, tree_megabytes=0.3)
    game.play(game.to_move, report.moves[0].point)
    search.set_position(game)
    tree = search.tree
    nodes = tree.nodes[: tree.size[0]]
    assert 0 < search.visits < 500
    total = float(nodes["bias_weight"].sum())
    assert float(tree.biases["weight"].sum()) == pytest.approx(total, rel=1e-4)
