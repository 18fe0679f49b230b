"""`gtp_engine solve`: whether groups live, by proof."""

import json
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base import VERSION, interrupts
from ...base.errors import UserError
from ...base.fields import Range, Text
from ...base.messages import plural, printable
from ...base.settings import setting
from ...base.system import EXIT_INTERRUPTED
from ...solver import USUAL_SECONDS
from .command import command
from .options import FILE_OR_STANDARD
from .outputs import Outputs
from .review_files import EXISTING_OR_STANDARD, read_records

if TYPE_CHECKING:
    from rich.status import Status

    from ...go.game import Game
    from ...go.sgf import GameRecord
    from ...solver.solution import Solution


@dataclass(frozen=True)
class SolveOptions:
    """What to solve.

    Attributes:
        file: The game record, or a collection of problems.
        points: Stones of one group, such as C3; its chains die together. None: the group that a problem is about, or
            all groups that are enclosed.
        game: Only the game with this number in a collection; without it all of them.
        at: The position after this move; without it the last one, or the one at the beginning if it has White's stones.
        seconds: The longest time for a group.
    """

    file: Path = setting(Path(), accepts=EXISTING_OR_STANDARD, argument=True, metavar="FILE", required=True)
    points: tuple[str, ...] = setting((), accepts=Text(), argument=True, metavar="[POINT]...", nargs=-1)
    game: int | None = setting(None, accepts=Range(1, whole=True), metavar="NUMBER")
    at: int | None = setting(None, accepts=Range(0, whole=True), metavar="MOVE")
    seconds: float = setting(USUAL_SECONDS, accepts=Range(0.01))


@dataclass(frozen=True)
class SolutionOptions(Outputs):
    """What is written about the solutions; None for a file that is not wanted.

    Attributes:
        tree: Show the trees of moves: what answers the first moves that work, and what refutes others.
        sgf: Write the positions with the trees as variations, one game for each group.
        json: Write all that was found as JSON.
        force: Overwrite existing files.
    """

    kinds = ("sgf", "json")
    tree: bool = setting(False, flags=["--tree/--no-tree"], heading="Output")
    sgf: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    json: Path | None = setting(None, accepts=FILE_OR_STANDARD)
    force: bool = setting(False)

    def text(self, kind: str, found: "Sequence[Solved]") -> str:
        if kind == "sgf":
            from ...study.solution_sgf import solution_record

            return "".join(solution_record(each.solution, each.game).to_sgf() for each in found)
        from ...solver.description import as_document

        groups = [{"file": each.record.source, **as_document(each.solution, each.game)} for each in found]
        return json.dumps({"program": f"gtp_engine {VERSION}", "groups": groups}, indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Solved:
    """A group that was read, with the record and the position that it stands in."""

    record: "GameRecord"
    game: "Game"
    solution: "Solution"


@command(groups={"options": SolveOptions, "output": SolutionOptions})
def solve(options: SolveOptions, output: SolutionOptions) -> None:
    """Find out whether groups live, by exact reading.

    For each player to move first: whether the group lives, dies, lives in seki or depends on a ko, all first moves that
    work, and a line. The answer is proved, provided that the surrounding stones it names live; what was not found in
    time is reported as not solved. Long repetitions capture nothing. Without a point, it looks for the problem's group;
    in a game, and if there is none, it reads every enclosed group. The games of a collection are read one after the
    other. Ctrl-C ends the reading with what is known.

    \b
    Examples:
      gtp_engine solve problem.sgf
      gtp_engine solve problem.sgf C3 --seconds 60 --tree
      gtp_engine solve game.sgf --at 120 Q17
      gtp_engine solve problems.sgf --sgf solutions.sgf
    """
    from ...solver.ahead import prepare
    from ...solver.description import describe

    output.check([options.file], force=output.force)
    records, errors = read_records((options.file,))
    chosen = [record for record in records if options.game in (None, _number(record))]
    if records and not chosen:
        raise UserError(f"{options.file}: there is no game {options.game} that can be read")
    stop, solved = threading.Event(), []
    with _status("getting ready; at the first start that takes about a minute"):
        prepare()
    interrupts.note(stop.set)  # before that Ctrl-C ends the command at once
    try:
        for record in chosen:
            if len(chosen) > 1 and not output.uses_standard:
                click.echo(printable(record.source))
            try:
                for found in _solved(record, options, stop):
                    solved += [found] if output.wanted else []  # those of a large collection would fill the memory
                    if not output.uses_standard:
                        click.echo("\n".join(describe(found.solution, found.game, trees=output.tree)))
            except UserError as error:
                errors.append(str(error) if record.source in str(error) else f"{record.source}: {error}")
            if stop.is_set():
                break
    finally:  # an error, such as a standard output that nobody reads any more, must not lose them
        if solved:
            errors += output.finish(solved)
    for problem in errors:
        click.echo(f"Error: {printable(problem)}", err=True)
    sys.exit(EXIT_INTERRUPTED if stop.is_set() else 1 if errors else 0)


def _number(record: "GameRecord") -> int:
    """Returns the number of a game in its file, as it is called in messages."""
    found = re.search(r", (?:game|line) (\d+)(?:, game 1)?$", record.source)
    return int(found[1]) if found else 1


def _status(text: str) -> "Status":
    """Returns a line about what is done in a `with` block; it is shown on terminals only."""
    from rich.console import Console

    return Console(stderr=True).status(text)


def _solved(record: "GameRecord", options: SolveOptions, stop: threading.Event) -> Iterator[Solved]:
    """Yields the solutions of one game, until the reading is stopped."""
    from ...solver.part import enclosed_groups
    from ...solver.solution import solve as solve_group

    # The beginning of a problem, the end of a game.
    game = record.to_game(0 if options.at is None and record.is_problem else options.at)
    asks = options.at is None and not options.points and record.is_problem
    if asks and (found := _goal(record, options.seconds, stop)) is not None:
        yield found
        return
    groups = [options.points] if options.points else enclosed_groups(game)
    if not groups and not stop.is_set():
        problem = "the group that is meant was not found" if asks else "no group is enclosed"
        raise UserError(f"{problem}: name a stone of one, such as C3")
    for points in groups:
        if stop.is_set():
            return
        name = game.vertex(game.point(points[0]))
        with _status(f"reading {name}") as status:

            def report(positions: int, name: str = name, status: "Status" = status) -> None:
                status.update(f"reading {name}: {plural(positions, 'position')}")

            solution = solve_group(game, points, seconds=options.seconds, stop=stop, report=report)
        yield Solved(record, game, solution)


def _goal(record: "GameRecord", seconds: float, stop: threading.Event) -> Solved | None:
    """Finds the group that a problem is about; None if none was found whose fate depends on who moves first."""
    from ...study.problems import find_goal, problem_of

    problem = problem_of(record)
    with _status("reading") as status:

        def report(number: int, count: int) -> None:
            status.update(f"looking for the group that is meant: {number} of {count}")

        goal = find_goal(problem, seconds, stop, report)
    return None if goal is None else Solved(record, problem.game, goal.solution)
