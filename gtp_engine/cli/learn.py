"""`gtp_engine learn`: a network learns from game records."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..wording import counted, reason
from .closing import end_on_signals
from .options import DEVICES, BoardSize, Number

if TYPE_CHECKING:
    import torch

    from ..training.gather import Gathered
    from ..training.ranks import Ranks
    from ..training.supervised import Report, SupervisedSettings

SHOWN_ERRORS = 20
DEFAULT_CONFIG = "b6c96"


@click.command()
@click.argument("games", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="The run's folder.  [default: by --config, in the user's data folder]",
)
@click.option("--config", help="The network: blocks and channels.  [default: b6c96]")
@click.option("--from", "start", metavar="NETWORK", help="Begin with this network instead: a file or a name.")
@click.option("--board-size", "sizes", multiple=True, type=BoardSize(), help="Only games on it; may be given again.")
@click.option("--rank", help="Only games of players of this rank and above: 4d, 1p.")
@click.option("--since", help="Only games from this day or year on: 2000, 2015-03-31.")
@click.option("--until", help="Only games up to this day or year.")
@click.option("--least-moves", type=click.IntRange(1), default=20, show_default=True, help="Only games so long.")
@click.option("--samples", type=click.IntRange(1), help="Positions to learn.  [default: each once]")
@click.option("--batch-size", type=click.IntRange(2), default=256, show_default=True, help="Positions a step.")
@click.option("--optimizer", type=click.Choice(("adamw", "sgd")), default="adamw", show_default=True)
@click.option("--learning-rate", type=Number(0, min_open=True), help="The highest one.  [default: 0.002; sgd: 0.05]")
@click.option("--warm-up", type=click.IntRange(0), default=50_000, show_default=True, help="Positions, at the start.")
@click.option(
    "--drop-share",
    type=Number(0, 1),
    default=0.5,
    show_default=True,
    help="The last part of the run, in which the rate falls.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the weights and the order.")
@click.option("--validate", type=click.IntRange(1), default=256_000, show_default=True, help="Positions between two.")
@click.option("--minutes", type=Number(0), help="Stop after so long; the same command goes on.")
@click.option("--threads", type=click.IntRange(1), help="Processor threads.  [default: all]")
@click.option("--device", type=click.Choice(DEVICES), default="auto", show_default=True)
@click.option("--precision", type=click.Choice(("auto", "float32", "bfloat16")), default="auto", show_default=True)
def learn(games: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """Let a network learn from game records: SGF files, folders of them, zips, .sgfs (a game a line).

    It learns to predict the moves, the winner, the score and whose the points are. One game in 20 is held back to
    measure with. The network lies in the run's folder after a few minutes already and plays at once. Stopped or killed,
    the same command goes on where it was.

    \b
    Examples:
      gtp_engine learn games.zip
      gtp_engine learn kgs/ pro.zip --out pro --config b10c128 --rank 4d --since 2000 --minutes 60
      gtp_engine learn my-games/ --from b6c64-19x19 --learning-rate 0.0005
      gtp_engine gtp --network pro/b10c128.bin.gz
    """
    from ..training.ranks import Ranks
    from ..training.together import follow

    with Ranks(os.environ) as ranks:
        if ranks.rank == 0:
            _learn(ranks, games, out, options)
        elif not follow(ranks):
            raise click.exceptions.Exit(1)


def _learn(ranks: "Ranks", games: tuple[Path, ...], out: Path | None, options: dict[str, Any]) -> None:
    from ..evaluate.network import find_device
    from ..lock import only_one_in
    from ..paths import data_dir
    from ..training.learner import LossNotFinite
    from ..training.supervised import Limit
    from ..training.supervised import learn as learn_from

    config, start = _network_of(options["config"], options["start"])
    out = out or data_dir() / "runs" / f"learn-{config}"
    device = ranks.device(find_device(options["device"]))
    threads = _set_threads(options["threads"], ranks)
    display, limit = _Display(), Limit(options["minutes"])
    settings = _settings(games, options, config, start, out, device)
    out.mkdir(parents=True, exist_ok=True)
    try:
        with only_one_in(out), display:
            end_on_signals(limit)
            click.echo(f"learning in {out}")
            is_done = learn_from(
                settings, out, display, device=device, loader_threads=threads, limit=limit, ranks=ranks
            )
    except (LossNotFinite, RuntimeError, MemoryError) as error:  # the second of torch: no memory, or a lost process
        raise click.ClickException(reason(error)) from error
    if limit.stopped and not is_done:
        click.echo(f"stopped; the same command goes on from {out}")
        raise KeyboardInterrupt
    if is_done:
        click.echo(f"done: {out / f'{settings.config}.bin.gz'}")
    else:
        click.echo("the time is up; the same command goes on")


def _set_threads(threads: int | None, ranks: "Ranks") -> int:
    """Gives torch the threads; how many the loader gets."""
    import torch

    from ..engine import processor_threads
    from ..training.loader import loader_threads

    threads = ranks.threads(threads or processor_threads())
    torch.set_num_threads(threads)
    return loader_threads(threads)


def _network_of(config: str | None, start: str | None) -> tuple[str, str | None]:
    """The network's name, and the file to begin with."""
    from ..network.library import find_network, network_name

    if start is None:
        return config or DEFAULT_CONFIG, None
    if config is not None:
        raise click.UsageError("--from says already which network it is: leave --config out")
    path = find_network(start)
    return network_name(path), str(path)


