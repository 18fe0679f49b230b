"""`gtp_engine review`: the mistakes of a game record."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..evaluate.choices import too_large
from ..wording import counted, reason
from . import INTERRUPTED
from .options import Komi, RulesName, SearchOptions, analysis_options, engine_settings
from .outputs import check_place

if TYPE_CHECKING:
    from rich.table import Table

    from ..analysis.review import MoveReview
    from ..engine import EngineSettings
    from ..evaluate.interface import Evaluator
    from ..game.rules import Rules
    from ..sgf import GameRecord

DEFAULT_SECONDS = 1.0  # 200 moves in three minutes; five seconds a move, as for playing, would be a quarter of an hour
WORST_MOVES = 10


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--sgf-out", type=click.Path(path_type=Path), help="Save the main line with comments; a new file.")
@click.option("--plot", type=click.Path(path_type=Path), help="Save the curves as a picture (.png, .svg); a new file.")
@click.option("--komi", type=Komi(), help="Instead of the record's.")
@click.option("--rules", type=RulesName(), help="Instead of the record's.  [default: chinese where it has none]")
@analysis_options
@click.pass_context
def review(
    context: click.Context,
    file: Path,
    sgf_out: Path | None,
    plot: Path | None,
    komi: float | None,
    rules: "Rules | None",
    search: SearchOptions,
) -> None:
    """Show the mistakes of a game record.

    Each move of the main line is listed with black's win rate and lead after it and with what it cost, by a search of
    1 s (or --visits, --seconds) for every position; then come the moves that cost the most. Ctrl-C ends the review and
    saves what is done.

    \b
    Examples:
      gtp_engine review game.sgf
      gtp_engine review game.sgf --seconds 10 --sgf-out reviewed.sgf
      gtp_engine review game.sgf --visits 200 --plot curve.png
      gtp_engine review old.sgf --komi 0 --rules japanese
    """
    from ..engine import new_thinker
    from ..sgf import read_sgf

    record = read_sgf(file)
    if not record.moves:
        raise ValueError(f"{file}: there are no moves to review")
    record.to_game(0, rules=rules)  # What cannot be played on at all is said before the engine starts.
    _check_outputs(sgf_out, plot)
    settings = engine_settings(search).on_board(record.width, record.height)
    thinker = new_thinker(settings)
    thinker.warm_up()
    parameters = settings.search_parameters(settings.network)
    thinker.announce(parameters)
    thinker.check_profile(parameters.profile)
    reviews, errors, interrupted = _review_moves(record, thinker.evaluator(), settings, rules, komi)
    thinker.close()
    if reviews:
        _print_summary(reviews)
        errors += _save(record, reviews, sgf_out, plot)
    for error in errors:
        click.echo(f"Error: {error}", err=True)
    context.exit(1 if errors else INTERRUPTED if interrupted else 0)


def _check_outputs(sgf_out: Path | None, plot: Path | None) -> None:
    """Says before the work that a file could not be saved after it."""
    for path in (sgf_out, plot):
        if path is not None and path.exists():
            raise FileExistsError(f"{path} exists already; give a new name")
        if path is not None:
            check_place(path)
    if plot is not None:
        from ..analysis.curve import check_picture

        check_picture(plot)


def _review_moves(
    record: "GameRecord",
    evaluator: "Evaluator",
    settings: "EngineSettings",
    rules: "Rules | None",
    komi: float | None,
) -> "tuple[list[MoveReview], list[str], bool]":
    """Reviews and prints the moves; gives those that are done, the error that ended it before the last one, and whether
    Ctrl-C did."""
    from rich.console import Console
    from rich.progress import Progress

    from ..analysis.review import review_record
    from ..search.parameters import default_parameters
    from ..search.search import Limits
    from ..sgf import SgfError

    parameters = settings.search_parameters(settings.network)
    if max(record.width, record.height) > evaluator.largest_board:
        if settings.strict:
            raise ValueError(too_large(evaluator.name, evaluator.largest_board))
        evaluator, parameters = _rollouts(evaluator, settings), default_parameters("none")
    seconds = DEFAULT_SECONDS if settings.visits is None and settings.seconds is None else settings.seconds
    limits = Limits(settings.visits, seconds)
    options: dict[str, Any] = {"seed": settings.seed, "rules": rules, "komi": komi}
    reviews: list[MoveReview] = []
    errors, interrupted = [], False
    console = Console(highlight=False)
    console.print("move  played  black   lead    lost")
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=len(record.moves))
        try:
            for done in review_record(record, evaluator, parameters, limits, **options):
                reviews.append(done)
                bar.console.print(_line(done))
                bar.advance(task)
        except KeyboardInterrupt:
            interrupted = True
            bar.console.print(f"stopped after move {len(reviews)}")
        except SgfError as refused:
            errors.append(str(refused))
    return reviews, errors, interrupted


def _rollouts(evaluator: "Evaluator", settings: "EngineSettings") -> "Evaluator":
    """Playouts for a board that is too large for the network, which is said."""
    from ..evaluate.factory import make_evaluator
    from ..log import log

    log(f"{too_large(evaluator.name, evaluator.largest_board)}: this one is reviewed by rollouts")
    return make_evaluator(threads=settings.threads, seed=settings.seed)


def _line(review: "MoveReview") -> str:
    """One move: number, player, vertex, black's win rate, who leads, what it cost."""
    from ..game.coords import colour_letter

    loss = f"{100 * review.winrate_loss:.1f}%" if review.winrate_loss >= 0.0005 else ""
    vertex = _vertex(review, review.move.point)
    place = f"{review.number:4}  {colour_letter(review.move.colour)} {vertex:5}"
    return f"{place}{100 * review.winrate:6.1f}%  {_lead(review.lead):7}{loss}".rstrip()


