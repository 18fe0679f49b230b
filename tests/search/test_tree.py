"""The arena of nodes."""

import numpy as np

from gtp_engine.search.tree import NODE, TreeLayout, add_node, new_tree

# Of an expanded node alone: its evaluation writes these before anything reads them.
WRITTEN_BY_THE_EVALUATION = {"own_value", "own_lead", "own_score", "own_score_square", "own_weight"}


def test_every_field_of_a_new_node_is_written() -> None:
    """Whatever the memory held before, and for every field: one that is added and forgotten is found here."""
    nodes = []
    for byte in (0x00, 0xFF):
        tree = new_tree(2, 9, TreeLayout())
        tree.nodes[1:].view(np.uint8)[:] = byte
        add_node(tree, 0, 4, 0.25)
        nodes.append(tree.nodes[1].copy())
    differing = {name for name in NODE.names or () if nodes[0][name].tobytes() != nodes[1][name].tobytes()}
    assert differing == WRITTEN_BY_THE_EVALUATION
