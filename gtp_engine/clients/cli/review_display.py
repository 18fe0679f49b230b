"""What `gtp_engine review` shows: its progress, the mistakes and a summary of each game, or a list of all moves."""

import logging
from collections.abc import Iterable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.table import Table
from rich.text import Text

from ...base.languages.texts import texts
from ...base.log import NOTICE
from ...base.messages import duration_text, plural, printable
from ...go.coords import BLACK, WHITE, colour_letter, colour_name
from ...study.game_review import GameReview, PlayerFigures, PlayStatistics
from ...study.move_review import LISTED, Mistake, MoveReview, Phase, class_label, loss_class, with_minus
from ...study.reviewer import ReviewStep

logger = logging.getLogger(__name__)

# A colour for each class of losses, from green to purple as in KaTrain.
CLASS_STYLES = ("green", "chartreuse3", "yellow", "dark_orange", "red", "magenta")
_LONG = 180.0  # seconds; a review that takes longer is told how to be shorter
_LINE_SHOWN = 5  # moves of a better line
_LIST_HEAD = "move  played   black    lead  points  win rate  better"


def follow(steps: Iterable[ReviewStep], name: str, *, is_first: bool = False) -> ReviewStep:
    """Waits for a review of at least one step and returns the last; logs its moves, with a bar on a terminal."""
    titles = {"moves": name, "again": f"{name}, second look", "reasons": f"{name}, why"}
    console = Console(stderr=True, highlight=False)
    left = TextColumn("{task.fields[left]}", markup=False)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), left
    is_shown = console.is_terminal and logger.isEnabledFor(logging.WARNING)  # not with --quiet
    with Progress(*columns, console=console, transient=True, disable=not is_shown) as bar:
        task = bar.add_task(name, total=1.0, left="")
        for step in steps:
            if is_first and step.stage == "moves" and not step.done:
                _show_notice(cost_notice(step), console)
            if step.stage == "moves" and step.done:
                move = step.review.searched[-1]
                logger.info(" ".join(move_line(move).plain.split()))
            for move in step.review.searched if (step.stage, step.done) == ("reasons", 0) else ():
                if move.is_checked:
                    logger.info(f"checked: {' '.join(move_line(move).plain.split())}")
            title = titles.get(step.stage, name)
            rest = f"about {duration_text(step.expected)} left"
            bar.update(task, completed=step.progress, description=title, left=rest)
    return step


def cost_notice(step: ReviewStep) -> str:
    """Returns what the review of a game costs, by its first step."""
    cost = f"the review takes about {duration_text(step.expected)}"
    visits = step.review.conditions.limits.visits
    if step.is_short:
        return f"{cost}, because reviews have at least {visits} visits per position"
    has_limits = step.review.conditions.again is None
    return f"{cost}; --minutes 3 chooses visits for that time" if has_limits and step.expected > _LONG else cost


def _show_notice(text: str, console: Console) -> None:
    """Prints a notice above the bar of this console, wrapped between words on a terminal; nothing with --quiet."""
    if logger.isEnabledFor(NOTICE):
        console.print(Text(text), soft_wrap=not console.is_terminal)


def show_game(review: GameReview, *, all_moves: bool) -> None:
    """Prints the most costly mistakes of a game, how well each player played, and all moves if they are wanted."""
    console = Console(highlight=False)
    first, last = review.moves[0].number, review.moves[-1].number
    moves = f"move {first}" if first == last else f"moves {first} to {last}"
    console.print(Text(printable(review.heading), style="bold"))
    console.print(Text(f"{moves}; {review.conditions.text}", style="dim"))
    for notice in review.conditions.notices:
        console.print(Text(texts().say(notice), style="yellow"))
    mistakes = review.mistakes[:LISTED]
    if mistakes:
        console.print(mistakes_table(mistakes))
        _show_reasons(review)
    figures = review.figures()
    if figures:
        heads = {_column_head(review, colour): found for colour, found in figures.items()}
        console.print(players_table(heads, board=(review.record.width, review.record.height)))
    else:
        console.print("no move can be judged: stones are set up after each of them")
    if all_moves:
        console.print(Text(_LIST_HEAD, style="bold"))
        for move in review.own_moves:
            console.print(move_line(move))


def _show_reasons(review: GameReview) -> None:
    """Prints the most telling reason for each of the listed mistakes."""
    told = [*(mistake.worst for mistake in review.mistakes[:LISTED]), *review.praised_moves]
    explained = [(move, review.reasons[move.number][0]) for move in told if review.reasons.get(move.number)]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for move, reason in explained:
        table.add_row(str(move.number), _played(move), Text(reason.text))
    if explained:
        Console(highlight=False).print(table, "")