def _vertex(review: "MoveReview", point: int) -> str:
    from ..game.coords import vertex

    return vertex(point, review.before.width, review.before.height)


def _lead(points: float) -> str:
    return f"{'B' if points >= 0 else 'W'}+{abs(points):.1f}"


def _print_summary(reviews: "Sequence[MoveReview]") -> None:
    from rich.console import Console

    from ..analysis.review import worst_moves
    from ..game.coords import BLACK, WHITE, colour_name

    console = Console(highlight=False)
    worst = worst_moves(reviews, WORST_MOVES)
    if worst:
        console.print(_table(worst))
    for colour in (BLACK, WHITE):
        own = [review for review in reviews if review.move.colour == colour]
        if own:
            mean = sum(100 * review.winrate_loss for review in own) / len(own)
            same = sum(review.move.point == review.best for review in own)
            share = f"the engine's choice in {same} of {counted(len(own), 'move')}"
            console.print(f"{colour_name(colour).capitalize()}: {mean:.1f}% win rate lost a move; {share}")


def _table(worst: "Sequence[MoveReview]") -> "Table":
    from rich.table import Table

    from ..game.coords import colour_name

    table = Table(title="The moves that cost the most")
    for heading in ("Move", "Played", "Better", "Win rate lost", "Points lost"):
        table.add_column(heading, justify="left" if heading in ("Played", "Better") else "right")
    for review in worst:
        played = f"{colour_name(review.move.colour)} {_vertex(review, review.move.point)}"
        winrate, points = f"{100 * review.winrate_loss:.1f}%", f"{review.points_loss:.1f}"
        table.add_row(str(review.number), played, _vertex(review, review.best), winrate, points)
    return table


def _save(record: "GameRecord", reviews: "Sequence[MoveReview]", sgf_out: Path | None, plot: Path | None) -> list[str]:
    """Saves what was asked for, one file whatever becomes of the other; says what failed."""
    from ..analysis.curve import plot_curve
    from ..analysis.review import commented
    from ..sgf import write_sgf

    errors = []
    try:
        if sgf_out is not None:
            write_sgf(commented(record, reviews), sgf_out)
    except OSError as error:
        errors.append(f"cannot save {reason(error)}")
    try:
        if plot is not None:
            plot_curve(reviews, plot, f"{record.black or 'Black'} - {record.white or 'White'}")
    except OSError as error:
        errors.append(f"cannot save {reason(error)}")
    return errors
