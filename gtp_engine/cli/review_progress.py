"""The progress of `gtp_engine review`: bars on a terminal, and a line in the log for each move."""

import logging
from collections.abc import Iterator

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from ..analysis.game_review import GameReview, Reason
from ..analysis.reasons.explain import worth_explaining
from ..analysis.review import MoveReview
from ..sgf import SgfError
from .review_tables import move_line, played_vertex

logger = logging.getLogger(__name__)


def follow(moves: Iterator[MoveReview], count: int, name: str) -> tuple[tuple[MoveReview, ...], str]:
    """Collects the reviews as they come, and logs them; with a progress bar if standard error is a terminal.

    Args:
        moves: The reviews.
        count: The number of moves to review.
        name: What the bar is about.

    Returns:
        The finished reviews, and the error that ended them early, if there was one.
    """
    reviews: list[MoveReview] = []
    with progress_bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(name, total=count)
        worst, note = 0.0, name
        try:
            for review in moves:
                reviews.append(review)
                if review.points_loss > worst:
                    worst = review.points_loss
                    note = f"{name}, worst so far: {review.number} {played_vertex(review)}"
                bar.update(task, advance=1, description=note)
                logger.info(" ".join(move_line(review).plain.split()))
        except SgfError as error:
            return tuple(reviews), str(error)
    return tuple(reviews), ""


def follow_second_look(
    look: Iterator[tuple[MoveReview, ...]], moves: tuple[MoveReview, ...], name: str
) -> tuple[MoveReview, ...]:
    """Waits for a second look and returns the moves as it has found them; with a bar like that of `follow`."""
    with progress_bar(TimeElapsedColumn()) as bar:
        bar.add_task(f"{name}, second look at the worst moves", total=None)
        for known in look:
            moves = known
    for move in moves:
        if move.is_checked:
            logger.info(f"checked: {' '.join(move_line(move).plain.split())}")
    return moves


def follow_reasons(
    reasons: Iterator[tuple[int, tuple[Reason, ...]]], review: GameReview, name: str
) -> dict[int, tuple[Reason, ...]]:
    """Collects the reasons for the mistakes of a game as they come, with a progress bar as `follow` has.

    Args:
        reasons: The reasons, with the numbers of the moves.
        review: The review of the game.
        name: What the bar is about.
    """
    found = {}
    with progress_bar(MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        task = bar.add_task(f"{name}, why", total=len(worth_explaining(review.mistakes)))
        for number, sentences in reasons:
            found[number] = sentences
            bar.update(task, advance=1)
    return found


def progress_bar(*columns: ProgressColumn, hidden: bool = False) -> Progress:
    """Returns a progress bar with a text before it and columns after it.

    It is hidden if standard error is no terminal, with --quiet, and if `hidden` says so.
    """
    console = Console(stderr=True)
    is_shown = console.is_terminal and logger.isEnabledFor(logging.WARNING)
    text = TextColumn("{task.description}", markup=False)
    return Progress(text, BarColumn(), *columns, console=console, transient=True, disable=hidden or not is_shown)
