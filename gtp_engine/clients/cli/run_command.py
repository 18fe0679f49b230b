"""What `gtp_engine learn` and `train` have in common: a run works in its folder, is shown, and stops at a signal."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...base.errors import error_text
from ...base.fields import Text
from ...base.interrupts import end_on_signals
from ...base.settings import setting
from ...engine.settings import COUNT
from ...training.processes import LAUNCHED, Machine, end_with_launcher, launch
from ...training.progress import Limit, Observer, resource_errors
from .options import EXISTING_FOLDER, FILE
from .outputs import check_place, report_written

if TYPE_CHECKING:
    from ...training.ddp import ProcessGroup
    from ...training.run import Run
    from ...training.run_folder import RunFolder

RESUME = "run the same command to resume"


@dataclass(frozen=True)
class ReportOptions:
    """What a run has reached, shown instead of going on with it.

    Attributes:
        file: Write a report of the run so far to this HTML file and exit; the run may be under way.
        compare: With --report: add another run, of `learn` or `train`, to the same report (repeatable).
        show_samples: Print N positions that the run learns, drawn at random, with all their targets, and exit.
    """

    file: Path | None = setting(None, accepts=FILE, flags=["--report"], metavar="FILE", heading="Output")
    compare: tuple[Path, ...] = setting((), accepts=EXISTING_FOLDER, multiple=True, metavar="RUN")
    show_samples: int | None = setting(None, accepts=COUNT, metavar="N")

    def check(self) -> None:
        """Raises UsageError if the options contradict each other."""
        if self.compare and not self.file:
            raise click.UsageError("--compare needs --report")


def show_instead(folder: "RunFolder", options: ReportOptions) -> bool:
    """Shows of a run what the options ask for; returns whether they ask for anything."""
    from ...training.run_folder import RunFolder

    if options.file:
        from ...training.report import write_report

        check_place(options.file)
        write_report([folder, *map(RunFolder, options.compare)], options.file)
        report_written(options.file, is_page=True)
    if options.show_samples:
        import numpy as np

        from ...training.inspection import describe_samples

        for text in describe_samples(folder, options.show_samples, np.random.default_rng()):
            click.echo(f"{text}\n")
    return bool(options.file or options.show_samples)


@dataclass(frozen=True)
class ProcessOptions:
    """The processes that train together.

    Attributes:
        processes: Train in N processes on this machine, one for each GPU.
        machine: Train on COUNT machines with as many processes each; this one is NUMBER, from 0, and 0 is at HOST.
    """

    processes: int | None = setting(None, accepts=COUNT, metavar="N", heading="Machine", shown="1")
    machine: Any = setting(None, accepts=Text(Machine.parse, "machine"), metavar="NUMBER/COUNT@HOST:PORT")


def in_process_group(work: "Callable[[ProcessGroup], None]", options: ProcessOptions) -> None:
    """Does the work in the first of the processes that train together, while the others follow it.

    If the options ask for several, this process starts them with the same command line and waits for them.
    """
    if LAUNCHED not in os.environ and (options.machine or (options.processes or 1) > 1):
        raise click.exceptions.Exit(launch(options.processes or 1, options.machine))
    end_with_launcher()
    from ...training.ddp import ProcessGroup
    from ...training.learner import run_follower

    with ProcessGroup(os.environ) as group:
        if group.rank == 0:
            work(group)
        elif not run_follower(group):
            raise click.exceptions.Exit(1)


def carry_out(
    folder: "RunFolder",
    limit: Limit,
    begin: Callable[[], None],
    make_run: "Callable[[Observer], Run]",
    about: str = "",
) -> bool:
    """Runs in the folder until everything is done or the limit is reached, and reports the result.

    `begin` makes the run in its folder, in which no other program may work meanwhile, or checks that it may resume;
    `make_run` makes the run that is reported to an observer. `about` is what each line begins with, where the run is
    one of several. Returns whether everything is done.

    Raises KeyboardInterrupt if a signal stopped the run, ClickException if an error ended it; what is saved is kept.
    """
    from ...training.data.compile_samples import compile_samples
    from ...training.learner import LossNotFinite
    from ...training.log import summary
    from .run_display import RunDisplay

    with folder.locked():
        begin()
        compile_samples()
        with RunDisplay(about) as display:
            end_on_signals(limit)
            run = make_run(display)
            try:
                with resumable("nothing saved is lost"):
                    is_done = run.go()
            except LossNotFinite as error:  # the same would happen again
                where = f"learning_rate in {folder.settings_file}"
                raise click.ClickException(f"{error_text(error)} ({where}); nothing saved is lost") from error
    click.echo(f"{about}{summary(folder)}")
    report_end(run.network if is_done else None, limit, about)
    return is_done


@contextmanager
def resumable(kept: str) -> Iterator[None]:
    """Reports errors that are no bugs in one line, with what is kept and how to go on."""
    try:
        yield
    except resource_errors() as error:
        raise click.ClickException(f"{error_text(error)}; {kept}: {RESUME}") from error


def report_end(result: Path | None, limit: Limit, about: str = "") -> None:
    """Reports the result, or how to resume; raises KeyboardInterrupt if a signal stopped the work before its end."""
    if result is not None:
        click.echo(f"{about}done: {result}")
    elif limit.stopped:
        click.echo(f"stopped; {RESUME}")
        raise KeyboardInterrupt
    else:
        click.echo(f"time limit reached; {RESUME}")
