"""The settings of self-play and of a run: their meanings, defaults and accepted values.

Those declared with `changeable` may have another value when a run from records resumes: it may be prolonged and
validated more often, and the file of its teacher may have moved.

A run's folder contains all of them in `settings.toml` (`settings_toml`), so that a run does not depend on defaults that
a later version may change.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.fields import Range, invalid, parse_board_size
from ..base.settings import check, setting, settings_of
from ..go.coords import MIN_SIZE
from ..go.rules import Rules, default_komi, parse_rules
from ..search.evaluate.choices import AUTO, DEVICES, INT8, LARGEST_BOARD, PRECISIONS
from ..search.parameters import SearchParameters, fallen, find_parameter

# Searches in self-play omit what only pays with many visits, such as the growth of c_puct. The root uses the same
# policy as the tree, so that root and leaves share batches.
_PARAMETERS: dict[str, Any] = {"choice": "visits", "symmetry": "random", "c_puct": 1.1, "score_utility": 0.1}
# AlphaZero's noise (Silver et al. 2018), KataGo's forced playouts (Wu 2019).
_PUCT = {"root_noise": 0.25, "forced_playouts": 2.0}
_QUIET = {"root_noise": 0.0, "wide_root_noise": 0.0, "forced_playouts": 0.0, "gumbel_noise": 0.0}
# Peak learning rates by optimizer, for batches of a few hundred samples, and weight decays with which the weights of
# both decay equally fast.
RATES = {"adamw": 2e-3, "sgd": 0.05}
DECAYS = {"adamw": 0.02, "sgd": 0.0008}
_LOWEST_PROFESSIONAL = 100
_RANK = re.compile(r"\s*(\d{1,2})\s*(k|d|p|kyu|dan|段|级|級)?", re.IGNORECASE)


def parse_size(name: str) -> tuple[int, int]:
    """Returns width and height of `9` or `13x9`; UserError for other texts and sizes that networks do not support."""
    return parse_board_size(name, MIN_SIZE, LARGEST_BOARD)


@dataclass(frozen=True)
class Table:
    """Numbers by name."""

    check_name: Callable[[str], object]  # raises UserError for a name that is not accepted
    values: Range
    needed: str = ""  # a cycle that has to be there; empty for none

    def __str__(self) -> str:
        return f"{self.values} for each"

    def parse(self, name: str, value: Any, *, from_text: bool = False) -> dict[str, int | float]:
        """Checks a table of TOML or Python, in which a text in quotes is not a number."""
        if not isinstance(value, Mapping):
            raise invalid(name, value, "a table such as { name = number }")
        for key, number in value.items():
            self.check_name(key)
            if self.values.whole and isinstance(number, float):
                raise invalid(f"{name} for {key}", number, str(self.values))
        if self.needed not in ("", *value):
            raise UserError(f"invalid {name}: expected a value for cycle {self.needed}")
        return {key: self.values.parse(f"{name} for {key}", number, from_text=False) for key, number in value.items()}


def _check_cycle(name: str) -> None:
    if not name.isdecimal():
        raise invalid("visits", name, "the number of a cycle")


@dataclass(frozen=True)
class Texts:
    """A list of texts, which may be empty; `example` has some for messages."""

    example: tuple[str, ...]

    def __str__(self) -> str:
        return "a list of texts"

    def parse(self, name: str, value: Any, *, from_text: bool = False) -> list[str]:
        """Checks a list."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise invalid(name, value, f"a list of texts such as {list(self.example)}")
        return value


@dataclass(frozen=True)
class _Parameters:
    """Search parameters by name, apart from those that are settings of self-play."""

    def __str__(self) -> str:
        return "search parameters"

    def parse(self, name: str, value: Any, *, from_text: bool = False) -> dict[str, Any]:
        """Checks names and values."""
        if not isinstance(value, Mapping):
            raise invalid(name, value, "a table such as { name = number }")
        SearchParameters().with_values(value)
        for parameter in map(find_parameter, value):
            if parameter in settings_of(SearchSettings):
                wanted = 'it, or root = "puct" instead of 0,' if parameter == "gumbel_moves" else "it"
                raise UserError(f"{parameter} is a setting of self-play, not a parameter: write {wanted} in [search]")
        return dict(value)


