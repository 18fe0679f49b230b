"""What `gtp_engine review` shows: the most costly mistakes and a summary of each game, or a list of all moves."""

import logging
from collections.abc import Iterator, Sequence

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
from rich.text import Text

from ..analysis.game_review import GameReview
from ..analysis.mistakes import LISTED
from ..analysis.review import MoveReview
from ..base.log import NOTICE
from ..base.messages import plural
from ..game.coords import BLACK, WHITE, colour_name
from ..sgf import SgfError
from .review_tables import LIST_HEAD, mistakes_table, move_line, played_vertex, players_table

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
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with _progress(*columns) as bar:
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


def show_notice(text: str) -> None:
    """Prints a notice to standard error, wrapped between words on a terminal; nothing with --quiet."""
    if logger.isEnabledFor(NOTICE):
        console = Console(stderr=True, highlight=False)
        console.print(Text(text), soft_wrap=not console.is_terminal)


def follow_second_look(
    look: Iterator[tuple[MoveReview, ...]], moves: tuple[MoveReview, ...], name: str
) -> tuple[MoveReview, ...]:
    """Waits for a second look and returns the moves as it has found them; with a bar like that of `follow`."""
    with _progress(TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()) as bar:
        bar.add_task(f"{name}, second look at the worst moves", total=None)
        for known in look:
            moves = known
    for move in moves:
        if move.is_checked:
            logger.info(f"checked: {' '.join(move_line(move).plain.split())}")
    return moves


def _progress(*columns: ProgressColumn) -> Progress:
    """Returns a progress bar; it is hidden if standard error is no terminal, and with --quiet."""
    console = Console(stderr=True)
    is_shown = console.is_terminal and logger.isEnabledFor(logging.WARNING)
    return Progress(*columns, console=console, transient=True, disable=not is_shown)


def show_game(review: GameReview, *, all_moves: bool) -> None:
    """Prints the most costly mistakes of a game, how well each player played, and all moves if they are wanted."""
    console = Console(highlight=False)
    result = f", {review.record.result}" if review.record.result else ""
    first, last = review.moves[0].number, review.moves[-1].number
    moves = f"move {first}" if first == last else f"moves {first} to {last}"
    console.print(Text(f"{review.title}{result}", style="bold"))
    console.print(Text(f"{moves}; {review.conditions.search}", style="dim"))
    mistakes = review.mistakes[:LISTED]
    if mistakes:
        console.print(mistakes_table(mistakes))
    judged = {_column_head(review, colour): review.judged(colour) for colour in review.players}
    console.print(players_table(judged, board=(review.record.width, review.record.height)))
    if all_moves:
        console.print(Text(LIST_HEAD, style="bold"))
        for move in review.judged():
            console.print(move_line(move))


def show_total(reviews: Sequence[GameReview], player: str | None) -> None:
    """Prints how well the moves of several games were played: one player's, or Black's and White's."""
    console = Console(highlight=False)
    console.print(Text(f"{plural(len(reviews), 'game')} in all", style="bold"))
    moves = {
        colour: [move for review in reviews for move in review.judged() if move.move.colour == colour]
        for colour in (BLACK, WHITE)
    }
    if player is not None:
        console.print(players_table({player: moves[BLACK] + moves[WHITE]}))
    else:
        console.print(players_table({colour_name(colour).capitalize(): own for colour, own in moves.items()}))


def _column_head(review: GameReview, colour: int) -> str:
    """Returns the colour and, if it is known, the player's name below it."""
    head = colour_name(colour).capitalize()
    return head if review.name(colour) == head else f"{head}\n{review.name(colour)}"
