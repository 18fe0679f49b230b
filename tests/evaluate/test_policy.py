"""A policy by vertex."""

import numpy as np
import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import parse_vertex
from gtp_engine.search.evaluate.row import Policy

PROBABILITIES = np.zeros(13, np.float32)  # 4x3: A3 B3 C3 D3 A2 ... D1 pass
PROBABILITIES[[1, 4, 12]] = 0.5, 0.375, 0.125


def test_moves_are_found_by_vertex_and_by_point() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert (policy["B3"], policy["a2"], policy["pass"], policy["D1"]) == (0.5, 0.375, 0.125, 0)
    assert policy[parse_vertex("A2", 4, 3)] == 0.375


def test_it_is_a_mapping_in_move_index_order() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert list(policy) == ["A3", "B3", "C3", "D3", "A2", "B2", "C2", "D2", "A1", "B1", "C1", "D1", "pass"]
    assert list(policy.values()) == PROBABILITIES.tolist() == np.asarray(policy).tolist()
    assert len(policy) == 13
    assert max(policy, key=policy.__getitem__) == "B3"


def test_the_most_probable_moves_come_first() -> None:
    policy = Policy(PROBABILITIES, 4, 3)
    assert policy.top(2) == [("B3", 0.5), ("A2", 0.375)]
    assert policy.top() == [("B3", 0.5), ("A2", 0.375), ("pass", 0.125)]
    assert repr(policy) == "<Policy: B3 50.0%, A2 37.5%, pass 12.5%>"


@pytest.mark.parametrize("move", ["E1", "A4", "", 0.5, 999])
def test_moves_off_the_board_are_errors(move: object) -> None:
    with pytest.raises(UserError, match="invalid"):
        Policy(PROBABILITIES, 4, 3)[move]  # type: ignore[index]
    assert move not in Policy(PROBABILITIES, 4, 3)
    assert Policy(PROBABILITIES, 4, 3).get(move, 0.25) == 0.25
    assert "D1" in Policy(PROBABILITIES, 4, 3)