@dataclass(frozen=True)
class Section:
    """A section of a run's settings, whose values are checked."""

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class GameSettings(Section):
    """The games of self-play.

    Attributes:
        sizes: Board sizes and the weight of each: how often it is played. A size is N or WxH.
        rules: Names of rulesets with area scoring. Each game is played by one of them, drawn at random, so that the
            network learns to play by all of them.
        komi: Fair komi of a board size in points, for sizes whose usual one does not suit; around it the komi of
            each game is drawn.
        komi_spread: Standard deviation of the komi in points. With 0 every game has the fair komi; more teaches the
            value of other ones.
        wide_komi_share: Share of games whose komi is drawn with wide_komi_spread instead, so that uneven games are
            learned too.
        wide_komi_spread: Standard deviation in points of the komi in the games of wide_komi_share.
        opening_share: Mean number of first moves drawn from the policy without a search, per point of the board
            (0.04 on 9x9: 3 moves). More makes openings more varied; these moves are not learned.
        opening_temperature: Temperature at which the moves of opening_share are drawn. Above 1 they are more
            varied, below 1 closer to the policy.
        moves_per_point: Maximum length of a game in moves per point of the board (2.0 on 9x9: 162 moves). A longer
            game is counted as it stands.
        resign_winrate: Win rate that decides a game once one side has held it for resign_moves positions in a row.
            With 1 no game is decided before its end.
        resign_moves: Number of consecutive positions in which the same side's win rate is at least resign_winrate;
            they decide the game. Nobody resigns: a decided game is played on with cheap searches, which saves time.
        resign_weight: Weight of the positions after a game was decided as samples, in comparison with 1 for all
            others; 0 leaves them out.
        check_share: Share of games that are played on with full searches although they are decided. They show how
            often the decisions are wrong (false_decisions in the log).
    """

    sizes: dict[str, float] = setting({"9": 1.0}, accepts=Table(parse_size, Range(0)))
    rules: list[str] = setting(["tromp-taylor", "chinese"], accepts=Texts(("chinese", "aga")))
    komi: dict[str, float] = setting({}, accepts=Table(parse_size, Range()))
    komi_spread: float = setting(1.5, 0)
    wide_komi_share: float = setting(0.06, 0, 1)
    wide_komi_spread: float = setting(8.0, 0)
    opening_share: float = setting(0.04, 0, 1)
    opening_temperature: float = setting(1.0, 0.01, 100)
    moves_per_point: float = setting(2.0, 0.1, 20)
    resign_winrate: float = setting(0.95, 0.5, 1)
    resign_moves: int = setting(3, 1)
    resign_weight: float = setting(0.25, 0, 1)
    check_share: float = setting(0.1, 0, 1)

    @property
    def boards(self) -> dict[tuple[int, int], float]:
        """The weights by (width, height)."""
        return {parse_size(name): weight for name, weight in self.sizes.items()}

    def fair_komi(self, width: int, height: int) -> float:
        """Returns the mean of the komi of games on this board."""
        given = {parse_size(name): komi for name, komi in self.komi.items()}
        return given.get((width, height), default_komi(width, height))

    def with_komi(self, komi: float) -> "GameSettings":
        """Returns the settings with the same komi in all games."""
        return replace(self, komi=dict.fromkeys(self.sizes, komi), komi_spread=0.0, wide_komi_share=0.0)

    def rulesets(self) -> list[Rules]:
        """Returns the rules; UserError for unknown ones and for territory scoring, which self-play cannot count."""
        rulesets = [parse_rules(name) for name in self.rules]
        for name, rules in zip(self.rules, rulesets, strict=True):
            if rules.scoring != "AREA":
                raise UserError(f"the rules {name!r} count territory; self-play needs area scoring, such as chinese")
        return rulesets


