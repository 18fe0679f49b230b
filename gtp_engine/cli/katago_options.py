"""The options of KataGo's own command line, with which KaTrain starts what it takes for KataGo."""

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..base.errors import UserError
from ..base.fields import Range, parse_number, parse_word
from ..base.log import NOTICE
from .command import is_given, options
from .name_types import NetworkName
from .options import SearchOptions

if TYPE_CHECKING:
    from ..analysis.query import Defaults

logger = logging.getLogger(__name__)

_OPTIONS = (
    "KataGo's options",
    click.option("-model", "--model", type=NetworkName(), metavar="FILE", help="KataGo's name of --network."),
    click.option(
        "-human-model",
        "--human-model",
        type=NetworkName(),
        metavar="FILE",
        help="A second network, which imitates humans: for humanPolicy in answers to queries with a humanSLProfile.",
    ),
    click.option("-config", "--config", metavar="FILE", help="Accepted for KaTrain; KataGo's settings are not read."),
    click.option(
        "-analysis-threads",
        "--analysis-threads",
        metavar="N",
        help="Accepted for KaTrain; positions are searched together on all --threads.",
    ),
    click.option(
        "-override-config",
        "--override-config",
        "overrides",
        multiple=True,
        metavar="NAME=VALUE,...",
        help="Set KataGo's parameters; those without a counterpart are ignored (repeatable).",
    ),
)


@dataclass(frozen=True)
class KataGoOptions:
    """The options as typed.

    Attributes:
        model: The network; None as well if --network counts more.
        overrides: Lists of NAME=VALUE with commas between them.
    """

    model: str | None
    human_model: str | None
    config: str | None
    analysis_threads: str | None
    overrides: tuple[str, ...]

    def apply_to(self, search: SearchOptions) -> SearchOptions:
        """Returns the search options with the model and the parameters set; logs what has no effect.

        Raises:
            UserError: A value is invalid.
        """
        from ..search.parameters import find_parameter

        if self.config:
            logger.log(NOTICE, f"KataGo's configuration {self.config} is not read: use --settings and -override-config")
        if self.analysis_threads:
            logger.log(NOTICE, f"-analysis-threads {self.analysis_threads} has no effect: use --threads")
        changes: dict[str, Any] = {} if self.model is None else {"network": self.model}
        settings, ignored = search.settings, []
        for name, value in self._values():
            if name == "maxVisits":
                changes["visits"] = int(parse_number(name, value, Range(1, whole=True)))
            elif name == "maxTime":
                changes["seconds"] = parse_number(name, value, Range(0, above=True, noun="number of seconds"))
            elif name not in _OF_DEFAULTS:
                try:
                    settings += (f"{find_parameter(name)}={value}",)
                except UserError:
                    ignored.append(name)
        if ignored:
            logger.log(NOTICE, f"KataGo's parameters without a counterpart here are ignored: {', '.join(ignored)}")
        return replace(search, settings=settings, **changes)

    def adjust(self, defaults: "Defaults") -> "Defaults":
        """Returns the defaults of queries with the parameters of the analysis set."""
        from ..analysis.query import PERSPECTIVES

        for name, value in self._values():
            if name == "wideRootNoise":
                defaults = replace(defaults, wide_root_noise=parse_number(name, value, Range(0, 5)))
            elif name == "reportAnalysisWinratesAs":
                defaults = replace(defaults, perspective=PERSPECTIVES[parse_word(name, value.upper(), PERSPECTIVES)])
        return defaults

    def _values(self) -> list[tuple[str, str]]:
        pairs = (item.partition("=") for text in self.overrides for item in text.split(","))
        return [(name.strip(), value.strip()) for name, _, value in pairs if name.strip()]


_OF_DEFAULTS = ("wideRootNoise", "reportAnalysisWinratesAs")  # they hold for queries, not for the search


def katago_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds KataGo's options; the command gets one argument `katago`."""

    @functools.wraps(function)
    def wrapper(*args: Any, **given: Any) -> Any:
        given["model"] = _model(given["model"])
        katago = KataGoOptions(**{field.name: given.pop(field.name) for field in fields(KataGoOptions)})
        return function(*args, katago=katago, **given)

    return options(*_OPTIONS)(wrapper)


def _model(model: str | None) -> str | None:
    """Returns the model; None if --network counts more, as a model of the user's files does not replace a typed one."""
    context = click.get_current_context()
    above_files = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    counts_more = context.get_parameter_source("network") in above_files and not is_given(context, "model")
    return None if counts_more else model
