"""The rules that a network learned with, which replace those that it has never seen.

Inputs for the rules mean nothing to a network if they never varied while it learned: under Japanese rules a network
that has learned with area scoring alone may believe that the side to move wins by fifteen points. Such a network is
shown every position under the nearest rules that it knows. Area and territory scoring differ by the moves that each
side has played until now, which is added to the komi that it sees.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from ...base.jit import inline, njit
from ...go.board import NO_BUTTON, SIMPLE_KO, TERRITORY_SCORING, Board, button_points, copy_board, played_more
from ...go.game import Game
from ...go.rules import Rules

# Ko rule, suicide, scoring, tax and button, as a board holds them; together they are the digits of a code.
_CHOICES = (3, 2, 2, 3, 2)
ALL_RULES = np.arange(np.prod(_CHOICES), dtype=np.int8)
"""The table of a network that knows all rules: each is shown as it is."""

# What it costs to show other rules: scoring changes the whole game, simple ko leaves a few repetitions to superko, and
# suicide and the kind of superko hardly ever matter.
_SCORING_COST, _TAX_COST, _KO_COST, _SUICIDE_COST, _BUTTON_COST, _SUPERKO_COST = 32.0, 8.0, 4.0, 2.0, 2.0, 1.0


@inline
def rules_code(board: Board) -> int:
    """Returns a number for the rules of a position, as far as networks see them."""
    code = int(board["ko_rule"]) * 2 + int(board["suicide"])
    return ((code * 2 + int(board["scoring"])) * 3 + int(board["tax"])) * 2 + int(board["button"] != NO_BUTTON)


@njit
def show_batch(boards: np.ndarray, indices: np.ndarray, nearest: np.ndarray, shown: np.ndarray) -> None:
    """Writes boards[indices[i]] into shown[i] as a network is to see it, complete with the marks for its inputs.

    `nearest` is the network's table (`nearest_rules`); `boards` and `shown` are arrays of BOARD.
    """
    for row in range(len(indices)):
        board = boards[indices[row]]
        show_under(board, nearest[rules_code(board)], shown[row])


@njit
def show_under(board: Board, code: int, shown: Board) -> None:
    """Makes `shown` the same position under the rules of a code, with a komi that leaves the final margin as it is."""
    copy_board(shown, board)
    for point in range((board["height"] + 2) * (board["width"] + 1) + 1):
        shown["ladders"][point] = board["ladders"][point]
    shown["suicide"] = code // 12 % 2 == 1
    shown["scoring"] = code // 6 % 2
    shown["tax"] = code // 2 % 3
    shown["ko_rule"] = code // 24
    komi = float(board["komi"])
    if shown["scoring"] != board["scoring"]:
        more = played_more(board)  # under territory scoring each of these stones pays a point
        komi += more if board["scoring"] == TERRITORY_SCORING else -more
    if code % 2 == 0:
        shown["button"] = NO_BUTTON
        komi -= button_points(board)
    shown["komi"] = komi


def code_of(rules: Rules) -> int:
    """Returns the code of a ruleset."""
    return int(rules_code(Game(2, rules=rules).board[0]))


def nearest_rules(known: Sequence[Rules]) -> np.ndarray:
    """Returns for each code of rules, int8, the code of the nearest in `known`: its own for all if `known` is empty."""
    if not known:
        return ALL_RULES
    digits = list(product(*map(range, _CHOICES)))
    codes = [code_of(rules) for rules in known]
    return np.array([min(codes, key=lambda code: _cost(digits[code], wanted)) for wanted in digits], np.int8)


def _cost(shown: tuple[int, ...], wanted: tuple[int, ...]) -> float:
    """Returns how far the shown rules are from the wanted ones."""
    ko, suicide, scoring, tax, button = (a != b for a, b in zip(shown, wanted, strict=True))
    is_superko = SIMPLE_KO not in (shown[0], wanted[0])
    cost = ko * (_SUPERKO_COST if is_superko else _KO_COST) + suicide * _SUICIDE_COST
    return cost + scoring * _SCORING_COST + tax * _TAX_COST + button * _BUTTON_COST