@dataclass(frozen=True)
class SearchSettings(Section):
    """The searches of self-play.

    Attributes:
        root: Search at the root: "gumbel" learns from few visits; "puct" with noise is that of AlphaZero and wants
            100 visits or more.
        visits: Visits of a full search, from each of these cycles on: { 0 = 16, 20 = 32 } doubles them in cycle 20.
            More make better targets and slower games.
        full_share: Share of moves with a full search; until a game is decided only these become samples. The others
            are searched with cheap_visits, so that games take less time.
        cheap_visits: Visits of a cheap search, without noise: for the moves that full_share leaves over, and in
            decided games.
        gumbel_moves: Number of root moves that a Gumbel search begins with; half of them are dropped in each round.
            More explore more widely, with fewer visits for each.
        temperature: Temperature at which the first moves of a game are drawn from the visit counts, with
            root = "puct". 0 plays the most visited move.
        temperature_moves: Number of moves until it begins to fall.
        temperature_halflife: Number of moves in which it falls half of the way to late_temperature. 0 lets it fall at
            once.
        late_temperature: Temperature late in the game, towards which it falls.
        parameters: Other parameters of the searches by name, as for --set: { c_puct = 1.3 }.
    """

    root: str = setting("gumbel", accepts=("gumbel", "puct"))
    visits: dict[str, int] = setting({"0": 32}, accepts=Table(_check_cycle, Range(1, whole=True), "0"))
    full_share: float = setting(1.0, 0.01, 1)
    cheap_visits: int = setting(8, 1)
    gumbel_moves: int = setting(8, 2, 400)
    temperature: float = setting(1.0, 0)
    temperature_moves: int = setting(6, 0)
    temperature_halflife: float = setting(9.0, 0)
    late_temperature: float = setting(0.15, 0)
    parameters: dict[str, Any] = setting({}, accepts=_Parameters())

    def full(self, cycle: int) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a full search in a cycle."""
        visits = max((int(start), count) for start, count in self.visits.items() if int(start) <= cycle)[1]
        noise = {"gumbel_moves": self.gumbel_moves, "gumbel_noise": 1.0} if self.root == "gumbel" else _PUCT
        return visits, SearchParameters().with_values({**_PARAMETERS, **noise, **self.parameters})

    def cheap(self) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a cheap search."""
        moves = {"gumbel_moves": self.gumbel_moves} if self.root == "gumbel" else {}
        parameters = SearchParameters().with_values({**_PARAMETERS, **moves, **self.parameters, **_QUIET})
        return self.cheap_visits, parameters

    def temperature_at(self, moves: int) -> float:
        """Returns the temperature of the choice after a number of moves; 0 for Gumbel, which has its own noise."""
        if self.root == "gumbel":
            return 0.0
        since = moves - self.temperature_moves
        return fallen(self.temperature, self.late_temperature, since, self.temperature_halflife)


@dataclass(frozen=True)
class MachineSettings(Section):
    """The machine. These settings may be changed at any time.

    Attributes:
        workers: Number of self-play processes, on a cluster of each machine; 0 starts one for each CPU.
        concurrency: Games at a time in each self-play process. More fill larger batches, which are faster, and take
            more memory.
        threads: CPU threads for learning and matches; 0 uses all.
        device: Device of the networks. auto takes a GPU if there is one.
        precision: Numeric precision of the networks that play. auto takes the fastest one that the device supports
            well.
    """

    workers: int = setting(0, 0, command="train")
    concurrency: int = setting(32, 1, command="train")
    threads: int = setting(0, 0, changeable=True)
    device: str = setting(AUTO, accepts=(AUTO, *DEVICES), changeable=True)
    precision: str = setting(AUTO, accepts=(AUTO, *(name for name in PRECISIONS if name != INT8)), command="train")


@dataclass(frozen=True)
class BeginSettings(Section):
    """How a run begins.

    Attributes:
        network: Architecture of the network as bBcC: B blocks of C channels, as in b6c96; -mish adds another
            activation, as in b10c128-mish; h3tfrs makes a transformer with 3 heads, as in b7c96h3tfrs. It cannot change
            later.
        start: Network file from which the run started; empty: random weights. It cannot change later.
        seed: Random seed of the weights, of the order of samples, and of the games or of the positions for a teacher.
    """

    network: str = setting("b4c32")
    start: str = setting("")
    seed: int = setting(1, 0, 2**62)


@dataclass(frozen=True)
class CycleSettings(BeginSettings):
    """The run: each cycle plays games, learns from the latest ones and writes a network.

    Attributes:
        cycles: Number of cycles in the run. The learning rate decays towards the last one; a larger number prolongs
            the run.
        games: Games per cycle. More make a cycle longer, and its samples more varied.
        random_games: Games of random moves that are learned before the first cycle. They teach how games are
            counted, so that the first searches have something to go by; 0 leaves them out.
        shard_games: Games in one file of samples, and in one SGF file. If a run is killed, it loses the games in
            progress and at most this number of finished ones, none that ended more than a minute ago.
        comments: Whether comments in the SGF files report what each search found. They make the files several times
            as large.
        repeatable: Whether the same settings give the same games and networks, byte for byte, on the same machine,
            unless the run is interrupted. Every game then ends in its cycle, so the last ones do not fill the batches.
            It needs workers = 1, and precisions other than auto.
    """

    cycles: int = setting(30, 1)
    games: int = setting(1500, 1)
    random_games: int = setting(3000, 0)
    shard_games: int = setting(100, 1)
    comments: bool = setting(False)
    repeatable: bool = setting(False)


