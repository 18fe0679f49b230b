"""The arena of nodes."""

import numpy as np

from gtp_engine.search.tree import NO_NODE, TreeLayout, add_node, keep_subtree, new_tree


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
    tree = new_tree(8, 9, TreeLayout(rave=True, ladders=True, biases=True), ownership=True)
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
