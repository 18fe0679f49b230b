"""Every number that steers the search, by one name in settings files, `--set` and `kata-set-param`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt

from ..base.errors import UserError
from ..base.fields import Text, unknown
from ..base.settings import accepted, check, setting, settings_of
from .evaluate.choices import names_file


def _profile(text: object) -> str:
    from .evaluate.human_profile import profile_name

    return profile_name(str(text))


def _profiles() -> list[str]:
    """Returns the profiles that shells complete: ranks, and the stems of the others."""
    ranks = [f"{kyu}k" for kyu in range(20, 0, -1)] + [f"{dan}d" for dan in range(1, 10)]
    return [*(f"rank_{rank}" for rank in ranks), "preaz_5k", "proyear_1990"]


PROFILE = Text(_profile, "profile", _profiles)
_LEAST_TEMPERATURE = 0.01  # of the root's priors: below it their powers would be too small; KataGo's range


@dataclass(frozen=True)
class SearchParameters:
    """How the tree is searched and the move is chosen. The defaults suit rollouts; see `default_parameters`.

    Utilities and values are in -1..1 (win minus loss), plus the share of the score.

    Attributes:
        selection: The rule that selects moves is "puct" (AlphaZero, Silver et al. 2018), which weights them by their
            priors, or "uct" (Kocsis and Szepesvari 2006), which is UCB1 without priors.
        c_puct: The weight of exploration in PUCT, in units of utility (KataGo).
        c_puct_log: The weight of exploration grows with the visits N of a node by c_puct_log log(1 + N / c_puct_base)
            (AlphaZero's formula; KataGo's numbers for networks).
        c_puct_base: The number of visits at which this sets in (KataGo's 500; AlphaZero has 19652).
        c_puct_spread: The share to which exploration is made proportional to the standard deviation of the utilities
            found so far (KataGo).
        rave: The number of visits at which a move's own value weighs as much as its RAVE value, with rollouts (Gelly
            and Silver 2007); 0 turns RAVE off.
        c_uct: The weight of exploration in UCT, in units of utility.
        fpu_reduction: The first-play urgency, which is the utility assumed for a move without visits, lies this far
            below the parent's utility, times the square root of the prior mass visited so far (Leela Zero, KataGo).
        root_fpu_reduction: The same at the root.
        fpu_visited_power: The exponent of the visited prior mass by which first-play urgency shifts from the node's
            own evaluation to the mean with its children (KataGo); 0 always uses the mean.
        score_utility: The weight of the score in utility, as 2/pi atan(score / (2 sqrt(area))) for a score in points
            (KataGo, Wu 2019).
        dynamic_score_utility: The weight of the score in utility around the score that the root expects (KataGo,
            `search.averaging`).
        better_children: The exponent by which clearly worse children weigh less in a node's value, KataGo's
            valueWeightExponent (`search.averaging`); 0 leaves plain means.
        noise_pruning: The loss of utility at which visits of worse children beyond their share by prior are reduced
            to 1/e of their weight (KataGo, `search.averaging`); 0 for none.
        value_bias: The share of the mean error of evaluations after the same local moves that is corrected in
            others (KataGo, `search.value_bias`).
        uncertainty: The expected error, in units of utility, at which an evaluation weighs about one; more certain
            ones weigh up to 8 and less certain ones less (KataGo); 0 makes all weigh one.
        virtual_loss: The number of lost visits that a leaf counts for while it is evaluated (Chaslot et al.
            2008).
        batch_size: The largest number of leaves evaluated together; 0 for the evaluator's own.
        root_noise: The share of Dirichlet noise in the root's priors (AlphaZero).
        dirichlet_alpha: The sum of the Dirichlet noise's concentrations over the legal moves (10.83 is
            AlphaZero's 0.03 for each of 361 points).
        shaped_noise: Whether half of these concentrations go to moves whose priors are above the average (KataGo).
        root_policy_temperature: The temperature of the root's priors; above 1 the search tries more moves (KataGo).
        early_root_policy_temperature: The same at the start of a game, falling like `temperature`; 0 for no difference.
        wide_root_noise: How much more evenly, and by chance, the search looks at the root's moves (KataGo).
        forced_playouts: A visited root move with prior p gets at least sqrt(forced_playouts p N) of the root's N
            visits, so that noise is explored (KataGo, Wu 2019, section 3.2); 0 forces none.
        root_symmetry_pruning: Whether the root's moves that are mirror images of each other are searched once (KataGo).
        anti_mirror: Whether to counter an opponent who mirrors one's moves (KataGo, `search.mirror`).
        avoid_repeated_patterns: How much less utility the root's moves have that repeat a local pattern of their
            player (KataGo, `search.repetition`).
        gumbel_moves: The number of root moves with which sequential halving starts if visits are limited to a million
            or less (Danihelka et al. 2022, `search.gumbel`); 0 uses PUCT at the root too.
        gumbel_noise: The scale of the Gumbel noise with which these root moves are drawn; 0 for none.
        temperature: The temperature at which the first moves of a game are drawn by their visits (AlphaZero); 0 plays
            the best move.
        temperature_moves: The number of moves until the temperature begins to fall.
        temperature_halflife: The moves on 19x19, fewer on smaller boards, in which it falls half of the way to
            `late_temperature` (KataGo); 0 lets it fall at once.
        late_temperature: The temperature towards which it falls.
        choice: The move played is the one with the most "visits", or by "lcb" the one with the highest lower confidence
            bound among well visited moves (Leela Zero 0.17, KataGo).
        lcb_stdevs: The distance of the lower confidence bound from the mean, in standard errors (KataGo).
        symmetry: The symmetry of the board under which a network evaluates a position is "none", one at "random", or
            the "average" of eight evaluations.
        policy_optimism: The share of the optimistic policy in the tree's priors, for networks that have one (KataGo).
        root_policy_optimism: The same share in the root's priors (KataGo).
        playout_doubling_advantage: How many more playouts than the opponent the player at the root is assumed to have,
            as a base-2 logarithm (1 for twice as many), for KataGo's networks. Above 0 a network expects the opponent
            to make mistakes and prefers complications.
        profile: The human players to imitate, for networks trained on human games (`evaluate.human_profile`).
        graph_search: Whether positions that several orders of moves lead to are searched as one (KataGo). Far below
            the root superko may then be overlooked.
        reuse_tree: Whether a search continues from what earlier ones of the game have found.
        tree_megabytes: The size in megabytes at which the tree stops growing; while it grows it may take twice as much
            for a moment. With ownership a visit takes up to 0.5 kB on 9x9 and 1.4 kB on 19x19, with RAVE 1 kB and
            4.1 kB.

    Raises:
        UserError: A value is of the wrong type or out of range.
    """

    selection: str = setting("puct", accepts=("puct", "uct"))
    c_puct: float = setting(1.1, 1e-6, katago="cpuctExploration")
    c_puct_log: float = setting(0.0, 0, katago="cpuctExplorationLog")
    c_puct_base: float = setting(500.0, 1, katago="cpuctExplorationBase")
    c_puct_spread: float = setting(0.0, 0, 1, katago="cpuctUtilityStdevScale")
    rave: float = setting(300.0, 0)
    c_uct: float = setting(0.6, 0)
    fpu_reduction: float = setting(0.2, 0, katago="fpuReductionMax")
    root_fpu_reduction: float = setting(0.2, 0, katago="rootFpuReductionMax")
    fpu_visited_power: float = setting(0.0, 0, katago="fpuParentWeightByVisitedPolicyPow")
    score_utility: float = setting(0.1, 0, 1, katago="staticScoreUtilityFactor")
    dynamic_score_utility: float = setting(0.0, 0, 1, katago="dynamicScoreUtilityFactor")
    better_children: float = setting(0.0, 0, 1, katago="valueWeightExponent")
    noise_pruning: float = setting(0.0, 0, 10, katago="noisePruneUtilityScale")
    value_bias: float = setting(0.0, 0, 1, katago="subtreeValueBiasFactor")
    uncertainty: float = setting(0.0, 0, 1, katago="uncertaintyCoeff")
    virtual_loss: float = setting(1.0, 0, katago="numVirtualLossesPerThread")
    batch_size: int = setting(0, 0, 4096, katago="nnMaxBatchSize")
    root_noise: float = setting(0.0, 0, 1, katago="rootDirichletNoiseWeight")
    dirichlet_alpha: float = setting(10.83, 1e-6, katago="rootDirichletNoiseTotalConcentration")
    shaped_noise: bool = setting(False)
    root_policy_temperature: float = setting(1.0, _LEAST_TEMPERATURE, 100, katago="rootPolicyTemperature")
    early_root_policy_temperature: float = setting(0.0, 0, 100, katago="rootPolicyTemperatureEarly")
    wide_root_noise: float = setting(0.0, 0, 5, katago="wideRootNoise")
    forced_playouts: float = setting(0.0, 0, 100, katago="rootDesiredPerChildVisitsCoeff")
    root_symmetry_pruning: bool = setting(False, katago="rootSymmetryPruning")
    anti_mirror: bool = setting(False, katago="antiMirror")
    avoid_repeated_patterns: float = setting(0.0, -3, 3, katago="avoidRepeatedPatternUtility")
    gumbel_moves: int = setting(0, 0, 400)
    gumbel_noise: float = setting(0.0, 0, 10)
    temperature: float = setting(0.0, 0, katago="chosenMoveTemperatureEarly")
    temperature_moves: int = setting(0, 0)
    temperature_halflife: float = setting(19.0, 0, katago="chosenMoveTemperatureHalflife")
    late_temperature: float = setting(0.0, 0, katago="chosenMoveTemperature")
    choice: str = setting("lcb", accepts=("visits", "lcb"))
    lcb_stdevs: float = setting(5.0, 0, katago="lcbStdevs")
    symmetry: str = setting("none", accepts=("none", "random", "average"))
    policy_optimism: float = setting(0.0, 0, 1, katago="policyOptimism")
    root_policy_optimism: float = setting(0.0, 0, 1, katago="rootPolicyOptimism")
    playout_doubling_advantage: float = setting(0.0, -3, 3, katago="playoutDoublingAdvantage")
    profile: str = setting("", accepts=PROFILE, katago="humanSLProfile")
    graph_search: bool = setting(False, katago="useGraphSearch")
    reuse_tree: bool = setting(True)
    tree_megabytes: float = setting(1000.0, 0.1, 1e9)

    def __post_init__(self) -> None:
        check(self)

    def with_value(self, name: str, value: str | float | bool) -> "SearchParameters":
        """Returns a copy with one parameter changed.

        Args:
            name: Its name, or KataGo's.
            value: Its value, or the text of it.

        Raises:
            UserError: The name is unknown or the value invalid; the message names what is accepted.
        """
        found = find_parameter(name)
        return replace(self, **{found: accepted(PARAMETERS[found], value, from_text=True)})

    def with_values(self, values: Mapping[str, str | float | bool]) -> "SearchParameters":
        """Returns a copy with several parameters changed, as `with_value` changes one."""
        parameters = self
        for name, value in values.items():
            parameters = parameters.with_value(name, value)
        return parameters

    def temperature_after(self, moves: int, area: int) -> float:
        """Returns the temperature at which the next move is drawn, after `moves` moves on a board of `area` points."""
        return self._fallen(self.temperature, self.late_temperature, moves, area)

    def root_policy_temperature_after(self, moves: int, area: int) -> float:
        """Returns the temperature of the root's priors, after as many moves."""
        early = max(_LEAST_TEMPERATURE, self.early_root_policy_temperature or self.root_policy_temperature)
        return self._fallen(early, self.root_policy_temperature, moves, area)

    def _fallen(self, early: float, late: float, moves: int, area: int) -> float:
        # KataGo measures half-lives by the side of a 19x19 board.
        return fallen(early, late, moves - self.temperature_moves, self.temperature_halflife * sqrt(area) / 19)


