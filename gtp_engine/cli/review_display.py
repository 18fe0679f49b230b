"""What `gtp_engine review` shows: the most costly mistakes and a summary of each game, or a list of all moves."""

import logging
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..analysis.game_review import GameReview
from ..analysis.mistakes import LISTED
from ..base.log import NOTICE
from ..base.messages import plural, printable
from ..game.coords import BLACK, WHITE, colour_name
from ..languages.texts import DEFAULT, texts
from .review_tables import LIST_HEAD, mistakes_table, move_line, played_vertex, players_table

logger = logging.getLogger(__name__)


def show_notice(text: str) -> None:
    """Prints a notice to standard error, wrapped between words on a terminal; nothing with --quiet."""
    if logger.isEnabledFor(NOTICE):
        console = Console(stderr=True, highlight=False)
        console.print(Text(text), soft_wrap=not console.is_terminal)


def show_rank_note() -> None:
    """Prints what an estimated rank means, in the words of the page of a review."""
    Console(highlight=False).print(Text(texts(DEFAULT)("players.rankNote"), style="dim"))


def show_game(review: GameReview, *, all_moves: bool) -> None:
    """Prints the most costly mistakes of a game, how well each player played, and all moves if they are wanted."""
    console = Console(highlight=False)
    result = f", {review.record.result}" if review.record.result else ""
    first, last = review.moves[0].number, review.moves[-1].number
    moves = f"move {first}" if first == last else f"moves {first} to {last}"
    console.print(Text(printable(f"{review.title}{result}"), style="bold"))
    console.print(Text(f"{moves}; {review.conditions.text}", style="dim"))
    mistakes = review.mistakes[:LISTED]
    if mistakes:
        console.print(mistakes_table(mistakes))
        _show_reasons(review)
    judged = {_column_head(review, colour): review.judged(colour) for colour in review.players}
    if any(judged.values()):
        console.print(players_table(judged, board=(review.record.width, review.record.height)))
    else:
        console.print("no move can be judged: stones are set up after each of them")
    _show_ranks(review)
    if all_moves:
        console.print(Text(LIST_HEAD, style="bold"))
        for move in review.own_moves:
            console.print(move_line(move))


def _show_ranks(review: GameReview) -> None:
    """Prints the estimates of the players' ranks, if there are any."""
    console = Console(highlight=False)
    for colour, rank in review.ranks.items():
        console.print(Text(f"{colour_name(colour).capitalize()} plays like the engine at rank {rank}"))
    if review.ranks:
        show_rank_note()
        console.print()


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
    return head if review.name(colour) == head else f"{head}\n{printable(review.name(colour))}"
