"""The engine's settings, search parameters and networks that options name."""

import functools
from typing import TYPE_CHECKING, Any

from ..evaluate import choices
from .options import SearchOptions

if TYPE_CHECKING:
    from ..play.settings import EngineSettings
    from ..search.parameters import SearchParameters


def engine_settings(options: SearchOptions, **others: Any) -> "EngineSettings":
    """Returns the engine's settings.

    Args:
        options: The options as typed.
        **others: Further fields of EngineSettings.

    Raises:
        UserError: A search parameter is unknown, or the network is not found; the engine's start would report that
            too, but only after a while.
    """
    from ..play.settings import EngineSettings
    from ..search.parameters import split_setting

    given = {name: value for name, value in vars(options).items() if value is not None and name != "settings"}
    given["network"] = network_file(options.network)
    return EngineSettings(**given, parameters=dict(map(split_setting, options.settings)), **others)


def search_parameters(network: str, settings: tuple[str, ...]) -> "SearchParameters | None":
    """Returns the network's default parameters with the settings applied; None without settings.

    Raises:
        UserError: A setting is unknown or has an invalid value.
    """
    from ..search.parameters import default_parameters, parse_setting

    return functools.reduce(parse_setting, settings, default_parameters(network)) if settings else None


def network_file(network: str) -> str:
    """Returns the path of a network, given by its path or its name; AUTO and evaluators without a file are unchanged.

    Raises:
        UserError: The network is not found; the message lists the folders searched.
    """
    from ..network.library import find_network

    return network if network in (choices.AUTO, *choices.WITHOUT_NETWORK) else str(find_network(network))