@dataclass(frozen=True)
class WindowSettings(Section):
    """The window: how many of the latest samples a cycle learns from (KataGo's shuffle.py). It grows with the number N
    of all samples: least + growth ((N - least + scale)^power - scale^power) / (power scale^(power-1)).

    Attributes:
        least: Number of samples up to which all of them are in the window.
        growth: Samples that the window gains per new sample, once it begins to forget old ones. With 0 it keeps the
            size of least.
        power: Exponent of the growth. Below 1 the window grows ever more slowly, so that weak old games are
            forgotten sooner.
        scale: Number of samples beyond least at which the growth has slowed down noticeably. More slow it down
            later.
    """

    least: int = setting(50_000, 1)
    growth: float = setting(0.4, 0, 1)
    power: float = setting(0.65, 0.01, 1)
    scale: int = setting(25_000, 1)

    def size(self, samples: int) -> int:
        """Returns the size of the window for a total number of samples."""
        if samples <= self.least:
            return samples
        x, s = samples - self.least + self.scale, self.scale
        grown = self.growth * (x**self.power - s**self.power) / (self.power * s ** (self.power - 1))
        return min(samples, round(self.least + grown))


@dataclass(frozen=True)
class LossWeights(Section):
    """The loss weights; 0 switches a loss off.

    Attributes:
        policy: Weight of the policy loss (nats): the moves that the search prefers, or those of the records.
        opponent: Weight of the loss of the opponent's reply (nats), an auxiliary target.
        value: Weight of the value loss (nats): who wins.
        score: Weight of the loss of the final score: half the squared error up to 12 points, then linear.
        stdev: Weight of the loss of the final score's standard deviation: half the squared error up to 10 points,
            then linear.
        lead: Weight of the loss of the lead, the score that a search would expect: half the squared error up to 8
            points, then linear.
        ownership: Weight of the loss of the ownership (nats, a mean over the board): who will own each point.
        errors: Weight of the loss of the short-term errors: how wrong value and score are here.
        td_value: Weight of the loss (nats) of an auxiliary head: what searches find at three horizons. The loss is a
            sum over these; KataGo's weight is 0.72. A run that began with 0 cannot get the head later.
        soft_policy: Weight of the loss (nats) of an auxiliary head: the fourth root of the policy target. KataGo's
            weight is 8. A run that began with 0 cannot get the head later.
    """

    policy: float = setting(1.0, 0)
    opponent: float = setting(0.15, 0)
    value: float = setting(0.72, 0)
    score: float = setting(0.015, 0)
    stdev: float = setting(0.01, 0)
    lead: float = setting(0.006, 0)
    ownership: float = setting(1.5, 0)
    errors: float = setting(0.1, 0)
    td_value: float = setting(0.0, 0, command="train")
    soft_policy: float = setting(0.0, 0)

    @property
    def trained(self) -> list[str]:
        """The names of the losses that are not switched off."""
        return [name for name, weight in vars(self).items() if weight]


