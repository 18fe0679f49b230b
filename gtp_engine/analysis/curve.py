"""A picture of a reviewed game: Black's win rate and lead after each move, and what the moves have cost."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..base.files import write_atomically
from ..game.coords import BLACK, WHITE
from .game_review import GameReview
from .review import Phase

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf", ".jpg")
MARKED_MISTAKES = 10
# The stones' colours on the board's wood, so that nobody needs the legend to tell the players apart.
_WOOD, _LINE, _GRID = "#efdcb4", "#7a3b10", "#c9ad78"
_STONES = {BLACK: "#111111", WHITE: "#ffffff"}
_LABEL_SHARE = 0.035  # of the picture's width, that a move number of three digits needs
_LEVEL_SHARE = 0.09  # of a panel's height, that a row of move numbers needs


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

    figure = Figure(figsize=(11, 8), layout="constrained")
    leads, winrates, losses = figure.subplots(3, sharex=True, height_ratios=(3, 2, 1.4))
    _draw_curves(review, leads, winrates)
    _draw_losses(review, losses)
    _mark_mistakes(review, leads, winrates)
    for axes in (leads, winrates, losses):
        axes.set_facecolor(_WOOD)
        _draw_phases(review, axes)
    _label_phases(review, losses)
    leads.set_title(_title(review), parse_math=False, loc="left")
    losses.set_xlabel("move")
    _add_legend(figure, leads)
    with warnings.catch_warnings():
        # matplotlib's font has no Chinese or Japanese letters, so such names appear as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        write_atomically(path, figure.savefig)


def label_rows(numbers: Sequence[int], width: float) -> list[int]:
    """Returns the row of each label, so that no two in a row overlap.

    Args:
        numbers: The places of the labels' centres, ascending.
        width: The width of a label.
    """
    rows: list[int] = []
    last: dict[int, int] = {}  # the place of the last label, by row
    for number in numbers:
        row = next((row for row, place in last.items() if number - place >= width), len(last))
        last[row] = number
        rows.append(row)
    return rows


def _title(review: GameReview) -> str:
    result = f", {review.record.result}" if review.record.result else ""
    return f"{review.title}{result}\n{review.conditions.search}"


def _draw_curves(review: GameReview, leads: "Axes", winrates: "Axes") -> None:
    # The positions: that before the first reviewed move, and those after the moves.
    numbers = [review.moves[0].number - 1, *(move.number for move in review.moves)]
    chances = [100 * winrate for winrate in review.winrates]
    for axes, values, even in ((leads, review.leads, 0.0), (winrates, chances, 50.0)):
        above, below = ([side(value, even) for value in values] for side in (max, min))
        axes.fill_between(numbers, even, above, color=_STONES[BLACK], alpha=0.35, linewidth=0, label="Black is ahead")
        axes.fill_between(numbers, even, below, color=_STONES[WHITE], alpha=0.8, linewidth=0, label="White is ahead")
        axes.plot(numbers, values, color=_LINE, linewidth=1.4)
        axes.axhline(even, color=_LINE, linewidth=0.6)
    margin = 0.5 + 0.015 * len(numbers)  # for the bars and labels of the first and the last move
    leads.set(ylabel="Black's lead, points", xlim=(numbers[0] - margin, numbers[-1] + margin))
    winrates.set(ylabel="Black's win rate, %", ylim=(0, 100), yticks=(0, 25, 50, 75, 100))


def _draw_losses(review: GameReview, axes: "Axes") -> None:
    for colour in review.players:
        moves = review.judged(colour)
        heights = [move.points_loss for move in moves]
        numbers = [move.number for move in moves]
        axes.bar(numbers, heights, width=0.9, color=_STONES[colour], edgecolor=_STONES[BLACK], linewidth=0.5)
    axes.set(ylabel="points lost")
    axes.set_ylim(bottom=0)


def _mark_mistakes(review: GameReview, leads: "Axes", winrates: "Axes") -> None:
    """Marks the worst move of each mistake on the curves, with its number in a row above them."""
    worst = sorted((mistake.worst for mistake in review.mistakes[:MARKED_MISTAKES]), key=lambda move: move.number)
    if not worst:
        return
    low, high = leads.get_xlim()
    rows = label_rows([move.number for move in worst], (high - low) * _LABEL_SHARE)
    bottom, top = leads.get_ylim()
    curve_share = 1 - _LEVEL_SHARE * (max(rows) + 1)
    leads.set_ylim(bottom, bottom + (top - bottom) / curve_share)
    for colour in review.players:
        own = [move for move in worst if move.move.colour == colour]
        label = "Black's mistakes" if colour == BLACK else "White's mistakes"
        numbers = [move.number for move in own]
        for axes, values in ((leads, [move.lead for move in own]), (winrates, [100 * move.winrate for move in own])):
            axes.scatter(numbers, values, 42, _STONES[colour], edgecolors=_STONES[BLACK], zorder=4, label=label)
    for move, row in zip(worst, rows, strict=True):
        height = curve_share + _LEVEL_SHARE * (row + 0.25)
        leads.annotate(
            str(move.number),
            (move.number, move.lead),
            (move.number, height),
            textcoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=9,
            arrowprops={"arrowstyle": "-", "color": _GRID, "linewidth": 0.8},
        )


def _draw_phases(review: GameReview, axes: "Axes") -> None:
    for phase in Phase:
        first = phase.first_move(review.record.width, review.record.height)
        if review.moves[0].number < first <= review.moves[-1].number:
            axes.axvline(first - 0.5, color=_LINE, linewidth=0.8, linestyle=":")


def _label_phases(review: GameReview, axes: "Axes") -> None:
    """Writes the names of the phases at the top of a panel, over the moves that belong to them."""
    low, high = axes.get_xlim()
    axes.set_ylim(top=1.3 * axes.get_ylim()[1])
    firsts = [phase.first_move(review.record.width, review.record.height) - 0.5 for phase in Phase]
    for phase, first, end in zip(Phase, firsts, [*firsts[1:], high], strict=True):
        left, right = max(low, first), min(high, end)
        if right - left > 0.1 * (high - low):
            place = axes.get_xaxis_transform()
            axes.text((left + right) / 2, 0.97, phase.label, transform=place, ha="center", va="top")


def _add_legend(figure: "Figure", axes: "Axes") -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, facecolor=_WOOD)
