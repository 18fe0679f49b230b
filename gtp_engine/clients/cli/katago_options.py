"""The options of KataGo's own command line, with which KaTrain starts what it takes for KataGo."""

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...base.fields import Range, Text, parse_number, parse_word
from ...base.log import NOTICE
from ...base.settings import setting
from ...engine.settings import COUNT, NETWORK, EngineSettings
from ...search.parameters import KNOWN_NAMES
from .common_options import SECONDS, network_file

if TYPE_CHECKING:
    from ..analysis.query import Defaults

logger = logging.getLogger(__name__)

_LIMITS = {"maxVisits": ("visits", COUNT), "maxTime": ("seconds", SECONDS)}
_OF_QUERIES = ("wideRootNoise", "reportAnalysisWinratesAs")  # they hold for queries, not for the search


@dataclass(frozen=True)
class KataGoOptions:
    """KataGo's options.

    Attributes:
        model: KataGo's name of --network.
        human_model: A second network, which imitates humans: for humanPolicy in answers to queries with a
            humanSLProfile.
        config: Accepted for KaTrain; KataGo's settings are not read.
        analysis_threads: Accepted for KaTrain; positions are searched together on all --threads.
        overrides: Set KataGo's parameters; those without a counterpart are ignored (repeatable).
    """

    model: str | None = setting(
        None,
        accepts=NETWORK,
        flags=["-model", "--model"],
        metavar="FILE",
        together="network",
        heading="KataGo's options",
    )
    human_model: str | None = setting(None, accepts=NETWORK, flags=["-human-model", "--human-model"], metavar="FILE")
    config: str | None = setting(None, accepts=Text(), flags=["-config", "--config"], metavar="FILE")
    analysis_threads: str | None = setting(
        None, accepts=Text(), flags=["-analysis-threads", "--analysis-threads"], metavar="N"
    )
    overrides: tuple[str, ...] = setting(
        (),
        accepts=Text(),
        flags=["-override-config", "--override-config"],
        multiple=True,
        metavar="NAME=VALUE,...",
    )

    def apply_to(self, search: EngineSettings) -> EngineSettings:
        """Returns the engine's settings with the model and the parameters set; logs what has no effect.

        Raises:
            UserError: A value is invalid, or the model is not found.
        """
        if self.config:
            logger.log(NOTICE, f"KataGo's configuration {self.config} is not read: use --settings and -override-config")
        if self.analysis_threads:
            logger.log(NOTICE, f"-analysis-threads {self.analysis_threads} has no effect: use --threads")
        if self.model is not None:
            search = replace(search, network=network_file(self.model))
        ignored = []
        for name, value in self._values():
            if name in _LIMITS:
                limit, accepts = _LIMITS[name]
                change: dict[str, Any] = {limit: accepts.parse(name, value)}
                search = replace(search, **change)
            elif name in KNOWN_NAMES:
                search = search.with_parameter(name, value)
            elif name not in _OF_QUERIES:
                ignored.append(name)
        if ignored:
            logger.log(NOTICE, f"KataGo's parameters without a counterpart here are ignored: {', '.join(ignored)}")
        return search

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