def show_total(reviews: Sequence[GameReview], player: str | None) -> None:
    """Prints how well the moves of several games were played: one player's, or Black's and White's."""
    console = Console(highlight=False)
    console.print(Text(f"{plural(len(reviews), 'game')} in all", style="bold"))
    moves = [move for review in reviews for move in review.judged()]
    if player is not None:
        judged = {player: moves}
    else:
        colours = {colour_name(colour).capitalize(): colour for colour in (BLACK, WHITE)}
        judged = {name: [move for move in moves if move.move.colour == colour] for name, colour in colours.items()}
    console.print(players_table({name: PlayerFigures(name, own) for name, own in judged.items() if own}))


def _column_head(review: GameReview, colour: int) -> str:
    """Returns the colour and, if it is known, the player's name below it."""
    head = colour_name(colour).capitalize()
    return head if review.name(colour) == head else f"{head}\n{printable(review.name(colour))}"


def mistakes_table(mistakes: Sequence[Mistake]) -> Table:
    """Returns a table with a line for each mistake; the values are those of the worst of its moves."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("move", justify="right", no_wrap=True)
    table.add_column("player", no_wrap=True)
    table.add_column("played", overflow="fold")
    table.add_column("better", overflow="fold")
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("win rate", justify="right", no_wrap=True)
    for mistake in mistakes:
        worst, misses = mistake.worst, len(mistake.misses)
        again = f"; worst of {misses} from move {mistake.misses[0].number} on" if misses > 1 else ""
        table.add_row(
            str(worst.number),
            colour_name(worst.move.colour).capitalize(),
            _played(worst) + again,
            worst.line_text(worst.better_line[:_LINE_SHOWN]),
            with_minus(worst.points_loss),
            f"{with_minus(100 * worst.winrate_loss)}%",
            style=CLASS_STYLES[loss_class(worst.points_loss)],
        )
    return table


def players_table(players: Mapping[str, PlayerFigures], board: tuple[int, int] | None = None) -> Table:
    """Returns a table with a column for each player, by its head; for one board the phases show their moves."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in players:
        table.add_column(Text(name), justify="right", overflow="fold")  # a name may contain brackets
    every = [figures.all for figures in players.values()]
    table.add_row("moves", *(f"{numbers.moves:,}" for numbers in every))
    table.add_row("points lost per move", *(f"{numbers.points_lost:.2f}" for numbers in every))
    for phase in Phase:
        if any(parts := [figures.phases.get(phase) for figures in players.values()]):
            first = f", from move {phase.first_move(*board)}" if board and phase.value else ""
            means = (f"{part.points_lost:.2f}" if part else "-" for part in parts)
            table.add_row(f"  {phase.label}{first}", *means)
    table.add_row("win rate lost per move", *(f"{100 * numbers.winrate_lost:.1f}%" for numbers in every))
    table.add_row("accuracy", *(f"{numbers.accuracy:.0f}%" for numbers in every))
    if any(figures.rank for figures in players.values()):
        table.add_row("plays like, on OGS", *(str(figures.rank or "-") for figures in players.values()))
    table.add_row("engine's first choice", *(_share(numbers.first_choice, numbers) for numbers in every))
    table.add_row("among its first five", *(_share(numbers.first_five, numbers) for numbers in every))
    table.add_row("moves by points lost")
    for number, style in enumerate(CLASS_STYLES):
        label = Text(f"  {class_label(number)}", style=style)
        table.add_row(label, *(str(numbers.classes[number]) for numbers in every))
    if any(numbers.again for numbers in every):
        table.add_row("  the same point missed again", *(str(numbers.again) for numbers in every))
    return table


def move_line(review: MoveReview) -> Text:
    """Returns one move as a line: the values after it for Black, what it has cost its player, and a better move."""
    played = f"{colour_letter(review.move.colour)} {review.vertex(review.move.point)}"
    place = f"{review.number:4}  {played:7}{100 * review.winrate:6.1f}%  {texts().lead(review.lead):>6}"
    if review.repeats is not None:
        return Text(f"{place}{f'as move {review.repeats}':>18}  {review.vertex(review.best)}")
    if not review.has_cost:
        return Text(place)
    cost = f"{with_minus(review.points_loss):>8}{with_minus(100 * review.winrate_loss):>9}%"
    better = review.vertex(review.best)
    return Text(f"{place}{cost}  {better}", style=CLASS_STYLES[loss_class(review.points_loss)])


def _played(review: MoveReview) -> str:
    return review.vertex(review.move.point)


def _share(count: int, numbers: PlayStatistics) -> str:
    return f"{count} ({100 * count / numbers.moves:.0f}%)"
