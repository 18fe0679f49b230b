"""`gtp_engine learn`: trains a network on game records or on the outputs of a larger network."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...base.errors import UserError
from ...base.fields import Range, Text
from ...base.interrupts import end_on_signals
from ...base.settings import like, meanings, setting, settings_of
from ...engine.settings import NETWORK
from ...nets.library import find_network
from ...search.evaluate.choices import LARGEST_BOARD, network_on
from ...search.evaluate.devices import check_device
from ...training.progress import Limit, Stopped
from ...training.run_settings import OF_RECORDS, RATES, LearnSettings, MachineSettings, RecordSettings, parse_size
from .command import command
from .common_options import BOARD_SIZE, MINUTES, ClusterOptions
from .defaults import is_given, refuse_given
from .options import EXISTING_PATH, FOLDER
from .run_command import ProcessOptions, ReportOptions, carry_out, in_process_group, report_end, resumable, show_instead

if TYPE_CHECKING:
    from ...training.ddp import ProcessGroup
    from ...training.run_folder import RunFolder
    from ...training.run_settings import RunSettings

_OWN_FOLDER = "named after the network, in the user's data folder"
_RATES = "{adamw:g}; sgd: {sgd:g}".format(**RATES)


def _setting(section: Any, name: str, **more: Any) -> Any:
    """Returns the field of an option for a setting of a run; None if the option is not given."""
    default = getattr(OF_RECORDS if section is LearnSettings else section(), name)
    # The first sentence of the meaning, without what stands for no value.
    meaning = re.split(r"\. |; (?:empty|none|0)\b", meanings(section).get(name, ""))[0].rstrip(".")
    about = {"help": f"{meaning}." if meaning else None, "shown": str(default) if default else None}
    return like(section, name, default=None, **{key: value for key, value in {**about, **more}.items() if value})


def _board_weights(text: Any) -> dict[str, float]:
    """Returns weights by board size, of `9=1,19=2`."""
    weights = {}
    try:
        for part in str(text).split(","):
            size, _, weight = part.partition("=")
            width, height = parse_size(size)
            weights[f"{width}x{height}"] = float(Range(0, above=True).parse("number", weight or "1"))
    except UserError as error:
        raise UserError(f"{error}; expected sizes and weights, as in 9=1,19=2") from error
    return weights


@dataclass(frozen=True)
class LearnOptions:
    """What is learned, and how; None or empty if an option is not given.

    Those declared with `chooses` choose among the records, or among the positions that a teacher labels; those with
    `of_run` are of no use with --label-only, which trains no network.

    Attributes:
        games: Game records, and folders of them.
        out: The run's folder.
        start: Start from this network instead: a file or a name.
        board_sizes: Use only games on this board (repeatable).
        teacher: Learn the outputs of this larger network: a file or a name; auto: the default network.
        labels: Folder for the teacher's outputs; a run learns all that it contains.
        label_sizes: Board sizes of these positions and their weights, as in 9=1,19=2.
        label_only: Only fill the folder of --labels.
        samples: Positions to learn; a larger number prolongs a run.
        drop_share: Share of the run, at its end, over which the learning rate decays.
        minutes: Stop after N minutes, with a measurement; rerun to resume. Reading the records does not count.
        cluster: Have the teacher's outputs made on a Ray cluster: auto, HOST:PORT, or local (this machine only).
    """

    games: Any = setting((), accepts=EXISTING_PATH, argument=True, nargs=-1)
    out: Path | None = setting(None, accepts=FOLDER, heading="Run", of_run=True, shown=_OWN_FOLDER)
    network: Any = _setting(
        RecordSettings, "network", flags=["--config"], metavar="SIZE", of_run=True, together="start"
    )
    start: Any = _setting(RecordSettings, "start", accepts=NETWORK, flags=["--from"], of_run=True, together="start")
    board_sizes: Any = _setting(
        RecordSettings,
        "board_sizes",
        accepts=BOARD_SIZE,
        flags=["--board-size"],
        multiple=True,
        heading="Records",
        chooses=True,
    )
    rank: Any = _setting(RecordSettings, "rank", metavar="RANK", chooses=True)
    since: Any = _setting(RecordSettings, "since", metavar="DATE", chooses=True)
    until: Any = _setting(RecordSettings, "until", metavar="DATE", chooses=True)
    least_moves: Any = _setting(RecordSettings, "least_moves", chooses=True)
    teacher: Any = _setting(RecordSettings, "teacher", accepts=NETWORK, heading="Teacher")
    labels: Any = _setting(RecordSettings, "labels", accepts=FOLDER, shown="in the run's folder")
    positions: Any = _setting(RecordSettings, "positions", chooses=True)
    label_sizes: Any = _setting(
        RecordSettings,
        "label_sizes",
        accepts=Text(_board_weights),
        flags=["--board-sizes"],
        metavar="SIZE=WEIGHT,...",
        shown="7 to 19",
        chooses=True,
    )
    label_only: bool = setting(False, is_flag=True)
    samples: Any = _setting(LearnSettings, "samples", shown="each once", heading="Training", of_run=True)
    batch_size: Any = _setting(LearnSettings, "batch_size", of_run=True)
    optimizer: Any = _setting(LearnSettings, "optimizer", of_run=True)
    learning_rate: Any = _setting(
        LearnSettings, "learning_rate", accepts=Range(0, above=True), shown=_RATES, of_run=True
    )
    warm_up: Any = _setting(LearnSettings, "warm_up", of_run=True)
    drop_share: Any = _setting(LearnSettings, "drop_share", of_run=True)
    seed: Any = _setting(RecordSettings, "seed")
    validate: Any = _setting(RecordSettings, "validate", of_run=True)
    minutes: float | None = setting(None, accepts=MINUTES, metavar="N")
    threads: Any = _setting(MachineSettings, "threads", shown="all", heading="Machine")
    device: Any = _setting(MachineSettings, "device")
    precision: Any = _setting(LearnSettings, "precision", of_run=True)
    cluster: str | None = like(ClusterOptions, "cluster")

    def given(self) -> dict[str, Any]:
        """Returns the settings that are given, by name; paths are absolute, so that the run resumes from any folder.

        Raises UserError if the teacher is not found.
        """
        own = ("out", "start", "label_only", "minutes", "cluster")
        given = {name: value for name, value in vars(self).items() if value not in (None, ()) and name not in own}
        if "games" in given:
            given["games"] = [str(path.absolute()) for path in given["games"]]
        if "board_sizes" in given:
            given["board_sizes"] = [f"{width}x{height}" for width, height in given["board_sizes"]]
        if "teacher" in given:
            teacher = network_on(given["teacher"], LARGEST_BOARD, LARGEST_BOARD)
            given["teacher"] = str(find_network(teacher).absolute())
        if "labels" in given:
            given["labels"] = str(given["labels"].absolute())
        return given


def _declared(word: str) -> list[str]:
    """Returns the names of the options that are declared with a word."""
    return [name for name, item in settings_of(LearnOptions).items() if item.metadata.get(word)]


@command(
    common=("out", "config", "from", "minutes"),
    exclusive=(("start", "network"),),
    groups={"options": LearnOptions, "processes": ProcessOptions, "report": ReportOptions},
)
def learn(options: LearnOptions, processes: ProcessOptions, report: ReportOptions) -> None:
    """Train a network on game records: SGF files, folders of them, zip archives, .sgfs (one game per line).

    The network learns to predict the moves, the winner, the score and the ownership of the points. With --teacher it
    learns the outputs of a larger network instead, for positions from the records and variations of them, by default on
    boards from 7x7 to 19x19. One game in 20 is held back for validation. The network is in the folder networks of the
    run and can be used after a few minutes already. After any interruption, run the same command again to resume.

    \b
    Examples:
      gtp_engine learn games.zip
      gtp_engine learn kgs/ pro.zip --out pro --config b10c128 --rank 4d --since 2000 --minutes 60
      gtp_engine learn games.zip --teacher auto --labels labels --config b6c96
      gtp_engine learn my-games/ --from b6c64-19x19 --learning-rate 0.0005
      gtp_engine learn --out pro --samples 5000000      prolongs a run
      gtp_engine learn --out pro --report pro.html      the progress so far
      gtp_engine gtp --network pro/networks/b10c128.bin.gz
    """
    from ...training.new_run import default_folder, settings_from_options
    from ...training.run_folder import RunFolder

    given, start = options.given(), options.start
    report.check()
    if options.label_only:
        of_training = [*_declared("of_run"), "processes", "machine", "file", "compare", "show_samples"]
        refuse_given(of_training, "--label-only trains no network: omit {}")
        if not given.keys() >= {"teacher", "labels"}:
            raise click.UsageError("--label-only needs --teacher and --labels")
    if "labels" in given and "games" in given and "teacher" not in given:
        if is_given("labels"):
            raise click.UsageError("without --teacher only the --labels are learned: omit the games")
        del given["labels"]  # the user's default, for runs with a teacher
    settings = settings_from_options(given)
    folder = RunFolder(options.out or default_folder(settings, start))
    if "teacher" not in given:
        records = folder.settings().records if folder.state_file.exists() else settings.records
        if records.labels and not records.teacher:
            refuse_given(_declared("chooses"), "without --teacher all the --labels are learned: omit {}")
        if not records.teacher:
            refuse_given(["cluster"], "a cluster only labels positions with a --teacher: omit {}")
    if show_instead(folder, report):
        return
    if options.label_only:
        _label(settings, options)
    else:
        typed = {name: value for name, value in given.items() if is_given(name)}
        new = settings_from_options(typed)
        if folder.state_file.exists() or (folder.exists and not new.records.has_source):
            # The run resumes, and the user's defaults are for new runs.
            settings, start = new, start if is_given("start") else None
        in_process_group(partial(_learn, settings, typed, folder, start, options), processes)


def _label(settings: "RunSettings", options: LearnOptions) -> None:
    """Fills the folder of labels, without training a network."""
    from ...base.cluster import cluster_at
    from ...engine.compile_ahead import compile_ahead
    from ...training.data.compile_samples import compile_samples
    from ...training.distillation.labels import fill_labels
    from .run_display import RunDisplay

    folder, done, limit = Path(settings.records.labels), None, Limit(options.minutes)
    check_device(settings.machine.device)
    compile_ahead()
    compile_samples()
    with cluster_at(options.cluster) as pool, RunDisplay() as display:
        end_on_signals(limit)
        with resumable("the finished labels are kept"), suppress(Stopped):
            fill_labels(settings, folder, display, limit, pool)
            done = folder
    report_end(done, limit)


def _learn(
    settings: "RunSettings",
    typed: dict[str, Any],
    folder: "RunFolder",
    start: str | None,
    options: LearnOptions,
    group: "ProcessGroup",
) -> None:
    """Trains a network, or resumes training; only the command line may change the settings of a run that exists."""
    from ...base.cluster import cluster_at
    from ...training.new_run import begin_records, starting_network
    from ...training.record_run import RecordRun

    folder.check_place()
    if not (folder.exists or settings.records.has_source):
        raise click.UsageError("give game records, a --teacher, or a folder of --labels to learn from")
    network = starting_network(folder, start or "")
    if network:
        typed, settings = typed | {"start": str(network.absolute())}, settings.starting_from(network)
    limit = Limit(options.minutes)
    with cluster_at(options.cluster) as pool:
        run = partial(RecordRun, folder, limit=limit, group=group, pool=pool)
        carry_out(folder, limit, lambda: begin_records(folder, settings, typed), run)
