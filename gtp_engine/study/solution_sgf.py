"""The SGF of a solved problem: the position, with the tree of each answer as variations.

Properties of FF[4]: TE (good move, here one that works), BM (bad move, here one that does not), TR (the group).
"""

from collections.abc import Iterable

from ..go.coords import opponent, sgf_point
from ..go.game import Game, Move
from ..go.sgf import GameRecord, TreeNode
from ..solver.description import OUTCOMES, describe
from ..solver.refutations import Branch
from ..solver.solution import Answer, Solution
from .problem_sgf import position_record


def solution_record(solution: Solution, game: Game) -> GameRecord:
    """Returns a record that begins with the position; the trees of both players begin there.

    Args:
        solution: What was found.
        game: The position; its moves are not in the record.
    """
    record = position_record(game)
    target = [sgf_point(point, game.width, game.height).encode() for point in solution.target]
    record.change(record.root, record.root.properties | {"TR": target})
    record.root.comment = "\n".join(line.strip() for line in describe(solution, game))
    for colour in (game.to_move, opponent(game.to_move)):
        _add(record, record.root, solution.answers[colour], solution.answers[colour].tree, colour)
    return record


def _add(record: GameRecord, parent: TreeNode, answer: Answer, tree: Iterable[Branch], colour: int) -> None:
    for branch in tree:
        marks = {}
        if parent is record.root and answer.moves:
            marks = {"TE" if branch.outcome is answer.outcome else "BM": [b"1"]}
        node = record.add(parent, marks, move=Move(colour, branch.point))
        if parent is record.root or not branch.replies:
            node.comment = OUTCOMES[branch.outcome]
        _add(record, node, answer, branch.replies, opponent(colour))
