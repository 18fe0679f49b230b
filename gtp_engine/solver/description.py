"""A solution in words, for the terminal and for GTP."""

from collections.abc import Iterable

from ..base.messages import plural
from ..go.coords import PASS, colour_name, opponent, vertex
from ..go.game import Game
from .refutations import Outcome
from .solution import Answer, Solution

_STATUS = {
    "alive": "alive",
    "dead": "dead",
    "seki": "alive in seki",
    "ko": "ko",
    "unsettled": "unsettled: who moves first decides",
    "unknown": "not solved",
}
_OUTCOME = {
    Outcome.LIVES: "it lives",
    Outcome.SEKI: "it lives in seki",
    Outcome.KO: "ko",
    Outcome.DIES: "it dies",
    Outcome.UNKNOWN: "not solved",
}


def describe(solution: Solution, game: Game) -> list[str]:
    """Returns the lines that tell what was found, without an end of line.

    Args:
        solution: What was found.
        game: The position.
    """

    def named(points: Iterable[int]) -> str:
        return " ".join("pass" if point == PASS else vertex(point, game.width, game.height) for point in points)

    def answered(answer: Answer) -> str:
        text = f"  {colour_name(answer.first).title()} to move: {_OUTCOME[answer.outcome]}"
        if answer.moves == (PASS,):
            return f"{text}, no move is needed"
        if answer.moves:
            text += f" with {named(answer.moves)}" if len(answer.moves) == 1 else f" with any of {named(answer.moves)}"
        return f"{text}; {named(answer.line)}" if answer.line else text

    who = f"{colour_name(solution.defender).title()}'s {plural(len(solution.target), 'stone')}"
    lines = [f"{who} at {named(solution.target[:1])}: {_STATUS[solution.status]}"]
    answers = [solution.answers[colour] for colour in (opponent(solution.defender), solution.defender)]
    lines += [answered(answer) for answer in answers]
    are_alike = answers[0].walls == answers[1].walls
    for answer in answers[:1] if are_alike else answers:
        if answer.walls:
            when = "" if are_alike else f"for {colour_name(answer.first).title()} to move, "
            lines.append(f"  {when}if the stones around live: {named(chain[0] for chain in answer.walls)}")
    lines.append(f"  {plural(solution.positions, 'position')} read in {solution.seconds:.1f} s")
    return lines
