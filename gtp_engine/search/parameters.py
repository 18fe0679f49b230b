"""Every number that steers the search, by one name in settings files, `--set` and `kata-set-param`."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..evaluate.metadata import profile_name


def _parameter(default: Any, katago: str | None = None, *, low: float | None = None, high: float | None = None) -> Any:
    """A field with KataGo's name for it, where it has one, and the accepted range."""
    return field(default=default, metadata={"katago": katago, "low": low, "high": high})


def _choice(default: str, *accepted: str) -> Any:
    return field(default=default, metadata={"katago": None, "accepted": accepted})


def _text(default: str, katago: str, check: Callable[[str], str]) -> Any:
    """A text that `check` brings into its one form, or refuses by ValueError."""
    return field(default=default, metadata={"katago": katago, "check": check})


@dataclass(frozen=True)
class SearchParameters:
    """How the tree is searched and the move chosen. The defaults suit rollouts; see `default_parameters`.

    selection: "puct" (AlphaZero, Silver et al. 2018: prior-weighted) or "uct" (Kocsis & Szepesvari 2006: UCB1).
    c_puct: weight of exploration in PUCT. c_puct_log, c_puct_base: it grows by c_puct_log log(1 + visits / c_puct_base)
        (AlphaZero's, with KataGo's numbers for networks). c_puct_spread: how far it follows the spread of the values
        found (KataGo).
    rave: with rollouts, the number of visits at which a move's own value weighs as much as RAVE's (Gelly & Silver
        2007); 0 for none.
    c_uct: weight of exploration in UCT; values lie in -1..1, so that sqrt(2) x 2 is UCB1's own.
    fpu_reduction: how far a move without visits is taken to be below its parent, times the square root of the prior
        mass that has been visited (Leela Zero's and KataGo's first-play urgency); root_fpu_reduction: at the root.
    fpu_visited_power: with it the parent's own evaluation counts where little of the prior mass has been visited.
    score_utility: weight of the score beside win and loss, 2/pi atan(score / (2 sqrt(area))) (KataGo, Wu 2019).
    dynamic_score_utility: weight of the score near the one that the root expects (`search.utility`).
    better_children: how far clearly worse children count for less in a node's value, 0 for plain means (`averaging`).
    noise_pruning: at which loss of utility children count for less that were visited beyond their priors, 0 for none.
    value_bias: share of what the search found wrong with evaluations after the same local moves that is corrected in
        others (`value_bias`), 0 for none.
    uncertainty: evaluations that a network expects to be wrong by less than this weigh more, others less; 0: all alike.
    virtual_loss: lost visits that a leaf counts for while its evaluation is under way.
    batch_size: leaves evaluated together at most; 0 takes the evaluator's own number.
    root_noise: share of Dirichlet noise in the root's priors (AlphaZero: 0.25 in self-play, 0 in play).
    dirichlet_alpha: total concentration, divided by the number of legal moves (AlphaZero's 0.03 x 361).
    root_policy_temperature: above 1 it levels the root's priors, so that more moves are tried (KataGo).
    forced_playouts: a visited move of prior p gets at least sqrt(forced_playouts p N) of a root's N visits, so that
        noise is looked into (KataGo, Wu 2019, section 3.2; 2 in self-play).
    gumbel_moves: with it the root halves so many moves by Gumbel's search where visits are limited, 0 for PUCT at the
        root too (`gumbel`); gumbel_noise: of the noise that draws them, 1 in self-play.
    temperature: randomness of the choice among visit counts, 0 for none; temperature_moves: for so many first moves of
        the game.
    choice: "visits" or "lcb", the highest lower confidence bound among well visited moves (Leela Zero 0.17, KataGo).
    lcb_stdevs: half the width of that interval, in standard errors.
    symmetry: by which of the board's eight symmetries a network looks at a position: "none", one at "random", or the
        "average" of all (eight evaluations).
    policy_optimism, root_policy_optimism: share of the optimistic policy in a network that has one, in the tree and at
        its root (KataGo).
    profile: of the people to imitate, for networks trained on their games (`evaluate.metadata`); "" for none.
    reuse_tree: whether a search goes on from what earlier ones found.
    tree_megabytes: where the tree stops growing. A visit takes 0.33 kB on 9x9 and 1.2 on 19x19, with RAVE 1 and 4.1.
    """

    selection: str = _choice("puct", "puct", "uct")
    c_puct: float = _parameter(1.1, "cpuctExploration", low=1e-6)
    c_puct_log: float = _parameter(0.0, "cpuctExplorationLog", low=0)
    c_puct_base: float = _parameter(500.0, "cpuctExplorationBase", low=1)
    c_puct_spread: float = _parameter(0.0, "cpuctUtilityStdevScale", low=0, high=1)
    rave: float = _parameter(300.0, low=0)
    c_uct: float = _parameter(0.6, low=0)
    fpu_reduction: float = _parameter(0.2, "fpuReductionMax", low=0)
    root_fpu_reduction: float = _parameter(0.2, "rootFpuReductionMax", low=0)
    fpu_visited_power: float = _parameter(0.0, "fpuParentWeightByVisitedPolicyPow", low=0)
    score_utility: float = _parameter(0.1, "staticScoreUtilityFactor", low=0, high=1)
    dynamic_score_utility: float = _parameter(0.0, "dynamicScoreUtilityFactor", low=0, high=1)
    better_children: float = _parameter(0.0, "valueWeightExponent", low=0, high=1)
    noise_pruning: float = _parameter(0.0, "noisePruneUtilityScale", low=0, high=10)
    value_bias: float = _parameter(0.0, "subtreeValueBiasFactor", low=0, high=1)
    uncertainty: float = _parameter(0.0, "uncertaintyCoeff", low=0, high=1)
    virtual_loss: float = _parameter(1.0, "numVirtualLossesPerThread", low=0)
    batch_size: int = _parameter(0, "nnMaxBatchSize", low=0, high=4096)
    root_noise: float = _parameter(0.0, "rootDirichletNoiseWeight", low=0, high=1)
    dirichlet_alpha: float = _parameter(10.83, "rootDirichletNoiseTotalConcentration", low=1e-6)
    root_policy_temperature: float = _parameter(1.0, "rootPolicyTemperature", low=0.01, high=100)
    forced_playouts: float = _parameter(0.0, "rootDesiredPerChildVisitsCoeff", low=0, high=100)
    gumbel_moves: int = _parameter(0, low=0, high=400)
    gumbel_noise: float = _parameter(0.0, low=0, high=10)
    temperature: float = _parameter(0.0, "chosenMoveTemperature", low=0)
    temperature_moves: int = _parameter(30, low=0)
    choice: str = _choice("lcb", "visits", "lcb")
    lcb_stdevs: float = _parameter(5.0, "lcbStdevs", low=0)
    symmetry: str = _choice("none", "none", "random", "average")
    policy_optimism: float = _parameter(0.0, "policyOptimism", low=0, high=1)
    root_policy_optimism: float = _parameter(0.0, "rootPolicyOptimism", low=0, high=1)
    profile: str = _text("", "humanSLProfile", profile_name)
    reuse_tree: bool = _parameter(True)
    tree_megabytes: float = _parameter(1000.0, low=0.1)

    def with_value(self, name: str, value: str | float | bool) -> "SearchParameters":
        """A copy with one parameter changed, by its name or KataGo's; ValueError names what is accepted."""
        found = find_parameter(name)
        return replace(self, **{found: _convert(found, value)})


