"""The curves of a reviewed game: Black's lead and win rate, in a box of 100 by 100 for the page and for pictures."""

from collections.abc import Sequence
from dataclasses import dataclass

from .game_review import GameReview
from .mistakes import Mistake
from .review import MoveReview, Phase

_LEAST_LEAD = 10.0  # points that the graph of leads shows at least: else a quiet game would look wild
_ROOM = 1.35  # above the highest value, for the labels of the mistakes
_LABEL_WIDTH = 5.2  # percent of the graph: on a phone, 17 pixels
_TICKS = (5, 10, 20, 50, 100, 200, 500)  # points between the lines of the graph


@dataclass(frozen=True)
class Mark:
    """A mistake on a graph.

    Attributes:
        move: Its most costly move.
        x, y: Its place, in percent from the top left.
        label: Its number among those that are numbered, from 1; 0 for the others.
        label_x: Where the label stands, so that no two overlap.
    """

    move: MoveReview
    x: float
    y: float
    label: int
    label_x: float


@dataclass(frozen=True)
class Graph:
    """A curve over the moves of a game.

    Attributes:
        name: "lead" or "winrate".
        points: The places of the values, in percent from the top left. Nobody leads at 50.
        lines: The horizontal lines: their places and values, Black's lead in points or win rate in percent.
        phases: Where the middle game and the endgame begin.
        marks: The mistakes, those with a number last so that they are on top.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    lines: tuple[tuple[float, int], ...]
    phases: tuple[tuple[float, Phase], ...]
    marks: tuple[Mark, ...]

    @property
    def curve(self) -> str:
        """The curve as the path of an SVG, without its first letter."""
        return "L".join(f"{x:.2f} {y:.1f}" for x, y in self.points)


def graphs(review: GameReview, numbered: Sequence[Mistake]) -> tuple[Graph, Graph]:
    """Returns the graphs of Black's lead and win rate.

    Args:
        review: The review of at least one move.
        numbered: The mistakes that have a label, in the order of the game.
    """
    highest = max(_LEAST_LEAD, *map(abs, review.leads)) * _ROOM
    step = next((tick for tick in _TICKS if highest / tick < 3), _TICKS[-1])
    ticks = range(-int(highest // step) * step, int(highest) + 1, step)
    leads = [50 - 50 * lead / highest for lead in review.leads]
    lead_lines = tuple((50 - 50 * tick / highest, tick) for tick in ticks)
    chances = [100 - 100 * winrate for winrate in review.winrates]
    chance_lines = tuple((100.0 - percent, percent) for percent in (25, 50, 75))
    graphs = ("lead", leads, lead_lines), ("winrate", chances, chance_lines)
    lead, winrate = (_graph(review, numbered, *graph) for graph in graphs)
    return lead, winrate


def _graph(
    review: GameReview,
    numbered: Sequence[Mistake],
    name: str,
    heights: Sequence[float],
    lines: tuple[tuple[float, int], ...],
) -> Graph:
    count, first = len(review.moves), review.moves[0].number
    points = tuple((100 * number / count, height) for number, height in enumerate(heights))
    starts = ((phase.first_move(review.record.width, review.record.height), phase) for phase in Phase)
    phases = tuple((100 * (start - first) / count, phase) for start, phase in starts if 0 < start - first < count)
    numbers = [mistake.worst.number for mistake in numbered]
    label_x = spread([points[number - first + 1][0] for number in numbers], _LABEL_WIDTH)
    labels = {number: (label, place) for number, label, place in zip(numbers, range(1, 100), label_x, strict=False)}
    moves = (mistake.worst for mistake in review.mistakes)
    marks = [Mark(move, *points[move.number - first + 1], *labels.get(move.number, (0, 0.0))) for move in moves]
    return Graph(name, points, lines, phases, tuple(sorted(marks, key=lambda mark: bool(mark.label))))


def spread(places: Sequence[float], width: float) -> list[float]:
    """Returns places for labels of a width, near theirs and in the same order, within 0 to 100 and not overlapping."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + width if found else width / 2))
    limit = 100 - width / 2
    for index in reversed(range(len(found))):
        found[index] = min(found[index], limit)
        limit = found[index] - width
    return found
