"""`gtp_engine review`: finds the mistakes in game records."""

import re
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.errors import UserError
from ...base.fields import Text
from ...base.interrupts import end_on_signals
from ...base.messages import plural, printable
from ...base.settings import like, setting
from ...base.system import EXIT_INTERRUPTED
from ...engine.settings import EngineSettings
from ...go.coords import BLACK, WHITE, parse_colour
from ...go.rules import Rules
from .command import command
from .common_options import MINUTES, RULES, GameOptions, search_options
from .review_files import EXISTING_OR_STANDARD, OutputOptions, read_records

if TYPE_CHECKING:
    from ...go.sgf import GameRecord
    from ...study.game_review import GameReview
    from ...study.reviewer import Reviewer, ReviewTask

# A review that is repeated should show the same mistakes.
_DEFAULTS = {"seed": 1}
_SAVED_EVERY = 60.0  # seconds while games are left: a review of many takes hours, and the power may fail
_USUAL = "up to 18 s on 9x9, 37 s on 13x13, 79 s on 19x19"


def _parse_range(text: str) -> tuple[int, int | None]:
    match = re.fullmatch(r"(\d{1,5})(-(\d{1,5})?)?", text.strip(), re.ASCII)
    first = int(match[1]) if match else 0
    last = first if match and match[2] is None else int(match[3]) if match and match[3] else None
    if first < 1 or (last is not None and last < first):
        raise UserError(f"invalid range of moves {text!r}: expected 20-80, 20- or 80")
    return first, last


MOVE_RANGE = Text(_parse_range, "moves")


@dataclass(frozen=True)
class ReviewOptions:
    """What is reviewed; None if an option without a default is not given.

    Attributes:
        files: Game records, and folders of them.
        minutes: Choose visits so that the review of a game takes at most this long.
        player: Judge only the moves of black, of white, or of a player by name.
        numbers: Review only these moves: 20-80, 20- or 80.
        komi: Override the komi in the record.
        rules: Override the rules.
    """

    files: tuple[Path, ...] = setting(
        (), accepts=EXISTING_OR_STANDARD, argument=True, metavar="FILE...", nargs=-1, required=True
    )
    minutes: float | None = setting(
        None, accepts=MINUTES, metavar="N", together="limits", heading="Review", shown=_USUAL
    )
    player: str | None = setting(None, accepts=Text(), metavar="WHO", heading="Review")
    numbers: tuple[int, int | None] | None = setting(None, accepts=MOVE_RANGE, flags=["--moves"], metavar="FROM-TO")
    komi: float | None = like(GameOptions, "komi", shown="the record's; 0 if it has none")
    rules: Rules | None = setting(None, accepts=RULES, shown="the record's; chinese if it has none")


@command(
    common=("minutes", "player", "html", "sgf", "all"),
    groups={"output": OutputOptions, "options": ReviewOptions, "search": search_options(visits="as --minutes allow")},
    exclusive=(("minutes", "visits"), ("minutes", "seconds")),
    context_settings={"default_map": _DEFAULTS},
)
@click.pass_context
def review(context: click.Context, output: OutputOptions, options: ReviewOptions, search: EngineSettings) -> None:
    """Find the mistakes in game records.

    Each position of the main line is searched; those of the moves that seem to be the worst are searched again, longer.
    The visits are chosen so that the review of a game takes up to 18 s on 9x9, 37 s on 13x13 and 79 s on 19x19. A
    thorough one takes --minutes 5, or --visits or --seconds for each position. The summary lists the most costly
    mistakes with better lines and reasons, and each player's losses by phase and size; --all adds a list of all moves.
    A mistake that a player makes several times counts once. --html writes a page with boards to step through,
    graphs and the turning points, for the browser and the printer: one file that needs no other, which begins with an
    index of the games if there are several. Several files, folders and collections are reviewed one after the other; -
    reads from standard input, and writes to standard output. Ctrl-C ends the review and saves the finished part. With
    --visits a review repeats exactly: the seed is 1 unless --seed changes it.

    \b
    Examples:
      gtp_engine review game.sgf
      gtp_engine review game.sgf --html review.html
      gtp_engine review game.sgf --minutes 5 --sgf reviewed.sgf
      gtp_engine review game.sgf --visits 200 --plot curve.svg --player black --moves 50-
      gtp_engine review my_games --visits 200 --player my_name --json games.json
      gtp_engine review old.sgf --komi 0 --rules japanese
    """
    from ...study.reviewer import Reviewer

    found, errors = read_records(options.files)
    tasks = _tasks(found, options, errors)
    output.check_places(options.files)
    stopped = False
    if tasks:
        with closing(Reviewer(search, options.minutes, known=context.obj)) as reviewer:
            end_on_signals(reviewer)
            _review_all(reviewer, tasks, options.player, output, errors)
        stopped = reviewer.stopped
    for error in errors:  # which may quote what a record says
        click.echo(f"Error: {printable(error)}", err=True)
    if stopped:
        click.echo("stopped before the end of the review", err=True)
    context.exit(EXIT_INTERRUPTED if stopped else 1 if errors else 0)


