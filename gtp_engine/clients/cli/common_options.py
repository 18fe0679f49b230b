"""The options that several commands have: the game, the search, and search parameters."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from ...base.cluster_address import parse_address
from ...base.errors import UserError
from ...base.fields import Range, Text, parse_board_size
from ...base.settings import setting, settings_of
from ...engine.ranks import parse_rank
from ...engine.settings import DEFAULT_SECONDS, EngineSettings
from ...go.coords import MAX_SIZE, MIN_SIZE
from ...go.rules import LARGEST_KOMI, RULESETS, Rules, as_rules, default_komi
from ...nets.library import find_network
from ...search.evaluate import choices
from ...search.parameters import PROFILE, SearchParameters, split_setting
from .defaults import read_settings
from .options import EXISTING_FILE, Group

BOARD_SIZE = Text(lambda text: parse_board_size(text, MIN_SIZE, MAX_SIZE), "size")
KOMI = Range(-LARGEST_KOMI, LARGEST_KOMI, example="7.5, 7 or -3")
RULES = Text(as_rules, "rules", lambda: RULESETS)
SECONDS = Range(0, above=True, noun="number of seconds", example="2 or 0.5")
MINUTES = Range(0, above=True)
RANK = Text(parse_rank, "rank")  # unlike that of the settings it refuses an empty text
THREADS = Range(1, 256, whole=True)
_USUAL_KOMI = f"{default_komi(19, 19):g}; {default_komi(9, 9):g} on 9x9 and smaller"
_OF_ENGINE = ("network", "visits", "seconds", "strict", "seed", "threads", "device", "precision")


@dataclass(frozen=True)
class GameOptions:
    """The game to play.

    Attributes:
        board_size: N or WIDTHxHEIGHT, 2 to 25.
        komi: Points for White.
        rules: Ruleset: chinese, japanese, aga, ..., or its parts as KataGo's JSON.
    """

    board_size: tuple[int, int] = setting("19", accepts=BOARD_SIZE, heading="Game")
    komi: float | None = setting(None, accepts=KOMI, what="komi", metavar="KOMI", shown=_USUAL_KOMI)
    rules: Rules = setting("chinese", accepts=RULES, common=True)

    @property
    def width(self) -> int:
        """The width of the board."""
        return self.board_size[0]

    @property
    def height(self) -> int:
        """The height of the board."""
        return self.board_size[1]


@dataclass(frozen=True)
class ClusterOptions:
    """Where worker processes are.

    Attributes:
        cluster: Work on a Ray cluster: auto (the one this machine belongs to), HOST:PORT, or local (this machine only).
    """

    cluster: str | None = setting(None, accepts=Text(parse_address, "address"), metavar="ADDRESS", heading="Machine")


def parameters(**more: Any) -> Any:
    """Returns the field of an option for search parameters, which can be repeated; its value is a dictionary."""
    return setting((), accepts=Text(), multiple=True, metavar="NAME=VALUE", callback=_check_parameters, **more)


def _check_parameters(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Returns search parameters by name; a wrong one is a bad command line."""
    try:
        given = dict(map(split_setting, texts))
        SearchParameters().with_values(given)
    except UserError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return given


@dataclass(frozen=True)
class ParameterOptions:
    """Where the search parameters come from.

    Attributes:
        profile: Human style to imitate, for human-trained networks: rank_5k, rank_1d_3k, preaz_9d, proyear_1990, ...
        set: Set a search parameter (repeatable).
        settings: A TOML file with options by name, and search parameters in [search].
    """

    profile: str | None = setting(None, accepts=PROFILE, metavar="NAME", heading="Search")
    set: Any = parameters()
    settings: Any = setting(None, accepts=EXISTING_FILE, is_eager=True, callback=read_settings)


class SearchGroup(Group):
    """The options of an engine: its settings, and where its search parameters come from."""

    def parameters(self) -> list[click.Parameter]:
        """Returns the options in their order."""
        return [*super().parameters(), *Group(ParameterOptions).parameters()]

    def take(self, values: dict[str, Any]) -> EngineSettings:
        """Takes the values of the options out of those of the command, and returns the engine's settings.

        Raises UserError if a search parameter is unknown, or the network is not found; the engine's start would report
        that too, but only after a while.
        """
        profile, typed = values.pop("profile"), values.pop("set")
        parameters = values.pop("settings") | ({} if profile is None else {"profile": profile}) | typed
        values["network"] = network_file(values["network"])
        return replace(super().take(values), parameters=parameters)


def search_options(names: Sequence[str] = (), **shown: str) -> SearchGroup:
    """Returns the options of an engine that searches, with those of some further settings of it, such as the rank.

    `shown` are the limits without --visits and --seconds, for the help; by default the engine's.
    """
    changes: dict[str, dict[str, Any]] = {
        "network": {"heading": "Search"},
        "rank": {"accepts": RANK},
        "seconds": {"accepts": SECONDS, "what": "time", "metavar": "SECONDS"},
        "delay": {"what": "time", "metavar": "SECONDS"},
        "threads": {"heading": "Machine", "accepts": THREADS},
        "ponder": {"heading": "Behaviour"},
    }
    for name, text in (shown or {"seconds": f"{DEFAULT_SECONDS:g}"}).items():
        changes[name] = {**changes.get(name, {}), "shown": text}
    order = settings_of(EngineSettings)
    return SearchGroup(EngineSettings, [name for name in order if name in (*_OF_ENGINE, *names)], changes=changes)


def network_file(network: str) -> str:
    """Returns the path of a network, by its path or its name; AUTO and evaluators without a file are unchanged.

    Raises UserError if it is not found; the message lists the folders searched.
    """
    return str(find_network(network)) if choices.names_file(network) else network