# KataGo's defaults in play (its SearchParams and the configuration for GTP).
_FOR_NETWORKS = SearchParameters(
    c_puct=1.0,
    c_puct_log=0.45,
    c_puct_spread=0.85,
    root_fpu_reduction=0.1,
    fpu_visited_power=2.0,
    dynamic_score_utility=0.3,
    better_children=0.25,
    noise_pruning=0.15,
    value_bias=0.45,
    uncertainty=0.25,
    symmetry="random",
    policy_optimism=1.0,
    root_policy_optimism=0.2,
)
WITHOUT_NETWORK = ("none", "uniform")


def default_parameters(network: str) -> SearchParameters:
    """What suits an evaluator (`evaluate.factory`): rollouts, or a network."""
    return SearchParameters() if network in WITHOUT_NETWORK else _FOR_NETWORKS


_FIELDS = {item.name: item for item in fields(SearchParameters)}
_BY_KATAGO_NAME = {item.metadata["katago"]: item.name for item in _FIELDS.values() if item.metadata["katago"]}
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def parameter_names() -> list[str]:
    """The names of all parameters."""
    return list(_FIELDS)


def find_parameter(name: str) -> str:
    """Our name of a parameter given by ours or KataGo's; ValueError with the nearest names otherwise."""
    if name in _FIELDS:
        return name
    if name in _BY_KATAGO_NAME:
        return _BY_KATAGO_NAME[name]
    from difflib import get_close_matches

    near = get_close_matches(name, [*_FIELDS, *_BY_KATAGO_NAME], 3, 0.6)
    raise ValueError(f"unknown parameter {name!r}: expected {', '.join(near or _FIELDS)}")


def parse_setting(parameters: SearchParameters, text: str) -> SearchParameters:
    """The parameters with one `NAME=VALUE` applied; ValueError for a wrong form, name or value."""
    return parameters.with_value(*split_setting(text))


def split_setting(text: str) -> tuple[str, str]:
    """Our name of a parameter and the value of one `NAME=VALUE`; ValueError for a wrong form or name."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"invalid setting {text!r}: expected NAME=VALUE")
    return find_parameter(name.strip()), value.strip()


def _convert(name: str, value: str | float | bool) -> Any:
    """`value` in the type of the parameter, in its range."""
    item = _FIELDS[name]
    kind: type = type(item.default)
    text = str(value).strip()
    if "check" in item.metadata:
        checked: str = item.metadata["check"](text)
        return checked
    if kind is str:
        if text not in item.metadata["accepted"]:
            raise ValueError(f"invalid {name} {text!r}: expected {' or '.join(item.metadata['accepted'])}")
        return text
    if kind is bool:
        if text.lower() not in _TRUE + _FALSE:
            raise ValueError(f"invalid {name} {text!r}: expected true or false")
        return text.lower() in _TRUE
    try:
        number = kind(float(text)) if kind is int and float(text).is_integer() else kind(text)
    except (ValueError, OverflowError):
        number = math.nan
    low, high = item.metadata["low"], item.metadata["high"]
    in_range = (low is None or number >= low) and (high is None or number <= high)
    if not (math.isfinite(number) and in_range):
        accepted = f"from {low:g} to {high:g}" if high is not None else f"of {low:g} or more"
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"invalid {name} {text!r}: expected {what} {accepted}")
    return number