def fallen(early: float, late: float, moves: float, halflife: float) -> float:
    """Returns a temperature that falls from `early` half of the way to `late` every `halflife` moves.

    Args:
        early, late: Temperatures.
        moves: The moves since it began to fall, negative before that.
        halflife: In moves; 0 to fall at once.
    """
    if moves < 0:
        return early
    return late + (early - late) * 0.5 ** (moves / halflife) if halflife > 0 else late


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
    root_symmetry_pruning=True,
    symmetry="random",
    policy_optimism=1.0,
    root_policy_optimism=0.2,
    graph_search=True,
)


def default_parameters(network: str) -> SearchParameters:
    """Returns the parameters that suit an evaluator, by its name in `make_evaluator`: rollouts, or a network."""
    return _FOR_NETWORKS if names_file(network) else SearchParameters()


PARAMETERS = settings_of(SearchParameters)  # the declarations, by name
_BY_KATAGO_NAME = {item.metadata["katago"]: name for name, item in PARAMETERS.items() if "katago" in item.metadata}
KNOWN_NAMES = (*PARAMETERS, *_BY_KATAGO_NAME)  # ours, and KataGo's


def find_parameter(name: str) -> str:
    """Returns our name of a parameter, given by ours or KataGo's; UserError with the nearest names if it is unknown."""
    if name in PARAMETERS:
        return name
    if name in _BY_KATAGO_NAME:
        return _BY_KATAGO_NAME[name]
    raise unknown("parameter", name, KNOWN_NAMES, accepted=PARAMETERS)


def split_setting(text: str) -> tuple[str, str]:
    """Returns our name and the text of the value of one `NAME=VALUE`; UserError if its form or name is invalid."""
    name, equals, value = text.partition("=")
    if not equals:
        raise UserError(f"invalid setting {text!r}: expected NAME=VALUE")
    return find_parameter(name.strip()), value.strip()
