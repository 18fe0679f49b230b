"""The curves of a reviewed game, Black's lead and win rate: graphs for the page, and a picture of them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..base.files import write_atomically
from ..go.coords import BLACK, WHITE
from .game_review import GameReview
from .move_review import LISTED, Mistake, MoveReview, Phase

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEAST_LEAD = 10.0  # points that the graph of leads shows at least: else a quiet game would look wild
_ROOM = 1.35  # above the highest value, for the labels of the mistakes
_LABEL_WIDTH = 5.2  # percent of the graph: on a phone, 17 pixels
_TICKS = (5, 10, 20, 50, 100, 200, 500)  # points between the lines of the graph
PICTURES = (".png", ".svg", ".pdf", ".jpg")
# The stones' colours on the board's wood, so that nobody needs the legend to tell the players apart.
_WOOD, _LINE, _GRID = "#efdcb4", "#7a3b10", "#c9ad78"
_STONES = {BLACK: "#111111", WHITE: "#ffffff"}
_TITLES = {"lead": "Black's lead, points", "winrate": "Black's win rate, %"}


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
    lead_lines = tuple((50 - 50 * tick / highest, tick) for tick in ticks)
    lead = _graph(review, numbered, "lead", [50 - 50 * lead / highest for lead in review.leads], lead_lines)
    chances = [100 - 100 * winrate for winrate in review.winrates]
    return lead, _graph(review, numbered, "winrate", chances, ((75.0, 25), (50.0, 50), (25.0, 75)))


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
    labels = {number: label for number, *label in zip(numbers, range(1, len(numbers) + 1), label_x, strict=True)}
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


# The picture.


def check_picture(path: Path) -> None:
    """Raises UserError if the file's name does not end in one of `PICTURES`."""
    if path.suffix.lower() not in PICTURES:
        raise UserError(f"{path}: the name of a picture must end in {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")


def plot_curve(review: GameReview, path: Path) -> None:
    """Saves a picture of a game's curves with the most costly mistakes marked; the file's name decides the format.

    Args:
        review: The review of at least one move.
        path: The file.

    Raises:
        OSError: The file cannot be written.
    """
    from matplotlib.figure import Figure

    marked = sorted(review.mistakes[:LISTED], key=lambda mistake: mistake.worst.number)
    figure = Figure(figsize=(11, 8), layout="constrained")
    leads, winrates, losses = figure.subplots(3, sharex=True, height_ratios=(3, 2, 1.4))
    for graph, axes in zip(graphs(review, marked), (leads, winrates), strict=True):
        _draw(graph, axes, review)
    _draw_losses(review, losses)
    for axes in (leads, winrates, losses):
        axes.set_facecolor(_WOOD)
    leads.set_title(f"{review.heading}\n{review.conditions.search}", parse_math=False, loc="left")
    figure.legend(*leads.get_legend_handles_labels(), loc="outside lower center", ncols=4, facecolor=_WOOD)
    with warnings.catch_warnings():
        # matplotlib's font has no Chinese or Japanese letters, so such names appear as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        write_atomically(path, figure.savefig)


def _draw(graph: Graph, axes: "Axes", review: GameReview) -> None:
    before, count = review.moves[0].number - 1, len(review.moves)
    numbers = [before + x * count / 100 for x, _ in graph.points]
    heights = [y for _, y in graph.points]
    for name, colour, alpha, side in (("Black", BLACK, 0.35, min), ("White", WHITE, 0.8, max)):
        area = [side(height, 50) for height in heights]
        axes.fill_between(numbers, 50, area, color=_STONES[colour], alpha=alpha, linewidth=0, label=f"{name} is ahead")
        own = [mark for mark in graph.marks if mark.label and mark.move.move.colour == colour]
        places = [mark.move.number for mark in own], [mark.y for mark in own]
        label = f"{name}'s mistakes" if own else ""
        axes.scatter(*places, 42, _STONES[colour], edgecolors=_STONES[BLACK], zorder=4, label=label)
    axes.plot(numbers, heights, color=_LINE, linewidth=1.4)
    axes.axhline(50, color=_LINE, linewidth=0.6)
    axes.set(ylabel=_TITLES[graph.name], ylim=(100, 0), yticks=[place for place, _ in graph.lines])
    axes.set_yticklabels([str(value) for _, value in graph.lines])
    for place, _ in graph.phases:
        axes.axvline(before + place * count / 100, color=_LINE, linewidth=0.8, linestyle=":")
    for mark in graph.marks if graph.name == "lead" else ():
        if mark.label:
            number, over = mark.move.number, (before + mark.label_x * count / 100, 3)
            line = {"arrowstyle": "-", "color": _GRID, "linewidth": 0.8}
            axes.annotate(str(number), (number, mark.y), over, ha="center", va="top", fontsize=9, arrowprops=line)


def _draw_losses(review: GameReview, axes: "Axes") -> None:
    """Draws what each move has cost, and the names of the phases."""
    for colour in review.players:
        moves = review.judged(colour)
        heights, numbers = [move.points_loss for move in moves], [move.number for move in moves]
        axes.bar(numbers, heights, width=0.9, color=_STONES[colour], edgecolor=_STONES[BLACK], linewidth=0.5)
    axes.set(ylabel="points lost", xlabel="move")
    axes.set_ylim(0, 1.3 * axes.get_ylim()[1])
    for phase in sorted({move.phase for move in review.moves}, key=lambda phase: phase.value):
        first = max(review.moves[0].number, phase.first_move(review.record.width, review.record.height))
        axes.axvline(first, color=_LINE, linewidth=0.8, linestyle=":")
        axes.text(first, 0.97, f" {phase.label}", transform=axes.get_xaxis_transform(), va="top")
