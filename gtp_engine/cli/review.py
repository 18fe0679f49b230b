"""`gtp_engine review`: finds the mistakes in game records."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.errors import UserError
from ..base.messages import printable
from ..base.system import EXIT_INTERRUPTED
from .closing import end_on_signals
from .command import command
from .engine_settings import engine_settings
from .game_files import STANDARD, read_records, show_errors
from .options import SearchOptions, search_options
from .review_options import ReviewOptions, review_options
from .review_outputs import print_output, report_files, save_files, save_streams

if TYPE_CHECKING:
    from ..analysis.game_review import GameReview
    from ..analysis.reviewer import Reviewer
    from ..sgf import GameRecord

# A review that is repeated should show the same mistakes.
_DEFAULTS = {"seed": 1}


@dataclass(frozen=True)
class _Task:
    """A game to review.

    Attributes:
        record: The record.
        player: The player to judge; None for both.
        numbers: The numbers of the moves to review.
    """

    record: "GameRecord"
    player: int | None
    numbers: range


@command(common=("seconds", "player", "html", "sgf", "all"), context_settings={"default_map": _DEFAULTS})
@review_options
@search_options(seconds="1")
@click.pass_context
def review(context: click.Context, search: SearchOptions, **values: Any) -> None:
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

    options = ReviewOptions(**values)
    tasks, errors = _tasks(options)
    options.check(len(tasks))
    stopped = False
    if tasks:
        settings = engine_settings(search)
        _show_advice(settings.network, tasks)
        reviewer = Reviewer(settings)
        end_on_signals(reviewer)
        _review_all(reviewer, tasks, options, errors)
        reviewer.close()
        stopped = reviewer.stopped
    show_errors(errors)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _tasks(options: ReviewOptions) -> tuple[list[_Task], list[str]]:
    """Returns the games to review, and the errors of those that cannot be reviewed."""
    tasks = []
    records, errors = read_records(options.files)
    player_of = options.players_of(records)
    for record in records:
        try:
            numbers = options.numbers_of(record)
            record.to_game(0, rules=options.rules)  # an unplayable position is reported before the engine starts
            tasks.append(_Task(record, player_of(record), numbers))
        except UserError as error:
            errors.append(str(error))
    return tasks, errors


def _show_advice(network: str, tasks: Sequence[_Task]) -> None:
    """Shows how far a small network can be trusted, once."""
    from ..analysis.reviewer import network_advice
    from .review_display import show_notice

    advice = (network_advice(network, task.record.width, task.record.height) for task in tasks)
    if text := next(filter(None, advice), ""):
        show_notice(text)


def _review_all(reviewer: "Reviewer", tasks: Sequence[_Task], options: ReviewOptions, errors: list[str]) -> None:
    """Reviews the games, and saves and shows each as soon as it is done; adds what went wrong to `errors`."""
    from ..sgf import SgfError
    from .review_display import show_game, show_total

    reviews: list[GameReview] = []
    results: dict[Path, str] = {}
    shown = STANDARD not in options.outputs(1)
    try:
        for number, task in enumerate(tasks, 1):
            name = printable(Path(task.record.source).name) if len(tasks) == 1 else f"game {number} of {len(tasks)}"
            try:
                review, error = _review_game(reviewer, task, options, name)
            except SgfError as refusal:
                errors.append(str(refusal))
                continue
            errors += [error] if error else []
            if review.moves:
                reviews.append(review)
                # First, as the reader of standard output may be gone.
                results |= save_files(reviews, options, number, len(tasks))
            if shown and reviewer.stopped:
                click.echo(_where_stopped(review, task, error))
            if shown and review.moves:
                show_game(review, all_moves=options.all_moves)
            if reviewer.stopped:
                break
    finally:  # an error such as a closed standard output must not lose them
        if reviews:
            results |= save_streams(reviews, options)
    errors += filter(None, results.values())
    if len(reviews) > 1 and shown:
        show_total(reviews, options.player)
    if reviews:
        print_output(reviews, options)
    report_files(results, options)


def _where_stopped(review: "GameReview", task: _Task, error: str) -> str:
    """Returns a line about where a review was stopped; `error` has ended the list of its moves, if it is not empty."""
    if error or len(review.moves) == len(task.numbers):
        return "stopped before all mistakes were checked and explained"
    return f"stopped after move {review.moves[-1].number if review.moves else task.numbers.start - 1}"


def _review_game(reviewer: "Reviewer", task: _Task, options: ReviewOptions, name: str) -> "tuple[GameReview, str]":
    """Reviews a game; returns its review so far, and the error that ended it early, if there was one.

    Raises:
        SgfError: The game cannot be reviewed at all.
    """
    from ..analysis.game_review import GameReview
    from .review_progress import follow, follow_reasons, follow_second_look

    record, rules, komi = task.record, options.rules, options.komi
    moves, error = follow(reviewer.moves(record, rules, komi, task.numbers), len(task.numbers), name)
    if not reviewer.stopped:
        look = reviewer.second_look(record, moves, rules, komi, by=options.by, player=task.player)
        moves = follow_second_look(look, moves, name)
    conditions = reviewer.conditions(record, rules, komi)
    review = GameReview(record, conditions, moves, task.player, options.by, is_checked=not reviewer.stopped)
    review = replace(review, ranks=reviewer.ranks(review, rules, komi))
    reasons = follow_reasons(reviewer.reasons(review, rules, komi), review, name)
    return replace(review, reasons=reasons), error
