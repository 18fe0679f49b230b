"""`gtp_engine review`: finds the mistakes in game records."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import UserError
from ..base.interrupts import end_on_signals
from ..base.messages import printable
from ..base.system import EXIT_INTERRUPTED
from .command import command, options
from .engine_settings import engine_settings
from .game_files import RECORDS, read_records, show_errors
from .name_types import RulesName
from .option_types import Komi, MoveRange
from .options import SearchOptions, search_options
from .outputs import FORCE, output_option
from .review_outputs import FORMAT_OPTIONS, FORMATS, Outputs
from .shared_options import LANGUAGE, Decorator

if TYPE_CHECKING:
    from ..analysis.game_review import GameReview
    from ..analysis.reviewer import Reviewer, ReviewStep, ReviewTask
    from ..sgf import GameRecord

# A review that is repeated should show the same mistakes.
_DEFAULTS = {"seed": 1}
_OPTIONS: tuple[str | Decorator, ...] = (
    RECORDS,
    "Review",
    click.option("--player", metavar="WHO", help="Judge only the moves of black, of white, or of a player by name."),
    click.option(
        "--moves", "numbers", type=MoveRange(), metavar="FROM-TO", help="Review only these moves: 20-80, 20- or 80."
    ),
    click.option(
        "--by", type=click.Choice(("points", "winrate")), default="points", help="Rank mistakes by points or win rate."
    ),
    click.option(
        "--komi", type=Komi(), show_default="the record's; 0 if it has none", help="Override the komi in the record."
    ),
    click.option(
        "--rules", type=RulesName(), show_default="the record's; chinese if it has none", help="Override the rules."
    ),
    "Output",
    click.option(
        "--all/--no-all",
        "all_moves",
        default=False,
        help="List every move after the summary; comment on all in the SGF.",
    ),
    *FORMAT_OPTIONS,
    click.option("--sgf-out", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), hidden=True),
    output_option("--plot", text="Draw the curves (.png, .svg, .pdf, .jpg); NAME-1.png and so on for several games."),
    LANGUAGE,
    FORCE,
)


@command(common=("seconds", "player", "html", "sgf", "all"), context_settings={"default_map": _DEFAULTS})
@options(*_OPTIONS)
@search_options(seconds="1")
@click.pass_context
def review(
    context: click.Context,
    search: SearchOptions,
    files: tuple[Path, ...],
    player: str | None,
    numbers: tuple[int, int | None] | None,
    sgf_out: Path | None,
    **values: Any,
) -> None:
    """Find the mistakes in game records.

    Each position of the main line is searched for 1 s, or as long as --seconds or --visits allow; those of the moves
    that seem to be the worst are searched again, four times as long. The summary lists the most costly mistakes with
    better lines and reasons, and each player's losses by phase and size; --all adds a list of all moves. A point missed
    several times by a player counts as one mistake. --html writes a page with boards to step through, graphs and the
    turning points, for the browser and the printer: one file that needs no other, which begins with an index of the
    games if there are several. Several files, folders and collections are reviewed one after the other; - reads from
    standard input, and writes to standard output. Ctrl-C ends the review and saves the finished part. With --visits a
    review repeats exactly: the seed is 1 unless --seed changes it.

    \b
    Examples:
      gtp_engine review game.sgf
      gtp_engine review game.sgf --html review.html
      gtp_engine review game.sgf --seconds 10 --sgf reviewed.sgf
      gtp_engine review game.sgf --visits 200 --plot curve.png --player black --moves 50-
      gtp_engine review my_games --visits 200 --player my_name --json games.json
      gtp_engine review old.sgf --komi 0 --rules japanese
    """
    from ..analysis.reviewer import Reviewer

    written = {name: path for name in FORMATS if (path := values.pop(name))}
    if sgf_out is not None:  # the former name of --sgf
        written.setdefault("sgf", sgf_out)
    wanted = {name: values.pop(name) for name in ("by", "rules", "komi")}
    records, errors = read_records(files)
    tasks = _tasks(records, player, numbers, wanted, errors)
    outputs = Outputs(written, games=len(tasks), **values)
    outputs.check(files)
    stopped = False
    if tasks:
        settings = engine_settings(search)
        _show_advice(settings.network, tasks)
        reviewer = Reviewer(settings)
        end_on_signals(reviewer)
        _review_all(reviewer, tasks, outputs, errors, player)
        reviewer.close()
        stopped = reviewer.stopped
    show_errors(errors)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _tasks(
    records: "Sequence[GameRecord]",
    player: str | None,
    numbers: tuple[int, int | None] | None,
    wanted: dict[str, Any],
    errors: list[str],
) -> "list[ReviewTask]":
    """Returns what to review; the errors of games that cannot be reviewed are added to `errors`.

    Args:
        records: The games.
        player: The player to judge, a colour or a name; None for both.
        numbers: The first and the last move to review; None as the last for the end of the game.
        wanted: The other fields of the tasks.
        errors: Gets the errors.
    """
    from ..analysis.player_names import may_be_part, player_colour
    from ..analysis.reviewer import ReviewTask

    tasks = []
    parts = player is not None and may_be_part(records, player)
    for record in records:
        try:
            moves = _numbers_of(record, numbers)
            record.to_game(0, rules=wanted["rules"])  # an unplayable position is reported before the engine starts
            colour = None if player is None else player_colour(record, player, parts=parts)
            tasks.append(ReviewTask(record, moves, colour, **wanted))
        except UserError as error:
            errors.append(str(error))
    return tasks


def _numbers_of(record: "GameRecord", numbers: tuple[int, int | None] | None) -> range:
    """Returns the numbers of the moves to review; raises UserError if the game ends before the first of them."""
    count = len(record.moves)
    if not count:
        raise UserError(f"{record.source}: there are no moves to review")
    first, last = numbers or (1, None)
    if first > count:
        raise UserError(f"{record.source}: there is no move {first}, the game has {count}")
    return range(first, min(count, last or count) + 1)


def _show_advice(network: str, tasks: "Sequence[ReviewTask]") -> None:
    """Shows how far a small network can be trusted, once."""
    from ..analysis.reviewer import network_advice
    from .review_display import show_notice

    advice = (network_advice(network, task.record.width, task.record.height) for task in tasks)
    if text := next(filter(None, advice), ""):
        show_notice(text)


def _review_all(
    reviewer: "Reviewer", tasks: "Sequence[ReviewTask]", outputs: Outputs, errors: list[str], player: str | None
) -> None:
    """Reviews the games, and saves and shows each as soon as it is done; adds what went wrong to `errors`."""
    from ..sgf import SgfError
    from .review_display import follow, show_game, show_total

    reviews: list[GameReview] = []
    results: dict[Path, str] = {}
    shown = not outputs.has_standard
    try:
        for number, task in enumerate(tasks, 1):
            name = printable(Path(task.record.source).name) if len(tasks) == 1 else f"game {number} of {len(tasks)}"
            try:
                step = follow(reviewer.steps(task), name)
            except SgfError as refusal:
                errors.append(str(refusal))
                continue
            errors += filter(None, [step.error])
            if step.review.moves:
                reviews.append(step.review)
                # First, as the reader of standard output may be gone.
                results |= outputs.save(reviews, number)
            if shown and reviewer.stopped:
                click.echo(_where_stopped(step, task))
            if shown and step.review.moves:
                show_game(step.review, all_moves=outputs.all_moves)
            if reviewer.stopped:
                break
    finally:  # an error such as a closed standard output must not lose them
        if reviews:
            results |= outputs.save_streams(reviews)
    errors += filter(None, results.values())
    if len(reviews) > 1 and shown:
        show_total(reviews, player)
    if reviews:
        outputs.print(reviews)
    outputs.report(results)


def _where_stopped(step: "ReviewStep", task: "ReviewTask") -> str:
    """Returns a line about where a review was stopped; an error may have ended the list of its moves before."""
    numbers = task.numbers or range(0)
    moves = step.review.moves
    if step.error or len(moves) == len(numbers):
        return "stopped before all mistakes were checked and explained"
    return f"stopped after move {moves[-1].number if moves else numbers.start - 1}"
