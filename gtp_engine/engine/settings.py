"""The settings of an engine: how it searches and behaves, and the limits of a move that follow from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..base.errors import UserError
from ..base.fields import Range, Text, invalid, unknown
from ..base.settings import check, setting, settings_of
from ..base.system import available_cpus
from ..nets.library import JUDGE, RANK_PLAY, FileOrName, file_or_name, find_network, list_networks, network_name
from ..search.evaluate.choices import (
    AUTO,
    DEVICES,
    LARGEST_BOARD,
    PRECISIONS,
    ROLLOUTS,
    names_file,
    network_on,
    too_large,
)
from ..search.evaluate.devices import check_device
from ..search.parameters import KNOWN_NAMES, PARAMETERS, SearchParameters, default_parameters, find_parameter
from ..search.request import Limits
from .ranks import Rank, RankPlay, as_rank, play_at

if TYPE_CHECKING:
    from .worker import SearchWorker

DEFAULT_SECONDS = 5.0
ANSWER_SECONDS = 2.0  # of a hint or an estimate of the score, for which a person waits: some 100 visits on 19x19
COUNT, SECONDS = Range(1, whole=True), Range(0)
LIMIT: dict[str, Any] = {"common": True, "together": "limits"}  # one of them replaces both of a place that counts less


def _networks() -> list[str]:
    return [AUTO, ROLLOUTS, *sorted({network_name(path) for path in list_networks()})]


NETWORK = Text(file_or_name, "name", _networks, is_path=True)
RANK = Text(as_rank, "rank")
_KATAGO_DOUBLING = "dynamicPlayoutDoublingAdvantageCapPerOppLead"


@dataclass(frozen=True)
class EngineSettings:
    """How an engine searches and behaves. Without visits, seconds and a clock a move takes 5 s.

    Attributes:
        network: A network's name or file; auto: your default or the bundled one for the board; none: random rollouts.
        rank: Play at a rank: 25k to 5d, such as 12k, or max.
        visits: Stop each search after N visits.
        seconds: Stop each search after this many seconds.
        delay: Answer no sooner than after this many seconds, or half of the clock's time for the move.
        strict: Fail if the board is too large for the network, instead of using rollouts.
        seed: Random seed; results are reproducible with limited visits and one thread.
        threads: CPU threads.
        device: Device for networks.
        precision: Numeric precision of networks.
        ponder: Think on the opponent's time.
        resign: Resign lost games, except at the rank 25k.
        resign_threshold: Win rate below which a position counts as hopeless.
        resign_moves: Number of hopeless positions in a row at which the engine resigns.
        parameters: Search parameters, by name, that differ from the network's defaults.
        analysis_wide_root_noise: The parameter wide_root_noise of an analysis (`Engine.analyze`), KataGo's
            analysisWideRootNoise; 0 for that of a move's search.
        handicap_doubling: In games with a handicap, the playout doubling advantage for each point by which one side
            leads at the beginning (`handicap_play`), with KataGo's networks; KataGo has 0.045, 0 is for none.

    Raises:
        UserError: The network is not found, the machine lacks the device, or another setting or a parameter is invalid.
    """

    network: FileOrName = setting(AUTO, accepts=NETWORK, common=True, together="network")
    rank: Rank | str | None = setting(None, accepts=RANK, common=True, is_live=True, shown="full strength")
    visits: int | None = setting(None, accepts=COUNT, katago="maxVisits", is_live=True, **LIMIT)
    seconds: float | None = setting(None, accepts=SECONDS, katago="maxTime", is_live=True, **LIMIT)
    delay: float = setting(0.0, accepts=SECONDS)
    strict: bool = setting(False)
    seed: int | None = setting(None, accepts=Range(0, whole=True))
    threads: int = setting(available_cpus, accepts=COUNT, common=True, shown="all")
    device: str = setting(AUTO, accepts=(AUTO, *DEVICES), common=True)
    precision: str = setting(AUTO, accepts=(AUTO, *PRECISIONS), common=True)
    ponder: bool = setting(False, katago="ponderingEnabled", is_live=True)
    resign: bool = setting(True, katago="allowResignation", is_live=True)
    resign_threshold: float = setting(0.05, 0, 1)
    resign_moves: int = setting(3, 1)
    parameters: Mapping[str, str | float | bool] = field(default_factory=dict, hash=False)
    analysis_wide_root_noise: float = setting(0.0, 0, 5, katago="analysisWideRootNoise", is_live=True)
    handicap_doubling: float = setting(0.0, 0, 0.5, katago=_KATAGO_DOUBLING, is_live=True)

    def __post_init__(self) -> None:
        check(self)
        check_device(self.device)
        if names_file(self.network):
            find_network(self.network)
        if not isinstance(self.parameters, Mapping):
            raise invalid("parameters", self.parameters, 'a value for each name, such as {"c_puct": 1.1}')
        profile = self.search_parameters(self.network).profile
        if profile and not names_file(self.network):
            raise UserError(f"the profile {profile} needs a human-trained --network, such as b18c384nbt-humanv0")

    def search_parameters(self, network: str) -> SearchParameters:
        """Returns the parameters that suit this network, with the changes of these settings.

        Raises:
            UserError: A parameter is unknown or its value invalid.
        """
        return default_parameters(network).with_values(self.parameters)

    def on_board(self, width: int, height: int) -> "EngineSettings":
        """Returns these settings with the evaluator for a board of this size."""
        return replace(self, network=self.network_on(width, height))

    def network_on(self, width: int, height: int, use: str = JUDGE) -> str:
        """Returns the name of the evaluator for a use on a board, as `choices.network_on` does.

        If the settings are strict and the board is too large for networks, AUTO stands for the network of the largest
        boards, so that such a board is refused as it is for a network that was chosen by name.
        """
        if self.strict:
            width, height = min(width, LARGEST_BOARD), min(height, LARGEST_BOARD)
        return network_on(self.network, width, height, use)

    def player_on(self, width: int, height: int) -> str:
        """Returns the name of the evaluator that plays on a board, at the rank of these settings if they have one."""
        return self.network_on(width, height, JUDGE if self.rank is None else RANK_PLAY)

    def check_board(self, width: int, height: int) -> None:
        """Raises UserError if the default network of a board is missing, or a board too large for it not permitted."""
        network = self.network_on(width, height)
        if self.strict and max(width, height) > LARGEST_BOARD and names_file(network):
            reason = too_large("the network", LARGEST_BOARD)
            remedy = "choose a smaller board, or start without --strict"
            raise UserError(f"unacceptable size {width}x{height}: {reason}; {remedy}")

    def new_worker(self) -> "SearchWorker":
        """Returns a worker for these settings.

        It needs a network's name before it is used, and AUTO is not one: make it from settings for a board
        (`on_board`), or call its `change_network` first, as the engine does.
        """
        from .worker import SearchWorker  # imports numba

        return SearchWorker(self)

    def limits(self, default_seconds: float = DEFAULT_SECONDS) -> Limits:
        """Returns the limits of a search at full strength: those of the settings, or this time if they have none."""
        seconds = default_seconds if self.visits is None and self.seconds is None else self.seconds
        return Limits(self.visits, seconds)

    def move_limits(self, budget: float | None = None) -> Limits:
        """Returns the limits of one move: those of the settings and the clock's.

        At a rank `decision` sets the limits, so none are needed here.

        Args:
            budget: The seconds that the clock allows; None without a clock.
        """
        if budget == 0.0:
            return Limits(visits=1, seconds=0.0)
        if budget is None and self.rank is None:
            return self.limits()
        seconds = [limit for limit in (self.seconds, budget) if limit is not None]
        return Limits(self.visits, min(seconds, default=None))

    def at_rank(self, width: int, height: int) -> RankPlay | None:
        """Returns how the rank is played on a board; None for full strength."""
        if not isinstance(self.rank, Rank):
            return None
        return play_at(self.rank, self.player_on(width, height), width, height)

    # Settings that clients change by name: those declared with `is_live`, and the search parameters.

    @staticmethod
    def parameter_names() -> list[str]:
        """Returns the names of ours that `parameter` and `with_parameter` accept, search parameters among them."""
        limits = ["visits", "seconds", "rank"]
        return [*limits, *PARAMETERS, *(name for name in _LIVE if name not in limits)]

    def parameter(self, name: str, network: str) -> Any:
        """Returns a parameter by its name or KataGo's, for this network; None for a limit or a rank that is not set.

        Raises:
            UserError: The name is unknown.
        """
        own = _own_name(name)
        value = getattr(self, own) if own else getattr(self.search_parameters(network), find_parameter(name))
        return str(value) if isinstance(value, Rank) else value

    def with_parameter(self, name: str, value: str | float | bool) -> "EngineSettings":
        """Returns these settings with a parameter changed, by its name or KataGo's.

        Raises:
            UserError: The name is unknown or the value invalid.
        """
        own = _own_name(name)
        if own is None:
            return replace(self, parameters={**self.parameters, find_parameter(name): value})
        item = _LIVE[own]
        is_unset = item.default is None and str(value).strip().lower() in ("", "none")
        change: dict[str, Any] = {own: None if is_unset else item.metadata["accepts"].parse(name, value)}
        return replace(self, **change)


def as_settings(value: object) -> EngineSettings:
    """Returns the settings that a caller gives, the defaults for None; raises UserError for anything else."""
    if not isinstance(value, EngineSettings | None):
        raise invalid("settings", value, "EngineSettings, such as EngineSettings(visits=100)")
    return value or EngineSettings()


_LIVE = {name: item for name, item in settings_of(EngineSettings).items() if item.metadata.get("is_live")}
_KATAGO_NAMES = {item.metadata["katago"]: name for name, item in _LIVE.items() if "katago" in item.metadata}
LIVE_NAMES = (*_LIVE, *_KATAGO_NAMES, *KNOWN_NAMES)  # that `with_parameter` accepts: ours, and KataGo's


def _own_name(name: str) -> str | None:
    """Returns the name of a setting of the engine, given by ours or by KataGo's; None for a search parameter."""
    if name not in LIVE_NAMES:
        raise unknown("parameter", name, LIVE_NAMES, accepted=EngineSettings.parameter_names())
    return _KATAGO_NAMES.get(name, name if name in _LIVE else None)
