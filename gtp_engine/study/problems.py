"""Life-and-death problems: which group is meant, what the player to move can reach, and whether a move reaches it.

That is found by the exact solver. What a record says about its own problem is kept apart from what is proved.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from ..base.errors import UserError
from ..go.coords import BLACK, PASS, WHITE, opponent
from ..go.game import Game
from ..go.life import unproven_chains
from ..go.regions import points_of
from ..go.sgf import GameRecord, TreeNode, read_number
from ..solver.part import enclosed_groups, find_part
from ..solver.refutations import Outcome
from ..solver.solution import Solution, solve
from .kept_problems import Missed

LOST = "LOST"  # a property of this program: the points that the move lost of whose mistake a problem was made
_TO_MOVE = re.compile(r"\b(black|white) (?:to|plays?|moves?|first|lives?|kills?)\b|([黑黒白])先", re.IGNORECASE)
_VERTEX = re.compile(r"\b[A-HJ-T](?:1\d|[1-9])\b")
_MOST_CHAINS = 12  # that are tried, if nothing says which is meant
_LEAST_STONES = 3  # of a chain that nothing names: smaller ones are seldom what a problem is about
# The empty points of the parts in which a group is taken to be enclosed, and how many groups are. Of 28 elementary
# problems that nothing else solved, in 13 the book's first move reaches a goal there.
_ENCLOSED, _MOST_ENCLOSED = (10, 12, 14, 16, 18), 6
_MOST_SOLUTIONS = 2  # first moves that may work there: if more do, too much was taken for granted
_ORDER = (Outcome.DIES, Outcome.KO, Outcome.SEKI, Outcome.LIVES)  # what the attacker wants most is first


@dataclass(frozen=True)
class Problem:
    """A position with a player to move.

    Attributes:
        record: The record that it comes from.
        node: The node of the position there.
        game: The position. It belongs to the problem: copy it.
        missed: The mistake that it was made of; None for a problem from a collection.
    """

    record: GameRecord
    node: TreeNode
    game: Game
    missed: Missed | None = None


def problem_of(record: GameRecord, missed: Missed | None = None) -> Problem:
    """Returns the problem of a record: the position before the first move, or the last one of a game with a mistake.

    The record may tell the mistake, too (`problem_sgf`). Whose turn it is the record says, or the colour of its next
    move, or its comment; otherwise it is Black's.

    Raises:
        SgfError: The record cannot be replayed.
    """
    line = record.main_line
    count = next((place for place, node in enumerate(line) if node.move is not None), len(line))
    node = line[max(1, count) - 1] if missed is None else line[-1]
    game = record.position(node).copy()
    said = None if node.next is not None or game.moves else _TO_MOVE.search(node.comment)
    if said is not None and not any("PL" in each.properties for each in node.path):
        game.to_move = WHITE if (said[1] or said[2]).lower() in ("white", "白") else BLACK
    return Problem(record, node, game, missed or _told(record, node, game))


def _told(record: GameRecord, node: TreeNode, game: Game) -> Missed | None:
    """Returns the mistake that a saved problem was made of; None if the record does not say."""
    played = next((child for child in node.children if LOST in child.properties), None)
    better = next((child for child in node.children if LOST not in child.properties), None)
    points = None if played is None else read_number(played.text(LOST))
    if played is None or played.move is None or points is None or not 0 < points <= 2 * game.area:
        return None
    moves = [each.move for each in record.line(better)[len(node.path) :]] if better else []
    line = tuple(game.vertex(move.point) for move in moves if move is not None)
    group = next(map(game.vertex, record.marks(node).shapes), "")
    return Missed(game.vertex(played.move.point), points, line, group)


def key_of(game: Game) -> str:
    """Returns what identifies a position and its player to move, in whatever file it is."""
    content = f"{game.width} {game.height} {game.to_move} ".encode() + game.stones().tobytes()
    return hashlib.sha256(content).hexdigest()[:20]


@dataclass(frozen=True)
class Goal:
    """What the player to move can reach with a group.

    Attributes:
        outcome: What becomes of the group if the player finds the way.
        solution: What was found about it.
    """

    outcome: Outcome
    solution: Solution

    def is_reached(self, outcome: Outcome, player: int) -> bool:
        """Whether an outcome is at least as good for the player."""
        if outcome is Outcome.UNKNOWN:
            return False
        gain = _ORDER.index(outcome) - _ORDER.index(self.outcome)
        return gain >= 0 if player == self.solution.defender else gain <= 0


def goal_of(solution: Solution, player: int) -> Goal | None:
    """Returns what a player reaches who moves first, and would not otherwise; None if there is no such thing.

    What happens if the opponent moves first need not be known.
    """
    own, other = solution.answers[player], solution.answers[opponent(player)]
    if own.outcome is Outcome.UNKNOWN or not own.moves or own.moves == (PASS,):
        return None
    goal = Goal(own.outcome, solution)
    return None if goal.is_reached(other.outcome, player) else goal


def find_goal(
    problem: Problem, seconds: float, stop: threading.Event, report: Callable[[int, int], object]
) -> Goal | None:
    """Finds the group that a problem is about: one whose fate depends on who moves first; None if none was found.

    If there is none, and the record has a solution, groups are taken to be enclosed: one is meant if the solution's
    first move works then, and hardly another one.

    Args:
        problem: The problem.
        seconds: The longest time for a group that the record names; others have a quarter of it, and each part in
            which one is taken to be enclosed an eighth.
        stop: Ends the search.
        report: Called with the number of the reading that begins, and how many there are: those of the groups, and of
            those that are taken to be enclosed.
    """
    game, named = problem.game, [*_named(problem)]
    groups = named or [*_unnamed(game)][:_MOST_CHAINS]
    following = problem.node.next
    solution = None if following is None or following.move is None else following.move
    enclosed = [] if solution is None or solution.colour != game.to_move else groups[:_MOST_ENCLOSED]
    count = len(groups) + len(enclosed)
    for number, points in enumerate(groups, 1):
        if stop.is_set():
            return None
        report(number, count)
        with suppress(UserError):  # it is too large to be read
            found = solve(game, points, seconds=seconds if named else seconds / 4, stop=stop)
            if (goal := goal_of(found, game.to_move)) is not None:
                return goal
    for number, points in enumerate(enclosed, len(groups) + 1):
        if stop.is_set():
            return None
        report(number, count)
        goal = _enclosed_goal(game, points, seconds / 8, stop)
        moves = () if goal is None else goal.solution.answers[game.to_move].moves
        if solution is not None and solution.point in moves and len(moves) <= _MOST_SOLUTIONS:
            return goal
    return None


def _enclosed_goal(game: Game, points: Iterable[int], seconds: float, stop: threading.Event) -> Goal | None:
    """Returns what the player to move can reach if a group cannot get out of the largest part that is read in time."""
    goal, seen = None, set[frozenset[int]]()
    for empty in _ENCLOSED:
        with suppress(UserError):  # it is too large to be read
            within = frozenset(find_part(game, points, empty).points.values())
            if within in seen:
                break
            seen.add(within)
            found = solve(game, points, seconds=seconds, stop=stop, within=within)
            if found.answers[game.to_move].outcome is Outcome.UNKNOWN:
                break
            goal = goal_of(found, game.to_move)
    return goal


def _named(problem: Problem) -> Iterator[list[int]]:
    """Yields the groups that the record marks, or else names in the comment: the stones of each colour are one."""
    game, marks = problem.game, problem.record.marks(problem.node)
    texts = _VERTEX.findall(problem.node.comment) if problem.missed is None else [problem.missed.group]
    for places in ({*marks.shapes, *marks.labels}, texts):
        points = set[int]()
        for place in places:
            with suppress(UserError):
                points.add(game.point(place))
        for colour in (opponent(game.to_move), game.to_move):
            if group := [point for point in points if point != PASS and game.stone_at(point) == colour]:
                yield group


def _unnamed(game: Game) -> Iterator[tuple[int, ...]]:
    """Yields the chains that may be meant, the most likely first: those that are enclosed, then others by size."""
    enclosed = sorted(enclosed_groups(game), key=len, reverse=True)
    yield from enclosed
    chains = (tuple(points_of(chain.cells, game.width)) for chain in unproven_chains(game))
    others = (chain for chain in chains if len(chain) >= _LEAST_STONES and chain not in enclosed)
    yield from sorted(others, key=len, reverse=True)


@dataclass(frozen=True)
class Verdict:
    """What is known about a move.

    Attributes:
        by: Who says it: "solver", which proves it, "search", or "record".
        is_right: Whether the move is right; None if that is not known.
        outcome: What becomes of the group after it, for the solver.
        reply: The opponent's best answer as a point: the strongest resistance or the refutation; None for none.
        walls: The chains, as points, that are taken for safe in the proof.
        is_decided: Whether nothing that the opponent plays changes the outcome any more, or only a ko decides it.
        points: The points that the move loses, for the search.
        is_conditional: Whether the proof takes for granted that the group cannot get out.
    """

    by: str
    is_right: bool | None = None
    outcome: Outcome = Outcome.UNKNOWN
    reply: int | None = None
    walls: tuple[tuple[int, ...], ...] = ()
    is_decided: bool = False
    points: float | None = None
    is_conditional: bool = False


def judge(after: Game, goal: Goal, seconds: float, stop: threading.Event) -> Verdict:
    """Judges the last move of a position by what it leads to; not known if that is not found in the time."""
    target, player, within = goal.solution.target, opponent(after.to_move), goal.solution.within

    def is_taken(game: Game) -> bool:
        return any(game.stone_at(point) != goal.solution.defender for point in target)

    if is_taken(after):
        return Verdict("solver", goal.is_reached(Outcome.DIES, player), Outcome.DIES, is_decided=True)
    read = partial(solve, points=target, first=after.to_move, seconds=seconds, stop=stop, within=within)
    found = read(after)
    answer = found.answers[after.to_move]
    if answer.outcome is Outcome.UNKNOWN:
        return Verdict("solver")
    reply = next((point for point in answer.line if point != PASS), None)
    is_right = goal.is_reached(answer.outcome, player)
    verdict = Verdict("solver", is_right, answer.outcome, reply, answer.walls, is_conditional=found.is_conditional)
    if reply is None or not verdict.is_right:
        return replace(verdict, is_decided=reply is None)
    game = after.copy()
    if not game.is_legal(reply):  # superko, or a ko that is retaken at once in the proof
        return replace(verdict, is_decided=reply == after.board["ko_point"][0])
    game.play(after.to_move, reply)
    if is_taken(game):
        return verdict
    if answer.outcome is Outcome.KO and game.board["ko_point"][0] != PASS:  # only threats elsewhere are left
        return replace(verdict, is_decided=True)
    # Whether the player could as well pass after the best answer.
    again = read(game).answers[after.to_move]
    return replace(verdict, is_decided=goal.is_reached(again.outcome, player))


def judge_by_record(problem: Problem, line: Iterable[int]) -> Verdict:
    """Returns what the record says about the last move of a line from the problem's position.

    A move on the main line is right. A move in a variation, or after the end of the record, tells nothing.
    """
    node = problem.node
    for point in line:
        if not node.children:
            return Verdict("record")
        following = (child for child in node.children if child.move is not None and child.move.point == point)
        if (found := next(following, None)) is None:
            return Verdict("record", False)
        node = found
    reply = next((child.move.point for child in node.children if child.move is not None), None)
    return Verdict("record", node in problem.record.main_line or None, reply=reply, is_decided=reply is None)
