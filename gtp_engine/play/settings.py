"""The settings of an engine: how it searches and behaves, and the limits of a move that follow from them."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..base.fields import Range, invalid, parse_bool, parse_number, parse_word, unknown
from ..base.system import available_cpus
from ..evaluate.choices import AUTO, DEVICES, LARGEST_BOARD, PRECISIONS, WITHOUT_NETWORK, network_on, too_large
from ..network.library import find_network
from ..search.parameters import KNOWN_NAMES, SearchParameters, default_parameters, find_parameter, parameter_names
from ..search.request import Limits
from .ranks import Rank, as_rank

if TYPE_CHECKING:
    from .worker import SearchWorker

DEFAULT_SECONDS = 5.0
RANK = "rank"  # the name of the parameter
_NOISE = "analysis_wide_root_noise"
# Our names and KataGo's of numbers that clients change and that are settings of the engine, not of the search.
_OWN_NAMES = {
    "visits": "visits",
    "maxVisits": "visits",
    "seconds": "seconds",
    "maxTime": "seconds",
    _NOISE: _NOISE,
    "analysisWideRootNoise": _NOISE,
}
# The numbers among the settings, and those that may be None.
_RANGES = {
    "threads": Range(1, whole=True),
    "resign_threshold": Range(0, 1),
    "resign_moves": Range(1, whole=True),
    "seed": Range(0, whole=True),
    "visits": Range(1, whole=True),
    "seconds": Range(0),
    _NOISE: Range(0, 5),  # as in KataGo
}
_OPTIONAL = ("seed", "visits", "seconds")


@dataclass(frozen=True)
class EngineSettings:
    """How an engine searches and behaves.

    Attributes:
        network: The evaluator (`evaluate.factory`): a network's file or name, or "none" for rollouts; "auto" for the
            bundled network for the board's size, or rollouts if there is none.
        threads: The number of CPU threads.
        device: The device of a network (`evaluate.network`).
        precision: The precision of a network (`evaluate.network`).
        strict: Whether boards too large for the network are refused; otherwise rollouts play on them.
        seed: The seed of everything random. With it, fixed visits and one thread a game repeats exactly; None for
            a different one each time.
        visits: The maximum number of visits for a move; None for no limit. Without visits, seconds and a clock a move
            takes 5 s.
        seconds: The maximum time for a move; None for no limit.
        rank: The rank to play at, such as "12k" (`ranks`); None for full strength.
        ponder: Whether to search in the opponent's time.
        resign: Whether to resign a game when the win rate was below `resign_threshold` for `resign_moves` moves in a
            row.
        resign_threshold: The win rate below which a position counts as hopeless.
        resign_moves: The number of hopeless positions in a row at which the engine resigns.
        parameters: Search parameters, by name, that differ from the network's defaults.
        analysis_wide_root_noise: How much more evenly `Engine.analyze` looks at the root's moves than a move's search
            does, KataGo's analysisWideRootNoise (`SearchParameters.widened`).

    Raises:
        UserError: The network is not found, or another setting or a parameter is invalid.
    """

    network: str = AUTO
    threads: int = field(default_factory=available_cpus)
    device: str = AUTO
    precision: str = AUTO
    strict: bool = False
    seed: int | None = None
    visits: int | None = None
    seconds: float | None = None
    rank: Rank | str | None = None
    ponder: bool = False
    resign: bool = True
    resign_threshold: float = 0.05
    resign_moves: int = 3
    parameters: Mapping[str, str | float | bool] = field(default_factory=dict)
    analysis_wide_root_noise: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.network, str | os.PathLike):
            raise invalid("network", self.network, "a name or a file")
        object.__setattr__(self, "network", os.fspath(self.network))
        if self.network not in (AUTO, *WITHOUT_NETWORK):
            find_network(self.network)
        if not isinstance(self.parameters, Mapping):
            raise invalid("parameters", self.parameters, 'a value for each name, such as {"c_puct": 1.1}')
        for name, accepted in _RANGES.items():
            value = getattr(self, name)
            if value is not None or name not in _OPTIONAL:
                parse_number(name, value, accepted, from_text=False)
        for name in ("strict", "ponder", "resign"):
            parse_bool(name, getattr(self, name), from_text=False)
        parse_word("device", self.device, (AUTO, *DEVICES))
        parse_word("precision", self.precision, (AUTO, *PRECISIONS))
        object.__setattr__(self, "rank", as_rank(self.rank))
        profile = self.search_parameters(self.network).profile
        if profile and self.network in (AUTO, *WITHOUT_NETWORK):
            raise UserError(f"the profile {profile} needs a human-trained --network, such as b18c384nbt-humanv0")

    def search_parameters(self, network: str) -> SearchParameters:
        """Returns the parameters that suit this network, with the changes of these settings.

        Raises:
            UserError: A parameter is unknown or its value invalid.
        """
        parameters = default_parameters(network)
        for name, value in self.parameters.items():
            parameters = parameters.with_value(name, value)
        return parameters

    def on_board(self, width: int, height: int) -> "EngineSettings":
        """Returns these settings with the evaluator for a board of this size."""
        return replace(self, network=self.network_on(width, height))

    def network_on(self, width: int, height: int) -> str:
        """Returns the name of the evaluator to use on a board, as `choices.network_on` does.

        If the settings are strict and the board is too large for networks, AUTO is the network for the largest boards,
        so that the board is refused as one that is too large for a network with a name.
        """
        if self.strict:
            width, height = min(width, LARGEST_BOARD), min(height, LARGEST_BOARD)
        return network_on(self.network, width, height)

    def check_board(self, width: int, height: int) -> None:
        """Raises UserError if the settings are strict and the board is too large for networks."""
        is_large = max(width, height) > LARGEST_BOARD
        if self.strict and is_large and self.network_on(width, height) not in WITHOUT_NETWORK:
            reason = too_large("the network", LARGEST_BOARD)
            remedy = "choose a smaller board, or start without --strict"
            raise UserError(f"unacceptable size {width}x{height}: {reason}; {remedy}")

    def new_worker(self) -> "SearchWorker":
        """Returns a worker for these settings.

        It needs a network's name before it is used, and AUTO is not one: make it from settings for a board
        (`on_board`), or call its `change_network` first, as the engine does.
        """
        from .worker import SearchWorker  # imports numba

        machine = self.threads, self.seed, self.device, self.precision
        return SearchWorker(self.network, *machine, strict=self.strict)

    def limits(self, default_seconds: float = DEFAULT_SECONDS) -> Limits:
        """Returns the limits of a search at full strength: those of the settings, or this time if they have none."""
        seconds = default_seconds if self.visits is None and self.seconds is None else self.seconds
        return Limits(self.visits, seconds)

    def move_limits(self, budget: float | None = None) -> Limits:
        """Returns the limits of one move: those of the settings and the clock's.

        A rank has limits of its own (`decision`), so that it needs none here.

        Args:
            budget: The seconds that the clock allows; None without a clock.
        """
        if budget == 0.0:
            return Limits(visits=1, seconds=0.0)
        if budget is None and self.rank is None:
            return self.limits()
        seconds = [limit for limit in (self.seconds, budget) if limit is not None]
        return Limits(self.visits, min(seconds, default=None))

    # Settings that clients change by name: those of `_OWN_NAMES`, the rank and the search parameters.

    @staticmethod
    def parameter_names() -> list[str]:
        """Returns the names that `parameter` and `with_parameter` accept: limits, the rank and search parameters."""
        return ["visits", "seconds", RANK, *parameter_names(), _NOISE]

    def parameter(self, name: str, network: str) -> Any:
        """Returns a parameter by its name or KataGo's, for this network; None for a limit or a rank that is not set.

        Raises:
            UserError: The name is unknown.
        """
        _check_parameter(name)
        if name in _OWN_NAMES:
            return getattr(self, _OWN_NAMES[name])
        if name == RANK:
            return None if self.rank is None else str(self.rank)
        return getattr(self.search_parameters(network), find_parameter(name))

    def with_parameter(self, name: str, value: str | float | bool) -> "EngineSettings":
        """Returns these settings with a parameter changed, by its name or KataGo's.

        Raises:
            UserError: The name is unknown or the value invalid.
        """
        _check_parameter(name)
        if name in _OWN_NAMES:
            change: dict[str, Any] = {_OWN_NAMES[name]: _own_value(name, value)}
        elif name == RANK:
            change = {RANK: value}
        else:
            change = {"parameters": {**self.parameters, find_parameter(name): value}}
        return replace(self, **change)


def _check_parameter(name: str) -> None:
    """Raises UserError if a name is not one of `_OWN_NAMES`, that of the rank or that of a search parameter."""
    known = (*_OWN_NAMES, RANK, *KNOWN_NAMES)
    if name not in known:
        raise unknown("parameter", name, known, accepted=EngineSettings.parameter_names())


def _own_value(name: str, value: str | float | bool) -> int | float | None:
    """Returns a number from a client's text, in the range of the settings; None for a limit "none" or ""."""
    setting = _OWN_NAMES[name]
    if setting in _OPTIONAL and str(value).strip().lower() in ("", "none"):
        return None
    return parse_number(name, value, _RANGES[setting])
