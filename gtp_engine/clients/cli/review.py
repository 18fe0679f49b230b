"""`gtp_engine review`: finds the mistakes in game records."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import UserError
from ...base.fields import Text
from ...base.interrupts import end_on_signals
from ...base.languages.texts import DEFAULT, LANGUAGES
from ...base.messages import printable
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED
from ...engine.settings import EngineSettings
from ...go.rules import Rules
from .command import command
from .common_options import KOMI, RULES, search_options
from .game_files import read_records, records, show_errors
from .options import FILE, FILE_OR_STANDARD, parsed
from .review_outputs import FORMAT_OPTIONS, Outputs

if TYPE_CHECKING:
    from ...go.sgf import GameRecord
    from ...study.game_review import GameReview
    from ...study.mistakes import Unit
    from ...study.reviewer import Reviewer, ReviewStep, ReviewTask

# A review that is repeated should show the same mistakes.
_DEFAULTS = {"seed": 1}


def _parse_range(text: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"(\d{1,5})(-(\d{1,5})?)?", text.strip(), re.ASCII)
    first = int(match[1]) if match else 0
    last = first if match and match[2] is None else int(match[3]) if match and match[3] else None
    if first < 1 or (last is not None and last < first):
        raise UserError(f"invalid range of moves {text!r}: expected 20-80, 20- or 80")
    return first, last


MOVE_RANGE = Text(parsed(_parse_range), "moves")


@dataclass(frozen=True)
class ReviewOptions:
    """What is reviewed, and what is written about it; None if an option without a default is not given.

    Attributes:
        files: Game records, and folders of them.
        player: Judge only the moves of black, of white, or of a player by name.
        numbers: Review only these moves: 20-80, 20- or 80.
        by: Rank mistakes by points or win rate.
        komi: Override the komi in the record.
        rules: Override the rules.
        all_moves: List every move after the summary; comment on all in the SGF.
        sgf_out: The former name of --sgf.
        plot: Draw the curves (.png, .svg, .pdf, .jpg); NAME-1.png and so on for several games.
        language: Language of the page (--html): English, Spanish, Chinese or Arabic.
        force: Overwrite existing files.
    """

    files: tuple[Path, ...] = records()
    player: str | None = setting(None, accepts=Text(), metavar="WHO", heading="Review")
    numbers: tuple[int, int | None] | None = setting(None, accepts=MOVE_RANGE, flags=["--moves"], metavar="FROM-TO")
    by: "Unit" = setting("points", accepts=("points", "winrate"))
    komi: float | None = setting(
        None, accepts=KOMI, what="komi", metavar="KOMI", shown="the record's; 0 if it has none"
    )
    rules: Rules | None = setting(None, accepts=RULES, shown="the record's; chinese if it has none")
    all_moves: bool = setting(False, flags=["--all/--no-all"], heading="Output")
    sgf_out: Path | None = setting(None, accepts=FILE_OR_STANDARD, hidden=True)
    plot: Path | None = setting(None, accepts=FILE)
    language: str = setting(DEFAULT, accepts=tuple(LANGUAGES), common=True)
    force: bool = setting(False)


@command(
    common=("seconds", "player", "html", "sgf", "all"),
    params=FORMAT_OPTIONS,
    groups={"options": ReviewOptions, "search": search_options(seconds="1")},
    context_settings={"default_map": _DEFAULTS},
)
@click.pass_context
def review(context: click.Context, options: ReviewOptions, search: EngineSettings, **formats: Path | None) -> None:
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
    from ...study.reviewer import Reviewer

    written = {name: path for name, path in formats.items() if path}
    if options.sgf_out is not None:  # the former name of --sgf
        written.setdefault("sgf", options.sgf_out)
    found, errors = read_records(options.files)
    tasks = _tasks(found, options, errors)
    outputs = Outputs(written, options.plot, options.language, options.force, options.all_moves, len(tasks))
    outputs.check(options.files)
    stopped = False
    if tasks:
        _show_advice(search.network, tasks)
        reviewer = Reviewer(search)
        end_on_signals(reviewer)
        _review_all(reviewer, tasks, outputs, errors, options.player)
        reviewer.close()
        stopped = reviewer.stopped
    show_errors(errors)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _tasks(records: "Sequence[GameRecord]", options: ReviewOptions, errors: list[str]) -> "list[ReviewTask]":
    """Returns what to review; the errors of games that cannot be reviewed are added to `errors`.

    Args:
        records: The games.
        options: What is wanted.
        errors: Gets the errors.
    """
    from ...study.player_names import may_be_part, player_colour
    from ...study.reviewer import ReviewTask

    tasks, player = [], options.player
    parts = player is not None and may_be_part(records, player)
    for record in records:
        try:
            moves = _numbers_of(record, options.numbers)
            record.to_game(0, rules=options.rules)  # an unplayable position is reported before the engine starts
            colour = None if player is None else player_colour(record, player, parts=parts)
            tasks.append(ReviewTask(record, moves, colour, by=options.by, komi=options.komi, rules=options.rules))
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
    from ...study.reviewer import network_advice
    from .review_display import show_notice

    advice = (network_advice(network, task.record.width, task.record.height) for task in tasks)
    if text := next(filter(None, advice), ""):
        show_notice(text)


def _review_all(
    reviewer: "Reviewer", tasks: "Sequence[ReviewTask]", outputs: Outputs, errors: list[str], player: str | None
) -> None:
    """Reviews the games, and saves and shows each as soon as it is done; adds what went wrong to `errors`."""
    from ...go.sgf import SgfError
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
