"""A solution in words, for the terminal and for GTP, and as data for other programs."""

from collections.abc import Iterable, Iterator
from typing import Any

from ..base.messages import plural
from ..go.coords import PASS, colour_name, opponent
from ..go.game import Game
from .refutations import Branch, Outcome
from .solution import Answer, Solution

STATUSES = {
    "alive": "alive",
    "dead": "dead",
    "seki": "alive in seki",
    "ko": "ko",
    "unsettled": "unsettled: who moves first decides",
    "unknown": "not solved",
}
OUTCOMES = {
    Outcome.LIVES: "it lives",
    Outcome.SEKI: "it lives in seki",
    Outcome.KO: "ko",
    Outcome.DIES: "it dies",
    Outcome.UNKNOWN: "not solved",
}


def describe(solution: Solution, game: Game, *, trees: bool = False) -> list[str]:
    """Returns the lines that tell what was found, without an end of line; with trees of moves if they are wanted."""

    def named(points: Iterable[int]) -> str:
        return " ".join(map(game.vertex, points))

    def answered(answer: Answer) -> str:
        text = f"  {colour_name(answer.first).title()} to move: {OUTCOMES[answer.outcome]}"
        if answer.moves == (PASS,):
            return f"{text}, no move is needed"
        if answer.moves:
            text += f" with {named(answer.moves)}" if len(answer.moves) == 1 else f" with any of {named(answer.moves)}"
        return f"{text}; {named(answer.line)}" if answer.line else text

    who = f"{colour_name(solution.defender).title()}'s {plural(len(solution.target), 'stone')}"
    lines = [f"{who} at {named(solution.target[:1])}: {STATUSES[solution.status]}"]
    answers = [solution.answers[colour] for colour in (opponent(solution.defender), solution.defender)]
    for answer in answers:
        lines.append(answered(answer))
        if trees and answer.moves != (PASS,):  # whose tree is that of the other player
            for branch in answer.tree:
                lines += _drawn(branch, game, "    ", f": {OUTCOMES[branch.outcome]}")
    are_alike = answers[0].walls == answers[1].walls
    for answer in answers[:1] if are_alike else answers:
        if answer.walls:
            when = "" if are_alike else f"for {colour_name(answer.first).title()} to move, "
            lines.append(f"  {when}if the stones around live: {named(chain[0] for chain in answer.walls)}")
    if solution.is_conditional:
        lines.append("  if the group cannot get out")
    lines.append(f"  {plural(solution.positions, 'position')} read in {solution.seconds:.1f} s")
    return lines


def _drawn(branch: Branch, game: Game, indent: str, said: str = "") -> Iterator[str]:
    """Yields the lines of a tree: moves without a choice stand in one line."""
    moves = [branch]
    while len(moves[-1].replies) == 1:
        moves.append(moves[-1].replies[0])
    yield indent + " ".join(game.vertex(move.point) for move in moves) + said
    for reply in moves[-1].replies:
        yield from _drawn(reply, game, indent + "  ")


def as_document(solution: Solution, game: Game) -> dict[str, Any]:
    """Returns a solution as data for JSON: vertices for points, the names of outcomes, a tree as nested lists."""

    def vertices(points: Iterable[int]) -> list[str]:
        return [game.vertex(point) for point in points]

    def branches(tree: Iterable[Branch]) -> list[dict[str, Any]]:
        return [
            {"move": game.vertex(each.point), "outcome": each.outcome.value, "replies": branches(each.replies)}
            for each in tree
        ]

    return {
        "defender": colour_name(solution.defender),
        "stones": vertices(solution.target),
        "status": solution.status,
        "answers": [
            {
                "first": colour_name(answer.first),
                "outcome": answer.outcome.value,
                "moves": vertices(answer.moves),
                "line": vertices(answer.line),
                "walls": [vertices(chain) for chain in answer.walls],
                "tree": branches(answer.tree),
            }
            for answer in solution.answers.values()
        ],
        "isConditional": solution.is_conditional,
        "positions": solution.positions,
        "seconds": round(solution.seconds, 3),
    }
