"""`gtp_engine train`: trains a network on its own games."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.settings import like, setting
from ...engine.settings import NETWORK
from ...training.presets import DEFAULT_PRESET, NAMES
from ...training.progress import Limit
from .command import command
from .common_options import MINUTES, ClusterOptions
from .defaults import is_given
from .options import EXISTING_FILE, FOLDER
from .run_command import ProcessOptions, ReportOptions, carry_out, in_process_group, show_instead

if TYPE_CHECKING:
    from ...training.ddp import ProcessGroup
    from ...training.run_folder import RunFolder
    from ...training.run_settings import RunSettings


@dataclass(frozen=True)
class TrainOptions:
    """The run; None if an option is not given.

    Attributes:
        run: The run's folder.
        preset: Settings of a new run.
        settings_file: Settings of a new run: a TOML file instead of a preset.
        start: Start a new run from this network: a file or a name.
        minutes: Stop after N minutes, with a measurement.
    """

    run: Path = setting(None, accepts=FOLDER, argument=True)
    preset: str | None = setting(None, accepts=NAMES, shown=DEFAULT_PRESET, together="settings")
    settings_file: Path | None = setting(None, accepts=EXISTING_FILE, flags=["--settings"], together="settings")
    start: str | None = setting(None, accepts=NETWORK, flags=["--from"])
    minutes: float | None = setting(None, accepts=MINUTES, metavar="N")
    cluster: str | None = like(ClusterOptions, "cluster")


@command(
    common=("preset", "minutes", "from", "report"),
    exclusive=(("preset", "settings_file"),),
    groups={"options": TrainOptions, "processes": ProcessOptions, "report": ReportOptions},
)
def train(options: TrainOptions, processes: ProcessOptions, report: ReportOptions) -> None:
    """Train a network on its own games, in the folder RUN.

    Each cycle plays games, trains on the most recent ones and saves a network. The folder contains everything: the
    networks, the games, a log, and settings.toml, which explains each setting. Ctrl-C stops the run; after any
    interruption, run the same command again to resume. A stopped run is measured, which takes some seconds; a second
    Ctrl-C skips that.

    \b
    Examples:
      gtp_engine train demo --preset demo       the loop in two to three minutes
      gtp_engine train run                      9x9 from random weights
      gtp_engine train run --minutes 30         the next half hour
      gtp_engine train run --cluster auto       plays on a Ray cluster
      gtp_engine train run --report curves.html  the progress so far
      gtp_engine train run --report both.html --compare other
      gtp_engine train run --show-samples 3     positions with their targets
      gtp_engine train other --preset mini      searches as AlphaGo Zero did
      gtp_engine gtp --network run/networks/0030.bin.gz
      gtp_engine train run --processes 4        trains on four GPUs
    """
    from ...training.new_run import given_settings
    from ...training.run_folder import RunFolder

    folder, preset, start = RunFolder(options.run), options.preset, options.start
    report.check()
    if show_instead(folder, report):
        return
    if folder.exists:  # the user's defaults are for new runs
        preset, start = (value if is_given(name) else None for name, value in (("preset", preset), ("start", start)))
    settings = given_settings(preset, options.settings_file)
    in_process_group(partial(_train, folder, settings, start, options), processes)


def _train(
    folder: "RunFolder", settings: "RunSettings | None", start: str | None, options: TrainOptions, group: "ProcessGroup"
) -> None:
    """Runs until all cycles are done or the time limit is reached."""
    from ...base.cluster import cluster_at
    from ...training.new_run import begin_self_play, starting_network
    from ...training.selfplay_run import SelfPlayRun

    limit = Limit(options.minutes)
    network = starting_network(folder, start or (settings.begin.start if settings else ""))
    with cluster_at(options.cluster) as pool:
        run = partial(SelfPlayRun, folder, limit=limit, group=group, pool=pool)
        carry_out(folder, limit, lambda: begin_self_play(folder, settings, network), run)
