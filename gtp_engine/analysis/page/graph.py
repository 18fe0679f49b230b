"""The graphs of a game, as SVG that stretches to the width of the page: places are percentages of the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...game.coords import colour_name
from ..game_review import GameReview
from ..mistakes import Mistake
from ..review import MoveReview, Phase

_LEAST_LEAD = 10.0  # points that the graph of leads shows at least: else a quiet game would look wild
_ROOM = 1.35  # above the highest value, for the labels of the turning points
_LABEL_WIDTH = 5.2  # percent of the graph: on a phone, 17 pixels
_TICKS = (5, 10, 20, 50, 100, 200, 500)  # points between the lines of the graph


@dataclass(frozen=True)
class Mark:
    """A mistake on a graph.

    Attributes:
        move: Its most costly move.
        colour: "black" or "white".
        x, y: Its place, in percent from the top left.
        label: The number of the turning point; empty for other mistakes.
        label_x: Where the label stands, so that no two overlap.
    """

    move: MoveReview
    colour: str
    x: float
    y: float
    label: str
    label_x: float = 0.0


@dataclass(frozen=True)
class Line:
    """A line across a graph: its place in percent, and its value: Black's lead in points, or win rate in percent."""

    place: float
    value: int


@dataclass(frozen=True)
class Graph:
    """A curve over the moves of a game.

    Attributes:
        name: "lead" or "winrate".
        curve: A path through the values, in a box of 100 by 100.
        area: The area between the curve and the even line `even`.
        even: The place of the line at which nobody leads.
        lines: The horizontal lines with their values.
        phases: Where the middle game and the endgame begin.
        marks: The mistakes, turning points last so that they are on top.
    """

    name: str
    curve: str
    area: str
    even: float
    lines: tuple[Line, ...]
    phases: tuple[tuple[float, Phase], ...]
    marks: tuple[Mark, ...]


def graphs(review: GameReview, turning: Sequence[Mistake]) -> tuple[Graph, Graph]:
    """Returns the graphs of Black's lead and win rate.

    Args:
        review: The review of at least one move.
        turning: The mistakes that are numbered, in the order of their numbers.
    """
    highest = max(_LEAST_LEAD, *map(abs, review.leads)) * _ROOM
    step = next((tick for tick in _TICKS if highest / tick < 3), _TICKS[-1])
    ticks = range(-int(highest // step) * step, int(highest) + 1, step)
    leads = [50 - 50 * lead / highest for lead in review.leads]
    lead_lines = tuple(Line(50 - 50 * tick / highest, tick) for tick in ticks)
    chances = [100 - 100 * winrate for winrate in review.winrates]
    chance_lines = tuple(Line(100 - percent, percent) for percent in (25, 50, 75))
    return _graph("lead", review, leads, lead_lines, turning), _graph("winrate", review, chances, chance_lines, turning)


def _graph(
    name: str, review: GameReview, heights: Sequence[float], lines: tuple[Line, ...], turning: Sequence[Mistake]
) -> Graph:
    count = len(review.moves)
    places = [(100 * number / count, height) for number, height in enumerate(heights)]
    curve = "L".join(f"{x:.2f} {y:.1f}" for x, y in places)
    first = review.moves[0].number
    starts = ((phase.first_move(review.record.width, review.record.height), phase) for phase in Phase)
    phases = tuple((100 * (start - first) / count, phase) for start, phase in starts if 0 < start - first < count)
    numbers = {mistake.worst.number: str(number) for number, mistake in enumerate(turning, start=1)}
    label_places = spread([places[number - first + 1][0] for number in numbers], _LABEL_WIDTH)
    label_x = dict(zip(numbers, label_places, strict=True))
    marks = []
    for mistake in review.mistakes:
        move = mistake.worst
        x, y = places[move.number - first + 1]
        label = numbers.get(move.number, "")
        marks.append(Mark(move, colour_name(move.move.colour), x, y, label, label_x.get(move.number, 0.0)))
    marks.sort(key=lambda mark: bool(mark.label))
    return Graph(name, f"M{curve}", f"M0 50L{curve}L100 50Z", 50.0, lines, phases, tuple(marks))


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
