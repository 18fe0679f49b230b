"""`gtp_engine train`: a network learns from its own games."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .closing import end_on_signals
from .options import Number

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..training.ranks import Ranks
    from ..training.run_folder import RunFolder
    from ..training.settings import RunSettings
    from ..training.workers import Players

PRESETS = ("gpu", "laptop", "mini")


@click.command()
@click.argument("run", type=click.Path(file_okay=False, path_type=Path))
@click.option("--preset", type=click.Choice(PRESETS), help="Settings of a new run.  [default: laptop]")
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings of a new run: a TOML file in place of a preset.",
)
@click.option("--from", "start", metavar="NETWORK", help="A new run begins with this network: a file or a name.")
@click.option("--minutes", type=Number(0, min_open=True), help="Stop after so long; the same command goes on.")
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Play on a Ray cluster: auto (the one this machine is in), host:port, or local (one of this machine alone).",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Only draw the curves of the run into this HTML file.",
)
@click.option(
    "--compare",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="RUN",
    help="With --report: another run in the same pictures (repeatable).",
)
def train(
    run: Path,
    preset: str | None,
    settings_file: Path | None,
    start: str | None,
    minutes: float | None,
    cluster: str | None,
    report: Path | None,
    compare: tuple[Path, ...],
) -> None:
    """Let a network learn from its own games, in the folder RUN.

    A cycle plays games, learns from the last ones and makes a network. The folder holds everything: settings.toml,
    which says what each setting means, the networks, the games, and a log. Stopped or killed at any time, the same
    command goes on; Ctrl-C stops.

    \b
    Examples:
      gtp_engine train run                              9x9 from nothing, on a laptop
      gtp_engine train run --minutes 30                 the next half hour of it
      gtp_engine train run --cluster auto               played on all machines of a Ray cluster
      gtp_engine train run --report curves.html         what it has learned so far
      gtp_engine train run --report both.html --compare other
      gtp_engine train other --preset mini              the textbook's AlphaGo Zero
      gtp_engine gtp --network run/networks/0030.bin.gz
      torchrun --nproc-per-node=4 -m gtp_engine train run      learned on four GPUs
    """
    from ..training.run_folder import RunFolder

    folder = RunFolder(run)
    if compare and not report:
        raise click.UsageError("--compare needs --report")
    if report:
        from ..training.report import write_report
        from .outputs import check_place

        check_place(report)
        write_report([folder, *map(RunFolder, compare)], report)
        click.echo(f"the curves are in {report}")
        return
    from ..training.ranks import Ranks
    from ..training.together import follow

    with Ranks(os.environ) as ranks:
        if ranks.rank == 0:
            if cluster:
                from ..training.cluster import connect

                connect(cluster)
            network = _network_to_begin_with(folder, start)
            _begin_or_check(folder, preset, settings_file)
            _go_on(folder, minutes, network, bool(cluster), ranks)
        elif not follow(ranks):
            raise click.exceptions.Exit(1)


def _network_to_begin_with(folder: "RunFolder", start: str | None) -> Path | None:
    """Its file, read once before a run begins with it; None where none is wanted, or the run has begun with it.

    UsageError where the run has begun otherwise.
    """
    from ..network.library import find_network, load_network, network_name

    if start is None:
        return None
    if folder.state_file.exists():  # the file itself may be gone, or be another on this machine
        before = folder.load()[0].start
        if not before or network_name(Path(before)) != network_name(Path(start)):
            raise click.UsageError(f"--from is for new runs; {folder.path} has begun otherwise")
        return None
    path = find_network(start)
    load_network(path)
    return path


def _begin_or_check(folder: "RunFolder", preset: str | None, settings_file: Path | None) -> None:
    if not folder.exists:
        _begin(folder, preset, settings_file)
    elif (preset or settings_file) and _given(preset, settings_file) != folder.settings():
        text = f"{folder.path} has its settings already: edit {folder.settings_file}, or give another folder"
        raise click.UsageError(text)


def _begin(folder: "RunFolder", preset: str | None, settings_file: Path | None) -> None:
    if preset and settings_file:
        raise click.UsageError("give --preset or --settings, not both")
    folder.create(_given(preset, settings_file))


def _given(preset: str | None, settings_file: Path | None) -> "RunSettings":
    from ..training.presets import preset_file
    from ..training.settings import read_settings

    return read_settings(settings_file or preset_file(preset or "laptop"))


def _go_on(folder: "RunFolder", minutes: float | None, start: Path | None, on_cluster: bool, ranks: "Ranks") -> None:
    from ..lock import only_one_in
    from ..training.learner import LossNotFinite
    from ..training.loop import Run
    from .train_display import Display

    with only_one_in(folder.path), Display() as display:
        run = Run(folder, display, minutes=minutes, start=start, players=_players(on_cluster), ranks=ranks)
        end_on_signals(run)
        try:
            is_done = run.go()
        except (LossNotFinite, RuntimeError, OSError, MemoryError) as error:
            from ..wording import reason

            raise click.ClickException(
                f"{reason(error)}; nothing that was saved is lost: the same command goes on"
            ) from error
    if run.stopped:
        click.echo("stopped; the same command goes on")
        raise KeyboardInterrupt
    what = f"done: {folder.network(run.state.player)}" if is_done else "the time is up; the same command goes on"
    click.echo(what)


def _players(on_cluster: bool) -> "Callable[[RunSettings, int], Players]":
    if on_cluster:
        from ..training.cluster import Actors

        return Actors
    from ..training.workers import Workers

    return Workers
