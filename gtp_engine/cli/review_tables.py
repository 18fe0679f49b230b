"""The tables of `gtp_engine review`: the mistakes of a game, the players' statistics, a line for a move."""

from collections.abc import Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from ..analysis.game_review import Phase, phase_of
from ..analysis.mistakes import Mistake, class_label, loss_class
from ..analysis.play_statistics import PlayStatistics, statistics
from ..analysis.review import MoveReview, with_minus
from ..analysis.review_sgf import line_text
from ..game.coords import colour_letter, colour_name
from ..sgf import lead_text

# A colour for each class of losses, from green to purple as in KaTrain.
CLASS_STYLES = ("green", "chartreuse3", "yellow", "dark_orange", "red", "magenta")
LINE_SHOWN = 5  # moves of a better line
LIST_HEAD = "move  played   black    lead  points  win rate  better"


def mistakes_table(mistakes: Sequence[Mistake]) -> Table:
    """Returns a table with a line for each mistake; the values are those of the worst of its moves."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption_justify="left")
    span = next((mistake.span for mistake in mistakes if len(mistake.misses) > 1), None)
    if span:
        table.caption = f"{span}: the same point was missed several times; the values are those of the worst move."
    table.add_column("moves", justify="right", no_wrap=True)
    table.add_column("player", no_wrap=True)
    table.add_column("played", no_wrap=True)
    table.add_column("better", overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("win rate", justify="right", no_wrap=True)
    for mistake in mistakes:
        worst = mistake.worst
        table.add_row(
            mistake.span,
            _who(mistake),
            played_vertex(worst) if len(mistake.misses) == 1 else f"{worst.number} {played_vertex(worst)}",
            line_text(worst, worst.better_line[:LINE_SHOWN]),
            with_minus(worst.points_loss),
            f"{with_minus(100 * worst.winrate_loss)}%",
            style=CLASS_STYLES[loss_class(worst.points_loss)],
        )
    return table


def players_table(judged: dict[str, list[MoveReview]], board: tuple[int, int] | None = None) -> Table:
    """Returns a table with a column for each player.

    Args:
        judged: The moves by the head of their column; players without moves are left out.
        board: The board's width and height, if it is the same for all moves: the phases then show their moves.
    """
    judged = {name: moves for name, moves in judged.items() if moves}
    every = [statistics(moves) for moves in judged.values()]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    for name in judged:
        table.add_column(Text(name), justify="right", overflow="fold")  # a name may contain brackets
    table.add_row("moves", *(f"{numbers.moves:,}" for numbers in every))
    table.add_row("points lost per move", *(f"{numbers.points_lost:.2f}" for numbers in every))
    for phase in Phase:
        parts = [[move for move in moves if phase_of(move) == phase] for moves in judged.values()]
        if any(parts):
            table.add_row(f"  {phase.label}{_phase_moves(phase, board)}", *map(_mean_loss, parts))
    table.add_row("win rate lost per move", *(f"{100 * numbers.winrate_lost:.1f}%" for numbers in every))
    table.add_row("accuracy", *(f"{numbers.accuracy:.0f}%" for numbers in every))
    table.add_row("engine's first choice", *(_share(numbers.first_choice, numbers) for numbers in every))
    table.add_row("among its first five", *(_share(numbers.first_five, numbers) for numbers in every))
    table.add_row("moves by points lost")
    for number, style in enumerate(CLASS_STYLES):
        label = Text(f"  {class_label(number)}", style=style)
        table.add_row(label, *(str(numbers.classes[number]) for numbers in every))
    return table


def move_line(review: MoveReview) -> Text:
    """Returns one move as a line: the values after it for Black, what it has cost its player, and a better move."""
    played = f"{colour_letter(review.move.colour)} {review.vertex(review.move.point)}"
    place = f"{review.number:4}  {played:7}{100 * review.winrate:6.1f}%  {lead_text(review.lead):>6}"
    if not review.has_cost:
        return Text(place)
    cost = f"{with_minus(review.points_loss):>8}{with_minus(100 * review.winrate_loss):>9}%"
    better = review.vertex(review.best)
    return Text(f"{place}{cost}  {better}", style=CLASS_STYLES[loss_class(review.points_loss)])


def played_vertex(review: MoveReview) -> str:
    return review.vertex(review.move.point)


def _who(mistake: Mistake) -> str:
    """Returns who missed the point, and how often."""
    who = colour_name(mistake.worst.move.colour).capitalize()
    return who if len(mistake.misses) == 1 else f"{who}, {len(mistake.misses)} times"


def _phase_moves(phase: Phase, board: tuple[int, int] | None) -> str:
    """Returns the numbers of the moves of a phase as text; nothing if they depend on the game."""
    return "" if board is None else f", from move {phase.first_move(*board)}" if phase.value else ""


def _mean_loss(moves: Sequence[MoveReview]) -> str:
    return f"{statistics(moves).points_lost:.2f}" if moves else "-"


def _share(count: int, numbers: PlayStatistics) -> str:
    return f"{count} ({100 * count / numbers.moves:.0f}%)"
