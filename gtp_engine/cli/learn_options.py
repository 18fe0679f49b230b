"""The options of `gtp_engine learn`. Most are settings of a run, and have their names (`training.settings`)."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ..evaluate import choices
from .command import options
from .name_types import NetworkName
from .option_types import BoardSize, BoardWeights, Number, WholeNumber

_FOLDER = click.Path(file_okay=False, path_type=Path)
_OPTIONS = (
    click.argument("games", nargs=-1, type=click.Path(exists=True, path_type=Path)),
    "Run",
    click.option(
        "--out",
        type=_FOLDER,
        show_default="named after the network, in the user's data folder",
        help="The run's folder.",
    ),
    click.option("--config", "network", metavar="SIZE", show_default="b6c96", help="The network: blocks and channels."),
    click.option("--from", "start", type=NetworkName(), help="Start from this network instead: a file or a name."),
    "Records",
    click.option(
        "--board-size",
        "board_sizes",
        multiple=True,
        type=BoardSize(),
        help="Use only games on this board (repeatable).",
    ),
    click.option("--rank", metavar="RANK", help="Use only games of players of at least this rank, such as 4d or 1p."),
    click.option(
        "--since", metavar="DATE", help="Use only games from this day or year on, such as 2000 or 2015-03-31."
    ),
    click.option("--until", metavar="DATE", help="Use only games up to this day or year."),
    click.option(
        "--least-moves",
        type=WholeNumber(1),
        metavar="N",
        show_default="20",
        help="Use only games of at least N moves.",
    ),
    "Teacher",
    click.option("--teacher", type=NetworkName(), help="Learn the outputs of this larger network: a file or a name."),
    click.option(
        "--labels",
        type=_FOLDER,
        show_default="in the run's folder",
        help="Folder for the teacher's outputs; a run learns all that it contains.",
    ),
    click.option(
        "--positions",
        type=WholeNumber(1),
        show_default="100000",
        help="Approximate number of positions for the teacher to label.",
    ),
    click.option(
        "--board-sizes",
        "label_sizes",
        type=BoardWeights(),
        show_default="7 to 19",
        help="Board sizes of these positions and their weights, as in 9=1,19=2.",
    ),
    click.option(
        "--label-only", is_flag=True, help="Only fill the folder of --labels; several programs may share the work."
    ),
    "Training",
    click.option(
        "--samples",
        type=WholeNumber(1),
        show_default="each once",
        help="Positions to learn; a larger number prolongs a run.",
    ),
    click.option("--batch-size", type=WholeNumber(2), show_default="256", help="Positions per step."),
    click.option("--optimizer", type=click.Choice(("adamw", "sgd")), show_default="adamw", help="Optimizer."),
    click.option(
        "--learning-rate", type=Number(0, min_open=True), show_default="0.002; sgd: 0.05", help="Peak learning rate."
    ),
    click.option(
        "--warm-up",
        type=WholeNumber(0),
        show_default="50000",
        help="Positions over which the learning rate rises at the start.",
    ),
    click.option(
        "--drop-share",
        type=Number(0, 1),
        show_default="0.5",
        help="Share of the run, at its end, over which the learning rate decays.",
    ),
    click.option(
        "--seed", type=WholeNumber(0), show_default="1", help="Seed of the weights and of the order of positions."
    ),
    click.option("--validate", type=WholeNumber(1), show_default="256000", help="Positions between two validations."),
    click.option(
        "--minutes",
        type=Number(0, min_open=True),
        metavar="N",
        help="Stop after N minutes, with a measurement; rerun to resume. Reading the records does not count.",
    ),
    "Machine",
    click.option("--threads", type=WholeNumber(1), show_default="all", help="CPU threads."),
    click.option(
        "--device",
        type=click.Choice((choices.AUTO, *choices.DEVICES)),
        show_default="auto",
        help="Device for the networks.",
    ),
    click.option(
        "--precision",
        type=click.Choice(("auto", "float32", "bfloat16")),
        show_default="auto, the faster one",
        help="Precision of the training.",
    ),
)


def learn_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options to a command."""
    return options(*_OPTIONS)(function)


def given_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings that the command line names, by their names; UserError for an unknown teacher.

    Paths are absolute, so that the run resumes from any folder.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if "games" in given:
        given["games"] = [str(path.absolute()) for path in given["games"]]
    if "board_sizes" in given:
        given["board_sizes"] = [f"{width}x{height}" for width, height in given["board_sizes"]]
    if "teacher" in given:
        from ..network.library import find_network

        given["teacher"] = str(find_network(given["teacher"]).absolute())
    if "labels" in given:
        given["labels"] = str(given["labels"].absolute())
    return given
