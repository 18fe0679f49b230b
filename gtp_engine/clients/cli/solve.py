"""`gtp_engine solve`: whether groups live, by proof."""

import threading
from dataclasses import dataclass
from pathlib import Path

import click

from ...base import interrupts
from ...base.errors import UserError
from ...base.fields import Range, Text
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED
from ...go.coords import WHITE
from ...solver import USUAL_SECONDS
from .command import command
from .review_files import EXISTING_OR_STANDARD, read_records


@dataclass(frozen=True)
class SolveOptions:
    """What to solve.

    Attributes:
        file: The game record.
        points: Stones of one group, such as C3; its chains die together. None: all groups that are enclosed.
        at: The position after this move; without it the last one, or the one at the beginning if it has White's stones.
        seconds: The longest time for a group.
    """

    file: Path = setting(Path(), accepts=EXISTING_OR_STANDARD, argument=True, metavar="FILE", required=True)
    points: tuple[str, ...] = setting((), accepts=Text(), argument=True, metavar="[POINT]...", nargs=-1)
    at: int | None = setting(None, accepts=Range(0, whole=True), metavar="MOVE")
    seconds: float = setting(USUAL_SECONDS, accepts=Range(0.01))


@command(groups={"options": SolveOptions})
@click.pass_context
def solve(context: click.Context, options: SolveOptions) -> None:
    """Find out whether groups live, by exact reading.

    For each player to move first: whether the group lives, dies, lives in seki or depends on a ko, all first moves that
    work, and a line. What is said is proved, unless the stones die that are named as those around; what was not found
    in the time is said to be not solved. Long repetitions count as if they captured nothing. Without a point, every
    group is read whose surroundings are closed. Ctrl-C ends the reading with what is known.

    \b
    Examples:
      gtp_engine solve problem.sgf
      gtp_engine solve problem.sgf C3 --seconds 60
      gtp_engine solve game.sgf --at 120 Q17
    """
    from ...solver.description import describe
    from ...solver.part import enclosed_groups
    from ...solver.solution import solve as solve_group

    records, errors = read_records((options.file,))
    if errors:
        raise UserError(errors[0])
    record = records[0]
    if options.at is not None and options.at > len(record.moves):
        raise UserError(f"{record.source}: there is no move {options.at}, the game has {len(record.moves)}")
    game = record.to_game(0)
    is_problem = (game.stones() == WHITE).any()
    if options.at is not None or not is_problem:
        game = record.to_game(options.at)
    groups = [options.points] if options.points else enclosed_groups(game)
    if not groups:
        click.echo("no group is enclosed: name a stone of one, such as C3")
    stop = threading.Event()
    interrupts.note(stop.set)
    for points in groups:
        if stop.is_set():
            break
        for line in describe(solve_group(game, points, seconds=options.seconds, stop=stop), game):
            click.echo(line)
    context.exit(EXIT_INTERRUPTED if stop.is_set() else 0)