@dataclass(frozen=True, kw_only=True)
class LearnSettings(Section):
    """How to learn.

    Attributes:
        batch_size: Samples per step. Larger batches are faster on a GPU, and need a higher learning rate.
        optimizer: Optimizer. It cannot change later. With sgd, set learning_rate to about 0.05 and weight_decay to
            about 0.0008.
        learning_rate: Peak learning rate. Too high a rate makes losses infinite, too low a one wastes time.
        warm_up: Samples over which the learning rate rises from 0 to its peak at the start of the run.
        drop_share: Share of the run's samples, at its end, over which the learning rate decays to last_rate. 0
            keeps it high to the end.
        last_rate: Learning rate at the end of the run, as a share of learning_rate.
        weight_decay: Weight decay per step, as a share of the learning rate, of matrices and convolutions; biases
            and norms have none.
        average: Samples over which the weights of the network that plays are averaged. More are steadier and lag
            behind; 0 plays with the latest weights.
        precision: Numeric precision of the training. auto takes the one that was faster when the run began.
        samples: Number of samples to learn, in each cycle or in a whole run from records. More learn more
            thoroughly and take longer; 0 uses epochs instead.
        epochs: How often each sample of the window, or of the records, is learned if samples is 0; with self-play
            the learning rate then does not decay.
        random_epochs: How often each sample of random_games is learned.
        searched_share: Share of the value target that is the win rate of the search; the rest is the result of the
            game. The search is less noisy, the result never biased.
        policy_surprise_data_weight: Share of the samples drawn in proportion to how much the search corrected the
            policy. The rest is uniform; KataGo's is 0.5.
        total: Samples after which the training ends; None if this is not known; the learning rate then never decays.
            The run sets it, and so the next one.
        losses: Weights of the losses.
    """

    batch_size: int = setting(256, 2)
    optimizer: str = setting("adamw", accepts=tuple(RATES))
    learning_rate: float = setting(2e-3, 0)
    warm_up: int = setting(50_000, 0)
    drop_share: float = setting(0.4, 0, 1)
    last_rate: float = setting(0.05, 0, 1)
    weight_decay: float = setting(0.02, 0)
    average: int = setting(200_000, 0)
    precision: str = setting(AUTO, accepts=(AUTO, "float32", "bfloat16"))
    samples: int = setting(250_000, 0, changeable=True)
    epochs: int = setting(0, 0)
    random_epochs: int = setting(2, 1, command="train")
    searched_share: float = setting(0.0, 0, 1, command="train")
    policy_surprise_data_weight: float = setting(0.0, 0, 1, command="train")
    total: int | None = None
    losses: LossWeights = field(default=LossWeights())


@dataclass(frozen=True)
class MatchSettings(Section):
    """Matches between the networks of a run. An interrupted match is played again from the start.

    Attributes:
        every: Cycles between two measurements of Elo, each a match against the network that was measured before; 0
            measures none.
        games: Games per match that measures Elo. Four times as many halve the interval.
        visits: Visits per move in matches.
        gate: Whether a new network plays the next games only if it beats the present one in a match.
        gate_games: Games of the match for gate.
        gate_score: Points per game that a new network must exceed in the match for gate; a draw is half a point.
    """

    every: int = setting(5, 0)
    games: int = setting(60, 2)
    visits: int = setting(32, 1)
    gate: bool = setting(False)
    gate_games: int = setting(40, 2)
    gate_score: float = setting(0.5, 0, 1)


def rank_of(text: str) -> int | None:
    """Returns a rank as a number that increases with strength; None if it is not a rank. "P" is a professional's."""
    match = _RANK.match(text)
    if match is None:
        return _LOWEST_PROFESSIONAL if text.strip().lower() in ("p", "pro") else None
    number, kind = int(match[1]), (match[2] or "").lower()
    if kind in ("k", "kyu", "级", "級"):
        return -number
    if kind == "p":
        return _LOWEST_PROFESSIONAL + number
    return number if kind else None


