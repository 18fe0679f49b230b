"""The options of KataGo's own command line, for GUIs that start what they take for KataGo."""

import logging
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace

from ...base.fields import Text
from ...base.log import NOTICE
from ...base.settings import setting
from ...engine.settings import NETWORK, EngineSettings
from .common_options import network_file

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class KataGoOptions:
    """The options of KataGo's own command line that its commands have in common.

    Attributes:
        model: KataGo's name of --network.
        config: Accepted for GUIs; KataGo's settings are not read.
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
    config: str | None = setting(None, accepts=Text(), flags=["-config", "--config"], metavar="FILE")
    overrides: tuple[str, ...] = setting(
        (), accepts=Text(), flags=["-override-config", "--override-config"], multiple=True, metavar="NAME=VALUE,..."
    )

    @property
    def values(self) -> dict[str, str]:
        """The parameters that are set, by KataGo's names."""
        pairs = (item.partition("=") for text in self.overrides for item in text.split(","))
        return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}

    def apply_to(self, search: EngineSettings, values: Mapping[str, str], known: Container[str]) -> EngineSettings:
        """Returns settings with the model and those of these parameters whose names are known; logs what is ignored.

        Raises:
            UserError: A value is invalid, or the model is not found.
        """
        if self.config:
            logger.log(NOTICE, f"KataGo's configuration {self.config} is not read: use --settings and -override-config")
        if self.model is not None:
            search = replace(search, network=network_file(self.model))
        for name, value in values.items():
            if name in known:
                search = search.with_parameter(name, value)
        if others := [name for name in values if name not in known]:
            logger.log(NOTICE, f"KataGo's parameters without a counterpart here are ignored: {', '.join(others)}")
        return search
