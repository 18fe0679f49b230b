"""`gtp_engine experiment`: two settings of training are compared over several seeds."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...base.fields import Text
from ...base.interrupts import end_on_signals
from ...base.settings import like, setting
from ...base.system import available_cpus
from ...training.presets import NAMES
from ...training.progress import Limit, Stopped
from .command import command
from .common_options import MINUTES, ClusterOptions
from .options import FOLDER
from .run_command import carry_out, report_end, resumable

if TYPE_CHECKING:
    from ...arena.elo import Tally
    from ...base.pool import Pool
    from ...training.experiment import Experiment, Side

_SOURCE = Text(str, "settings", lambda: NAMES, True)


@dataclass(frozen=True)
class ExperimentOptions:
    """The two settings, and how thoroughly they are compared.

    Attributes:
        folder: The experiment's folder.
        a: The settings of A: a preset or a TOML file as for `train --settings`.
        b: The settings of B.
        seeds: Number of seeds; a larger number prolongs the experiment.
        games: Games of the match between the networks of each seed.
        minutes: Stop after N minutes; rerun to resume.
    """

    folder: Path = setting(None, accepts=FOLDER, argument=True)
    a: str = setting(None, accepts=_SOURCE, argument=True)
    b: str = setting(None, accepts=_SOURCE, argument=True)
    seeds: int = setting(3, 1, 1000)
    games: int = setting(200, 2)
    minutes: float | None = setting(None, accepts=MINUTES, metavar="N")
    cluster: str | None = like(ClusterOptions, "cluster")


@command(common=("seeds", "games", "minutes"), groups={"options": ExperimentOptions})
def experiment(options: ExperimentOptions) -> None:
    """Compare two settings of training, A and B, over several seeds, in a folder.

    For each seed A and B train from nothing, and their last networks play a match. Two runs of the same settings differ
    by much more than the interval of a match suggests, so the result is the mean over the seeds, with an interval that
    comes from how much they differ. The same settings twice show what chance alone does. Settings that leave the
    precision to the program train and play in float32, and the seeds replace theirs. Ctrl-C stops the experiment and
    keeps what is finished; the same command resumes it.

    \b
    Examples:
      gtp_engine experiment ownership trial examples/no_ownership.toml --seeds 5
      gtp_engine experiment chance trial trial --seeds 6
      gtp_engine train ownership/seed-1/a --report curves.html --compare ownership/seed-1/b
    """
    from ...base.cluster import cluster_at
    from ...training.experiment import Experiment, side_of, summary

    compared = Experiment(options.folder, (side_of("A", options.a), side_of("B", options.b)))
    limit = Limit(options.minutes)
    tallies: dict[int, Tally] = {}
    try:
        with cluster_at(options.cluster) as pool:
            for seed in range(1, options.seeds + 1):
                is_trained = all(_train(compared, side, seed, limit, pool) for side in compared.sides)
                tally = _play(compared, seed, options.games, limit, pool) if is_trained else None
                if tally is None:
                    return
                tallies[seed] = tally
    finally:
        if tallies:
            click.echo("\n".join(summary(tallies)))


def _train(compared: "Experiment", side: "Side", seed: int, limit: Limit, pool: "Pool | None") -> bool:
    """Trains the network of a side with a seed, unless it is there; returns whether it is there now."""
    from ...training.new_run import begin_self_play
    from ...training.selfplay_run import SelfPlayRun

    if compared.is_done(side, seed):
        return True
    folder, part = compared.run(side, seed), Limit(limit.minutes_left)
    about = f"seed {seed}, {side.name}: "
    click.echo(f"{about}{side.source}, in {folder.path}")
    run = partial(SelfPlayRun, folder, limit=part, pool=pool)
    return carry_out(folder, part, lambda: begin_self_play(folder, side.of_seed(seed)), run, about)


def _play(compared: "Experiment", seed: int, games: int, limit: Limit, pool: "Pool | None") -> "Tally | None":
    """Plays the match of a seed, or what is missing of it; None if the time was over before."""
    from ...engine.compile_ahead import compile_ahead
    from .run_display import RunDisplay

    compile_ahead()
    with RunDisplay(f"seed {seed}: ") as display, resumable("the finished games are kept"):
        end_on_signals(limit)
        show = partial(display.progress, "match of A against B", total=games)
        try:
            return compared.play_match(seed, games, show, limit, available_cpus(), pool)
        except Stopped:
            report_end(None, limit)
            return None