@dataclass(frozen=True)
class RecordSettings(BeginSettings):
    """What a run without self-play learns: game records, or a teacher's outputs for positions.

    Attributes:
        games: Game records to learn, or for the teacher to label: absolute paths of files and folders.
        board_sizes: Board sizes of the records to use, as N or WxH; none uses all.
        rank: Lowest rank of both players, such as 4d or 1p; empty takes all records, also those without ranks.
        since: First day, month or year of the records to use, such as 2000 or 2015-03-31; empty takes all.
        until: Last day, month or year of the records to use, such as 2000 or 2015-03-31; empty takes all.
        least_moves: Lowest number of moves of a record; shorter ones are left out.
        teacher: File of the network whose outputs are learned instead of the records' moves and results; empty:
            none.
        labels: Folder of a teacher's outputs. Empty: the folder labels of the run, if there is a teacher.
        positions: Approximate number of positions for the teacher to label. More take longer to label and teach
            more.
        label_sizes: Board sizes of the positions for the teacher, and the weight of each; none takes 7 to 19,
            mostly 19, 9 and 13.
        report: Samples between two lines of the log.
        validate: Samples between two measurements on the games that are held back. On slow machines there is one
            every two minutes as well.
        validation_samples: Positions per measurement, from games that are held back; fewer if they take more than
            20 seconds.
    """

    network: str = setting("b6c96")
    games: list[str] = setting([], accepts=Texts(("games.zip", "more.sgf")))
    board_sizes: list[str] = setting([], accepts=Texts(("9", "13x9")))
    rank: str = setting("")
    since: str = setting("")
    until: str = setting("")
    least_moves: int = setting(20, 1)
    teacher: str = setting("", changeable=True)
    labels: str = setting("")
    positions: int = setting(100_000, 1, changeable=True)
    label_sizes: dict[str, float] = setting({}, accepts=Table(parse_size, Range(0)), changeable=True)
    report: int = setting(25_600, 1)
    validate: int = setting(256_000, 1, changeable=True)
    validation_samples: int = setting(8192, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.board_sizes:
            parse_size(size)
        if self.rank and rank_of(self.rank) is None:
            raise UserError(f"unknown rank {self.rank!r}: expected one such as 5k, 3d, 1p")
        for bound in (self.since, self.until):
            if bound and not re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", bound):
                raise UserError(f"unknown date {bound!r}: expected one such as 2015 or 2015-03-31")

    @property
    def has_labels(self) -> bool:
        """Whether a teacher's outputs are learned."""
        return bool(self.teacher or self.labels)

    @property
    def has_source(self) -> bool:
        """Whether there is anything to learn; otherwise the run learns by self-play."""
        return bool(self.games or self.has_labels)

    @property
    def filters(self) -> dict[str, Any]:
        """The settings that say which records are used, by their names."""
        return {name: getattr(self, name) for name in ("board_sizes", "rank", "since", "until", "least_moves")}


_SELF_PLAY_ONLY = ("cycle", "games", "search", "window", "match")


@dataclass(frozen=True)
class RunSettings:
    """All settings of a run; self-play alone uses only `games`, `search` and `machine`.

    A run of `learn` has a section `records`, a run of `train` those of self-play; they share the others.
    """

    cycle: CycleSettings = field(default=CycleSettings())
    records: RecordSettings = field(default_factory=RecordSettings)
    games: GameSettings = field(default_factory=GameSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    window: WindowSettings = field(default=WindowSettings())
    learn: LearnSettings = field(default=LearnSettings())
    losses: LossWeights = field(default=LossWeights())
    match: MatchSettings = field(default=MatchSettings())
    machine: MachineSettings = field(default=MachineSettings())

    def __post_init__(self) -> None:
        from ..nets.config import parse_config  # imports numpy

        parse_config(self.begin.network)
        if not self.learn.samples and not self.learn.epochs:
            raise UserError("samples and epochs in [learn] are both 0: nothing would be learned")
        self.games.rulesets()
        self.search.full(0), self.search.cheap()
        for name, sizes in (("[games] sizes", self.games.sizes), ("[records] label_sizes", self.records.label_sizes)):
            if not any(sizes.values()) and (sizes or name == "[games] sizes"):
                raise UserError(f"{name}: no board size has a weight above 0")
        if self.cycle.repeatable and (
            self.machine.workers != 1 or AUTO in (self.machine.precision, self.learn.precision)
        ):
            raise UserError(
                "repeatable = true in [cycle] needs workers = 1 in [machine], and precisions other than auto, such as "
                "float32, in [machine] and [learn]"
            )

    @property
    def command(self) -> str:
        """The command whose run has these settings, `learn` or `train`."""
        return "learn" if self.records.has_source else "train"

    @property
    def begin(self) -> BeginSettings:
        """How the run begins."""
        return self.records if self.records.has_source else self.cycle

    def starting_from(self, network: Path) -> "RunSettings":
        """Returns the settings of a run that starts from a network."""
        section = "records" if self.records.has_source else "cycle"
        return replace(self, **{section: replace(getattr(self, section), start=str(network.absolute()))})


# How `learn` learns records unless its options say otherwise: each sample once, and a longer decay than with self-play.
OF_RECORDS = LearnSettings(samples=0, epochs=1, drop_share=0.5, last_rate=0.01)


def sections_of(command: str) -> "dict[str, Field[Any]]":
    """Returns the sections in the settings of a command's runs, by their names."""
    others = _SELF_PLAY_ONLY if command == "learn" else ("records",)
    return {item.name: item for item in fields(RunSettings) if item.name not in others}
