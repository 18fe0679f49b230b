"""A picture of a reviewed game: the graphs of the page, and what the moves have cost."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..base.files import write_atomically
from ..go.coords import BLACK, WHITE
from .game_review import GameReview
from .graph import Graph, graphs
from .mistakes import LISTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".svg", ".pdf", ".jpg")
# The stones' colours on the board's wood, so that nobody needs the legend to tell the players apart.
_WOOD, _LINE, _GRID = "#efdcb4", "#7a3b10", "#c9ad78"
_STONES = {BLACK: "#111111", WHITE: "#ffffff"}
_TITLES = {"lead": "Black's lead, points", "winrate": "Black's win rate, %"}


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
    before, count = review.moves[0].number - 1, len(review.moves)
    figure = Figure(figsize=(11, 8), layout="constrained")
    leads, winrates, losses = figure.subplots(3, sharex=True, height_ratios=(3, 2, 1.4))
    for graph, axes in zip(graphs(review, marked), (leads, winrates), strict=True):
        _draw(graph, axes, lambda x: before + x * count / 100)
    _draw_losses(review, losses)
    for axes in (leads, winrates, losses):
        axes.set_facecolor(_WOOD)
    result = f", {review.record.result}" if review.record.result else ""
    leads.set_title(f"{review.title}{result}\n{review.conditions.search}", parse_math=False, loc="left")
    handles, labels = leads.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, facecolor=_WOOD)
    with warnings.catch_warnings():
        # matplotlib's font has no Chinese or Japanese letters, so such names appear as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        write_atomically(path, figure.savefig)


def _draw(graph: Graph, axes: "Axes", number_at: Callable[[float], float]) -> None:
    """Draws a graph.

    Args:
        graph: The graph.
        axes: Where it is drawn.
        number_at: Returns the number of the move at a place of the graph.
    """
    numbers, heights = [number_at(x) for x, _ in graph.points], [y for _, y in graph.points]
    for colour, alpha, side in ((BLACK, 0.35, min), (WHITE, 0.8, max)):
        area = [side(height, 50) for height in heights]
        label = f"{'Black' if colour == BLACK else 'White'} is ahead"
        axes.fill_between(numbers, 50, area, color=_STONES[colour], alpha=alpha, linewidth=0, label=label)
    axes.plot(numbers, heights, color=_LINE, linewidth=1.4)
    axes.axhline(50, color=_LINE, linewidth=0.6)
    axes.set(ylabel=_TITLES[graph.name], ylim=(100, 0), yticks=[place for place, _ in graph.lines])
    axes.set_yticklabels([str(value) for _, value in graph.lines])
    for place, _ in graph.phases:
        axes.axvline(number_at(place), color=_LINE, linewidth=0.8, linestyle=":")
    marks = [mark for mark in graph.marks if mark.label]
    for colour, whose in ((BLACK, "Black's"), (WHITE, "White's")):
        own = [mark for mark in marks if mark.move.move.colour == colour]
        places = [mark.move.number for mark in own], [mark.y for mark in own]
        label = f"{whose} mistakes" if own else ""
        axes.scatter(*places, 42, _STONES[colour], edgecolors=_STONES[BLACK], zorder=4, label=label)
    for mark in marks if graph.name == "lead" else ():
        axes.annotate(
            str(mark.move.number),
            (mark.move.number, mark.y),
            (number_at(mark.label_x), 3),
            ha="center",
            va="top",
            fontsize=9,
            arrowprops={"arrowstyle": "-", "color": _GRID, "linewidth": 0.8},
        )


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
