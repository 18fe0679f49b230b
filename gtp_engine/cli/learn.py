"""`gtp_engine learn`: trains a network on game records or on the outputs of a larger network."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..base.interrupts import end_on_signals
from .command import command, is_given
from .learn_options import given_settings, learn_options
from .run_command import RESUME, carry_out, in_process_group, report_end, report_options, write_report_of

if TYPE_CHECKING:
    from ..training.ddp import ProcessGroup
    from ..training.limit import Limit
    from ..training.run_folder import RunFolder
    from ..training.settings import RunSettings

# Options that choose among the records, or among the positions that a teacher labels.
_CHOICES = ("board_sizes", "rank", "since", "until", "least_moves", "positions", "label_sizes")
# Options of a run, which --label-only does not make.
_OF_RUNS = (
    *("out", "network", "start", "samples", "batch_size", "optimizer", "learning_rate", "warm_up", "drop_share"),
    *("validate", "precision", "report", "compare"),
)


@command(common=("out", "config", "from", "minutes"), exclusive=(("start", "network"),))
@learn_options
@report_options
@click.pass_context
def learn(
    context: click.Context,
    out: Path | None,
    start: str | None,
    label_only: bool,
    minutes: float | None,
    report: Path | None,
    compare: tuple[Path, ...],
    **options: Any,
) -> None:
    """Train a network on game records: SGF files, folders of them, zip archives, .sgfs (one game per line).

    The network learns to predict the moves, the winner, the score and the ownership of the points. With --teacher it
    learns the outputs of a larger network instead, for positions from the records and variations of them, by default on
    boards from 7x7 to 19x19. One game in 20 is held back for validation. The network is in the folder networks of the
    run and can be used after a few minutes already. After any interruption, run the same command again to resume.

    \b
    Examples:
      gtp_engine learn games.zip
      gtp_engine learn kgs/ pro.zip --out pro --config b10c128 --rank 4d --since 2000 --minutes 60
      gtp_engine learn games.zip --teacher kata1-b18c384nbt.bin.gz --labels labels --config b6c96
      gtp_engine learn my-games/ --from b6c64-19x19 --learning-rate 0.0005
      gtp_engine learn --out pro --samples 5000000      prolongs a run
      gtp_engine learn --out pro --report pro.html      the progress so far
      gtp_engine gtp --network pro/networks/b10c128.bin.gz
    """
    from ..training.limit import Limit
    from ..training.new_run import default_folder, settings_from_options
    from ..training.run_folder import RunFolder

    given = given_settings(options)
    if compare and not report:
        raise click.UsageError("--compare needs --report")
    if label_only:
        _refuse(context, _OF_RUNS, "--label-only trains no network")
        if not given.keys() >= {"teacher", "labels"}:
            raise click.UsageError("--label-only needs --teacher and --labels")
    if "labels" in given and "games" in given and "teacher" not in given:
        if is_given(context, "labels"):
            raise click.UsageError("without --teacher only the --labels are learned: omit the games")
        del given["labels"]  # the user's default, for runs with a teacher
    settings, limit = settings_from_options(given), Limit(minutes)
    folder = RunFolder(out or default_folder(settings, start))
    if "teacher" not in given:
        records = folder.settings().records if folder.state_file.exists() else settings.records
        if records.labels and not records.teacher:
            _refuse(context, _CHOICES, "without --teacher all the --labels are learned")
    if report:
        write_report_of(folder, report, compare)
    elif label_only:
        _label(settings, limit)
    else:
        typed = {name: value for name, value in given.items() if is_given(context, name)}
        new = settings_from_options(typed)
        if folder.state_file.exists() or (folder.exists and not new.records.has_source):
            # The run resumes, and the user's defaults are for new runs.
            settings, start = new, start if is_given(context, "start") else None
        in_process_group(partial(_learn, settings, typed, folder, start, limit))


def _refuse(context: click.Context, names: tuple[str, ...], reason: str) -> None:
    """Raises UsageError for the first of these options that is given."""
    for option in context.command.params:
        if option.name in names and is_given(context, option.name):
            raise click.UsageError(f"{reason}: omit {option.opts[0]}")


def _label(settings: "RunSettings", limit: "Limit") -> None:
    """Fills the folder of labels, without training a network."""
    from ..base.errors import error_text
    from ..training.distillation.labels import fill_labels
    from ..training.errors import RESOURCE_ERRORS
    from .run_display import RunDisplay

    folder = Path(settings.records.labels)
    with RunDisplay() as display:
        end_on_signals(limit)
        try:
            is_done = fill_labels(settings, folder, display, limit)
        except RESOURCE_ERRORS as error:
            raise click.ClickException(f"{error_text(error)}; the finished labels are kept: {RESUME}") from error
    report_end(folder if is_done else None, limit)


def _learn(
    settings: "RunSettings",
    typed: dict[str, Any],
    folder: "RunFolder",
    start: str | None,
    limit: "Limit",
    group: "ProcessGroup",
) -> None:
    """Trains a network, or resumes training; only the command line may change the settings of a run that exists."""
    from ..training.new_run import begin_records, starting_network
    from ..training.record_run import RecordRun

    folder.check_place()
    if not (folder.exists or settings.records.has_source):
        raise click.UsageError("give game records, a --teacher, or a folder of --labels to learn from")
    network = starting_network(folder, start or "")
    if network:
        typed, settings = typed | {"start": str(network.absolute())}, settings.starting_from(network)
    carry_out(
        folder,
        limit,
        lambda: begin_records(folder, settings, typed),
        lambda observer: RecordRun(folder, observer, limit=limit, group=group),
    )