def _tasks(records: "Sequence[GameRecord]", options: ReviewOptions, errors: list[str]) -> "list[ReviewTask]":
    """Returns what to review; the errors of games that cannot be reviewed are added to `errors`."""
    from ...study.reviewer import ReviewTask

    tasks, player = [], options.player
    names = {_key(name) for record in records for name in (record.black, record.white)}
    for record in records:
        try:
            moves = _numbers_of(record, options.numbers)
            record.to_game(0, rules=options.rules)  # an unplayable position is reported before the engine starts
            colour = None if player is None else player_colour(record, player, may_be_part=_key(player) not in names)
            tasks.append(ReviewTask(record, moves, colour, komi=options.komi, rules=options.rules))
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
        raise UserError(f"{record.source}: there is no move {first}; the game has {plural(count, 'move')}")
    return range(first, min(count, last or count) + 1)


def player_colour(record: "GameRecord", player: str, *, may_be_part: bool = True) -> int:
    """Returns the colour of a player who is given by name, by colour, or by a part of the name, in this order.

    Raises UserError if neither player has this name, or both do.
    """
    wanted, names = _key(player), {BLACK: _key(record.black), WHITE: _key(record.white)}
    found = [colour for colour, name in names.items() if name == wanted]
    if len(found) == 1:
        return found[0]
    with suppress(UserError):
        return parse_colour(wanted)
    if may_be_part:
        found = [colour for colour, name in names.items() if wanted in name]
    if len(found) == 1:
        return found[0]
    problem = f"{player!r} may be either player" if found else f"no player {player!r} in this game"
    players = f"Black is {record.black or 'not named'}, White is {record.white or 'not named'}"
    raise UserError(f"{record.source}: {problem}: {players}")


def _key(name: str) -> str:
    """Returns what two spellings of a name have in common that differ in case and needless spaces."""
    return " ".join(name.split()).casefold()


def _review_all(
    reviewer: "Reviewer", tasks: "Sequence[ReviewTask]", player: str | None, output: OutputOptions, errors: list[str]
) -> None:
    """Reviews the games, shows each as soon as it is done, and saves them; adds what went wrong to `errors`."""
    from ...go.sgf import SgfError
    from .review_display import follow, show_game, show_total

    reviews: list[GameReview] = []
    is_shown = not output.uses_standard
    saved = time.monotonic()
    try:
        for number, task in enumerate(tasks, 1):
            name = printable(Path(task.record.source).name) if len(tasks) == 1 else f"game {number} of {len(tasks)}"
            try:
                step = follow(reviewer.steps(task), name, is_first=number == 1)
            except SgfError as refusal:
                errors.append(str(refusal))
                continue
            errors += filter(None, [step.error])
            if step.review.moves:
                reviews.append(step.review)
            if is_shown and step.review.moves:
                show_game(step.review, all_moves=output.all_moves)
            if reviewer.stopped:
                break
            if time.monotonic() > saved + _SAVED_EVERY:
                output.save(reviews)
                saved = time.monotonic()
        if len(reviews) > 1 and is_shown:
            show_total(reviews, player)
    finally:  # an error, such as a standard output that nobody reads any more, must not lose them
        if reviews:
            errors += output.finish(reviews)
