"""What `gtp_engine review` shows: the most costly mistakes and a summary of each game, or a list of all moves."""

import logging
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..analysis.game_review import GameReview, Reason
from ..analysis.reasons.explain import worth_explaining
from ..analysis.review import MoveReview
from ..analysis.review_sgf import LISTED
from ..base.messages import plural
from ..game.coords import BLACK, WHITE, colour_name
from ..sgf import SgfError
from .review_tables import LIST_HEAD, mistakes_table, move_line, played_vertex, players_table

logger = logging.getLogger(__name__)


def follow(moves: Iterator[MoveReview], count: int, name: str) -> tuple[list[MoveReview], str]:
    """Collects the reviews as they come, and logs them; with a progress bar if standard error is a terminal.

    Args:
        moves: The reviews.
        count: The number of moves to review.
        name: What the bar is about.

    Returns:
        The finished reviews, and the error that ended them early, if there was one.
    """
    reviews: list[MoveReview] = []
    with _progress_bar() as bar:
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
            return reviews, str(error)
    return reviews, ""


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
    with _progress_bar() as bar:
        task = bar.add_task(f"{name}, why", total=len(worth_explaining(review.mistakes)))
        for number, sentences in reasons:
            found[number] = sentences
            bar.update(task, advance=1)
    return found


def _progress_bar() -> Progress:
    console = Console(stderr=True)
    is_shown = console.is_terminal and logger.isEnabledFor(logging.WARNING)  # not with --quiet
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
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
        _show_reasons(review)
    judged = {_column_head(review, colour): review.judged(colour) for colour in review.players}
    console.print(players_table(judged, board=(review.record.width, review.record.height)))
    if all_moves:
        console.print(Text(LIST_HEAD, style="bold"))
        for move in review.judged():
            console.print(move_line(move))


def _show_reasons(review: GameReview) -> None:
    """Prints the most telling reason for each of the listed mistakes."""
    worst = [mistake.worst for mistake in review.mistakes[:LISTED]]
    explained = [(move, review.reasons[move.number][0]) for move in worst if review.reasons.get(move.number)]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for move, reason in explained:
        table.add_row(f"{move.number} {played_vertex(move)}", Text(reason.text))
    if explained:
        Console(highlight=False).print(table, "")


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