def _settings(
    games: tuple[Path, ...],
    options: dict[str, Any],
    config: str,
    start: str | None,
    folder: Path,
    device: "torch.device",
) -> "SupervisedSettings":
    from ..training.learner import RATES, LearnerSettings, faster_precision
    from ..training.records import Filters
    from ..training.supervised import SupervisedSettings, recorded_precision

    precision = options["precision"]
    if precision == "auto":
        precision = recorded_precision(folder) or faster_precision(device)
    filters = Filters(
        board_sizes=options["sizes"] or None,
        rank=options["rank"],
        since=options["since"],
        until=options["until"],
        moves=options["least_moves"],
    )
    learner = LearnerSettings(
        batch_size=options["batch_size"],
        optimizer=options["optimizer"],
        learning_rate=options["learning_rate"] or RATES[options["optimizer"]],
        warm_up=options["warm_up"],
        total=options["samples"],
        drop_share=options["drop_share"],
        precision=precision,
    )
    return SupervisedSettings(
        sources=tuple(map(str, games)),
        config=config,
        start=start,
        filters=filters,
        learner=learner,
        seed=options["seed"],
        validate=options["validate"],
    )


class _Display:
    """A bar on a terminal, and a line for each measurement; elsewhere a line for each report."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(highlight=False)
        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.1f} %")
        hidden = not self.console.is_terminal
        self.bar = Progress(*columns, TimeRemainingColumn(), console=self.console, disable=hidden)
        self.task = self.bar.add_task("reading games", total=None)
        self.errors = 0

    def __enter__(self) -> "_Display":
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, soft_wrap=True)

    def damaged(self, message: str) -> None:
        self.errors += 1
        if self.errors <= SHOWN_ERRORS:
            self._say(f"left out: {message}")
        elif self.errors == SHOWN_ERRORS + 1:
            self._say("left out: more of them, see the notes of the shards")

    def gathering(self, done: int, portions: int, games: int) -> None:
        self.bar.update(self.task, completed=done, total=portions, description=f"reading games: {games:,}")

    def gathered(self, found: "Gathered", learned: int, validated: int) -> None:
        self._say(f"{counted(found.read, 'record')} read, {counted(learned, 'game')} to learn, {validated:,} held back")
        if found.skipped:
            reasons = ", ".join(f"{reason}: {times:,}" for reason, times in found.skipped.items())
            self._say(f"left out: {reasons}")

    def step(self, samples: int, total: int) -> None:
        self.bar.update(self.task, completed=samples, total=total, description=f"{samples:,} positions")

    def report(self, report: "Report") -> None:
        if report.validation or not self.console.is_terminal:
            self._say(report_line(report))


def report_line(report: "Report") -> str:
    """One line for a person."""
    parts = [f"{report.samples:,} positions, {report.rate:,.0f}/s"]
    for name, means in (("learning", report.learning), ("validation", report.validation)):
        shown = [f"{key} {means[key]:.3f}" for key in ("policy", "value", "score", "ownership") if key in means]
        if shown:
            parts.append(f"{name}: {', '.join(shown)}")
    if "top1" in report.validation:
        accuracies = report.validation
        parts.append(f"top 1 {100 * accuracies['top1']:.1f} %, top 5 {100 * accuracies['top5']:.1f} %")
        if "winner" in accuracies:
            parts.append(f"winner {100 * accuracies['winner']:.1f} %")
    return "; ".join(parts)
