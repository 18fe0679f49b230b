"""A picture of a reviewed game: black's win rate and lead after each move."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files import write_whole
from .review import MoveReview, black_lead, black_winrate, worst_moves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = (".png", ".svg", ".pdf", ".jpg")
MARKED_MOVES = 5


def check_picture(path: Path) -> None:
    """ValueError where the name does not end in one of `PICTURES`."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path}: the name of a picture must end in {', '.join(PICTURES)}")


def plot_curve(reviews: Sequence[MoveReview], path: Path, title: str) -> None:
    """Draws the curves of at least one move, with the worst moves marked, into a file of the format of its name.

    Raises OSError, with the path, where it cannot be written.
    """
    from matplotlib.figure import Figure

    numbers = [reviews[0].number - 1, *(review.number for review in reviews)]
    winrates = [100 * black_winrate(reviews[0].before), *(100 * review.winrate for review in reviews)]
    leads = [black_lead(reviews[0].before), *(review.lead for review in reviews)]
    figure = Figure(figsize=(10, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    above.set_title(title, parse_math=False)
    above.plot(numbers, winrates, color="black")
    above.set(ylabel="black's win rate, %", ylim=(0, 100))
    above.axhline(50, color="grey", linewidth=0.5)
    below.plot(numbers, leads, color="black")
    below.set(ylabel="black's lead, points", xlabel="move", xlim=(numbers[0], max(numbers[-1], numbers[0] + 1)))
    below.axhline(0, color="grey", linewidth=0.5)
    for review in worst_moves(reviews, MARKED_MOVES):
        _mark(above, review.number, 100 * review.winrate)
        _mark(below, review.number, review.lead)
    with warnings.catch_warnings():
        # matplotlib's font has no Chinese or Japanese letters; names show as boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        write_whole(path, figure.savefig)


def _mark(axes: "Axes", number: int, value: float) -> None:
    axes.plot(number, value, marker="o", color="red", markersize=4)
    axes.annotate(str(number), (number, value), (3, 3), textcoords="offset points", color="red")
