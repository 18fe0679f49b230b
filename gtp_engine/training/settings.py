"""The settings of self-play and of a run: their meanings, defaults and accepted values.

A run's folder contains all of them in `settings.toml` (`settings_toml`), so that a run does not depend on defaults that
a later version may change.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..base.errors import UserError
from ..base.fields import parse_board_size
from ..evaluate.choices import AUTO, DEVICES, INT8, LARGEST_BOARD, PRECISIONS
from ..game.coords import MIN_SIZE
from ..game.rules import Rules, default_komi, parse_rules
from ..network.config import parse_config
from ..search.parameters import SearchParameters, find_parameter
from .data.game_records import Filters
from .learner import LearnerSettings
from .losses import LossWeights
from .setting import setting, settings_of

# How searches in self-play differ from those in play: they explore more, and omit what only pays with many visits. The
# root uses the same policy as the tree, so that root and leaves share batches.
_PARAMETERS = {"choice": "visits", "symmetry": "random", "c_puct": 1.1, "score_utility": 0.1}
# AlphaZero's noise (Silver et al. 2018), KataGo's forced playouts (Wu 2019).
_PUCT = {"root_noise": 0.25, "forced_playouts": 2.0}
_QUIET = {"root_noise": 0.0, "forced_playouts": 0.0, "gumbel_noise": 0.0}
# Of both kinds of runs.
_START = setting("", "Network file from which the run started; empty: random weights. It cannot change later.")


@dataclass(frozen=True)
class GameSettings:
    """The games of self-play."""

    sizes: dict[str, float] = setting(  # noqa: RUF009
        {"9": 1.0}, "Board sizes and the weight of each: how often it is played. A size is N or WxH.", 0, names="sizes"
    )
    rules: list[str] = setting(  # noqa: RUF009
        ["tromp-taylor", "chinese"],
        "Names of rulesets with area scoring. Each game is played by one of them, drawn at random, so that the "
        "network learns to play by all of them.",
    )
    komi: dict[str, float] = setting(  # noqa: RUF009
        {},
        "Fair komi of a board size in points, for sizes whose usual one does not suit; around it the komi of each "
        "game is drawn.",
        names="sizes",
    )
    komi_spread: float = setting(
        1.5,
        "Standard deviation of the komi in points. With 0 every game has the fair komi; more teaches the value of "
        "other ones.",
        0,
    )
    wide_komi_share: float = setting(
        0.06,
        "Share of games whose komi is drawn with wide_komi_spread instead, so that uneven games are learned too.",
        0,
        1,
    )
    wide_komi_spread: float = setting(
        8.0, "Standard deviation in points of the komi in the games of wide_komi_share.", 0
    )
    opening_share: float = setting(
        0.04,
        "Mean number of first moves drawn from the policy without a search, per point of the board (0.04 on 9x9: "
        "3 moves). More makes openings more varied; these moves are not learned.",
        0,
        1,
    )
    opening_temperature: float = setting(
        1.0,
        "Temperature at which the moves of opening_share are drawn. Above 1 they are more varied, below 1 closer "
        "to the policy.",
        0.01,
        100,
    )
    moves_per_point: float = setting(
        2.0,
        "Maximum length of a game in moves per point of the board (2.0 on 9x9: 162 moves). A longer game is "
        "counted as it stands.",
        0.1,
        20,
    )
    resign_winrate: float = setting(
        0.95,
        "Win rate that decides a game once one side has held it for resign_moves positions in a row. With 1 no game "
        "is decided before its end.",
        0.5,
        1,
    )
    resign_moves: int = setting(
        3,
        "Number of consecutive positions in which the same side's win rate is at least resign_winrate; they decide the "
        "game. Nobody resigns: a decided game is played on with cheap searches, which saves time.",
        1,
    )
    resign_weight: float = setting(
        0.25,
        "Weight of the positions after a game was decided as samples, in comparison with 1 for all others; 0 leaves "
        "them out.",
        0,
        1,
    )
    check_share: float = setting(
        0.1,
        "Share of games that are played on with full searches although they are decided. They show how often the "
        "decisions are wrong (false_decisions in the log).",
        0,
        1,
    )

    @property
    def boards(self) -> dict[tuple[int, int], float]:
        """The weights by (width, height)."""
        return {parse_size(name): weight for name, weight in self.sizes.items()}

    def fair_komi(self, width: int, height: int) -> float:
        """Returns the mean of the komi of games on this board."""
        given = {parse_size(name): komi for name, komi in self.komi.items()}
        return given.get((width, height), default_komi(width, height))

    def rulesets(self) -> list[Rules]:
        """Returns the rules; UserError for unknown ones and for territory scoring, which self-play cannot count."""
        rulesets = [parse_rules(name) for name in self.rules]
        for name, rules in zip(self.rules, rulesets, strict=True):
            if rules.scoring != "AREA":
                raise UserError(f"the rules {name!r} count territory; self-play needs area scoring, such as chinese")
        return rulesets


@dataclass(frozen=True)
class SearchSettings:
    """The searches of self-play."""

    root: str = setting(
        "gumbel",
        'Search at the root: "gumbel" learns from few visits; "puct" with noise is that of AlphaZero and wants '
        "100 visits or more.",
        accepted=("gumbel", "puct"),
    )
    visits: dict[str, int] = setting(  # noqa: RUF009
        {"0": 32},
        "Visits of a full search, from each of these cycles on: { 0 = 16, 20 = 32 } doubles them in cycle 20. "
        "More make better targets and slower games.",
        1,
        names="cycles",
    )
    full_share: float = setting(
        1.0,
        "Share of moves with a full search; until a game is decided only these become samples. The others are searched "
        "with cheap_visits, so that games take less time.",
        0.01,
        1,
    )
    cheap_visits: int = setting(
        8,
        "Visits of a cheap search, without noise: for the moves that full_share leaves over, and in decided games.",
        1,
    )
    gumbel_moves: int = setting(
        8,
        "Number of root moves that a Gumbel search begins with; half of them are dropped in each round. More "
        "explore more widely, with fewer visits for each.",
        2,
        400,
    )
    temperature: float = setting(
        1.0,
        "Temperature at which a move is drawn from the visit counts in the first temperature_moves moves, with "
        'root = "puct". 0 plays the most visited move.',
        0,
    )
    temperature_moves: int = setting(
        6, 'Number of moves of a game until the temperature begins to fall, with root = "puct".', 0
    )
    temperature_halflife: float = setting(
        9.0,
        'Number of moves in which the temperature falls half of the way to late_temperature, with root = "puct". '
        "0 lets it fall at once.",
        0,
    )
    late_temperature: float = setting(
        0.15,
        'Temperature late in the game, towards which it falls, with root = "puct". 0 plays the most visited move.',
        0,
    )
    parameters: dict[str, Any] = setting(  # noqa: RUF009
        {}, "Other parameters of the searches by name, as for --set: { c_puct = 1.3 }.", names="parameters"
    )

    def __post_init__(self) -> None:
        for name in map(find_parameter, self.parameters):
            if name in settings_of(self):
                wanted = 'it, or root = "puct" instead of 0,' if name == "gumbel_moves" else "it"
                raise UserError(f"{name} is a setting of self-play, not a parameter: write {wanted} in [search]")

    def full(self, cycle: int) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a full search in a cycle."""
        visits = max((int(start), count) for start, count in self.visits.items() if int(start) <= cycle)[1]
        noise = {"gumbel_moves": self.gumbel_moves, "gumbel_noise": 1.0} if self.root == "gumbel" else _PUCT
        return visits, self._parameters(noise)

    def cheap(self) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a cheap search."""
        moves = {"gumbel_moves": self.gumbel_moves} if self.root == "gumbel" else {}
        return self.cheap_visits, self._parameters(moves, _QUIET)

    def _parameters(
        self, noise: Mapping[str, Any], always: Mapping[str, Any] = MappingProxyType({})
    ) -> SearchParameters:
        parameters = SearchParameters()
        for name, value in {**_PARAMETERS, **noise, **self.parameters, **always}.items():
            parameters = parameters.with_value(name, value)
        return parameters

    def temperature_at(self, moves: int) -> float:
        """Returns the temperature of the choice after a number of moves; 0 for Gumbel, which has its own noise."""
        if self.root == "gumbel":
            return 0.0
        over = moves - self.temperature_moves
        if over < 0:
            return self.temperature
        left = 0.5 ** (over / self.temperature_halflife) if self.temperature_halflife > 0 else 0.0
        return self.late_temperature + (self.temperature - self.late_temperature) * left


@dataclass(frozen=True)
class MachineSettings:
    """The machine. These settings may be changed at any time."""

    workers: int = setting(0, "Number of self-play processes; 0 starts one for each CPU.", 0, command="train")
    concurrency: int = setting(
        32,
        "Games at a time in each self-play process. More fill larger batches, which are faster, and take more memory.",
        1,
        command="train",
    )
    threads: int = setting(0, "CPU threads for learning and matches; 0 uses all.", 0)
    device: str = setting(AUTO, "Device of the networks. auto takes a GPU if there is one.", accepted=(AUTO, *DEVICES))
    precision: str = setting(
        AUTO,
        "Numeric precision of the networks that play. auto takes the fastest one that the device supports well.",
        # Every network of a run would be rounded to 8-bit integers anew, which takes longer than it saves.
        accepted=(AUTO, *(name for name in PRECISIONS if name != INT8)),
        command="train",
    )


@dataclass(frozen=True)
class CycleSettings:
    """The run: each cycle plays games, learns from the latest ones and writes a network."""

    network: str = setting(
        "b4c32",
        "Architecture of the network as bBcC: B blocks of C channels, as in b6c96; -mish adds another activation, "
        "as in b10c128-mish. It cannot change later.",
    )
    start: str = _START
    cycles: int = setting(
        30,
        "Number of cycles in the run. The learning rate decays towards the last one; a larger number prolongs the run.",
        1,
    )
    games: int = setting(1500, "Games per cycle. More make a cycle longer, and its samples more varied.", 1)
    random_games: int = setting(
        3000,
        "Games of random moves that are learned before the first cycle. They teach how games are counted, so that "
        "the first searches have something to go by; 0 leaves them out.",
        0,
    )
    seed: int = setting(1, "Random seed of weights, games and the order of samples.", 0, 2**62)
    shard_games: int = setting(
        100,
        "Games in one file of samples, and in one SGF file. If a run is killed, it loses the games in progress "
        "and at most this number of finished ones, none that ended more than a minute ago.",
        1,
    )
    comments: bool = setting(
        False,
        "Whether comments in the SGF files report what each search found. They make the files several times as large.",
    )


@dataclass(frozen=True)
class WindowSettings:
    """The window: how many of the latest samples a cycle learns from (KataGo's shuffle.py). It grows with the number N
    of all samples: least + growth ((N - least + scale)^power - scale^power) / (power scale^(power-1))."""

    least: int = setting(50_000, "Number of samples up to which all of them are in the window.", 1)
    growth: float = setting(
        0.4,
        "Samples that the window gains per new sample, once it begins to forget old ones. With 0 it keeps the "
        "size of least.",
        0,
        1,
    )
    power: float = setting(
        0.65,
        "Exponent of the growth. Below 1 the window grows ever more slowly, so that weak old games are forgotten "
        "sooner.",
        0.01,
        1,
    )
    scale: int = setting(
        25_000,
        "Number of samples beyond least at which the growth has slowed down noticeably. More slow it down later.",
        1,
    )

    def size(self, samples: int) -> int:
        """Returns the size of the window for a total number of samples."""
        if samples <= self.least:
            return samples
        x, s = samples - self.least + self.scale, self.scale
        grown = self.growth * (x**self.power - s**self.power) / (self.power * s ** (self.power - 1))
        return min(samples, round(self.least + grown))


@dataclass(frozen=True, kw_only=True)
class LearnSettings(LearnerSettings):
    """How to learn."""

    drop_share: float = setting(
        0.4,
        "Share of the run's samples, at its end, over which the learning rate decays to last_rate. 0 keeps it "
        "high to the end.",
        0,
        1,
    )
    last_rate: float = setting(0.05, "Learning rate at the end of the run, as a share of learning_rate.", 0, 1)
    precision: str = setting(
        AUTO,
        "Numeric precision of the training. auto takes the one that was faster when the run began.",
        accepted=(AUTO, "float32", "bfloat16"),
    )
    samples: int = setting(
        250_000,
        "Number of samples to learn, in each cycle or in a whole run from records. More learn more thoroughly and "
        "take longer; 0 uses epochs instead.",
        0,
    )
    epochs: int = setting(
        0,
        "How often each sample of the window, or of the records, is learned if samples is 0; with self-play the "
        "learning rate then does not decay.",
        0,
    )
    random_epochs: int = setting(2, "How often each sample of random_games is learned.", 1, command="train")
    searched_share: float = setting(
        0.0,
        "Share of the value target that is the win rate of the search; the rest is the result of the game. The "
        "search is less noisy, the result never biased.",
        0,
        1,
        command="train",
    )


@dataclass(frozen=True)
class MatchSettings:
    """Matches between the networks of a run. An interrupted match is played again from the start."""

    every: int = setting(
        5,
        "Cycles between two measurements of Elo, each a match against the network that was measured before; 0 "
        "measures none.",
        0,
    )
    games: int = setting(60, "Games per match that measures Elo. Four times as many halve the interval.", 2)
    visits: int = setting(32, "Visits per move in matches.", 1)
    gate: bool = setting(
        False, "Whether a new network plays the next games only if it beats the present one in a match."
    )
    gate_games: int = setting(40, "Games of the match for gate.", 2)
    gate_score: float = setting(
        0.5, "Points per game that a new network must exceed in the match for gate; a draw is half a point.", 0, 1
    )


@dataclass(frozen=True)
class RecordSettings:
    """What a run without self-play learns: game records, or a teacher's outputs for positions."""

    network: str = setting(
        "b6c96",
        "Architecture of the network as bBcC: B blocks of C channels, as in b6c96; -mish adds another activation, "
        "as in b10c128-mish. It cannot change later.",
    )
    start: str = _START
    games: list[str] = setting(  # noqa: RUF009
        [], "Game records to learn, or for the teacher to label: absolute paths of files and folders."
    )
    board_sizes: list[str] = setting([], "Board sizes of the records to use, as N or WxH; none uses all.")  # noqa: RUF009
    rank: str = setting(
        "", "Lowest rank of both players, such as 4d or 1p; empty takes all records, also those without ranks."
    )
    since: str = setting(
        "", "First day, month or year of the records to use, such as 2000 or 2015-03-31; empty takes all."
    )
    until: str = setting(
        "", "Last day, month or year of the records to use, such as 2000 or 2015-03-31; empty takes all."
    )
    least_moves: int = setting(20, "Lowest number of moves of a record; shorter ones are left out.", 1)
    teacher: str = setting(
        "", "File of the network whose outputs are learned instead of the records' moves and results; empty: none."
    )
    labels: str = setting(
        "", "Folder of a teacher's outputs. Empty: the folder labels of the run, if there is a teacher."
    )
    positions: int = setting(
        100_000,
        "Approximate number of positions for the teacher to label. More take longer to label and teach more.",
        1,
    )
    label_sizes: dict[str, float] = setting(  # noqa: RUF009
        {},
        "Board sizes of the positions for the teacher, and the weight of each; none takes 7 to 19, mostly 19, 9 "
        "and 13.",
        0,
        names="sizes",
    )
    seed: int = setting(1, "Random seed of weights, the order of samples, and the positions for a teacher.", 0, 2**62)
    report: int = setting(25_600, "Samples between two lines of the log.", 1)
    validate: int = setting(
        256_000,
        "Samples between two measurements on the games that are held back. On slow machines there is one every "
        "two minutes as well.",
        1,
    )
    validation_samples: int = setting(
        8192, "Positions per measurement, from games that are held back; fewer if they take more than 20 seconds.", 1
    )

    @property
    def has_labels(self) -> bool:
        """Whether a teacher's outputs are learned."""
        return bool(self.teacher or self.labels)

    @property
    def has_source(self) -> bool:
        """Whether there is anything to learn; otherwise the run learns by self-play."""
        return bool(self.games or self.has_labels)

    def filters(self) -> Filters:
        """Returns which records to use; UserError for an unknown rank or day."""
        return Filters(
            board_sizes=tuple(map(parse_size, self.board_sizes)) or None,
            rank=self.rank or None,
            since=self.since or None,
            until=self.until or None,
            moves=self.least_moves,
        )


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
        parse_config(self.network)
        if not self.learn.samples and not self.learn.epochs:
            raise UserError("samples and epochs in [learn] are both 0: nothing would be learned")
        self.records.filters()
        self.games.rulesets()
        self.search.full(0), self.search.cheap()
        for name, sizes in (("[games] sizes", self.games.sizes), ("[records] label_sizes", self.records.label_sizes)):
            if not any(sizes.values()) and (sizes or name == "[games] sizes"):
                raise UserError(f"{name}: no board size has a weight above 0")

    @property
    def command(self) -> str:
        """The command whose run has these settings, `learn` or `train`."""
        return "learn" if self.records.has_source else "train"

    @property
    def network(self) -> str:
        """The architecture of the network."""
        return self.records.network if self.records.has_source else self.cycle.network

    @property
    def start(self) -> str:
        """File of the network that a new run starts from; "" for random weights."""
        return self.records.start if self.records.has_source else self.cycle.start

    def starting_from(self, network: Path) -> "RunSettings":
        """Returns the settings of a run that starts from a network."""
        section = "records" if self.records.has_source else "cycle"
        return replace(self, **{section: replace(getattr(self, section), start=str(network.absolute()))})

    @property
    def seed(self) -> int:
        """The random seed."""
        return self.records.seed if self.records.has_source else self.cycle.seed


def sections_of(command: str) -> "dict[str, Field[Any]]":
    """Returns the sections in the settings of a command's runs, by their names."""
    others = _SELF_PLAY_ONLY if command == "learn" else ("records",)
    return {item.name: item for item in fields(RunSettings) if item.name not in others}


def parse_size(name: str) -> tuple[int, int]:
    """Returns width and height of `9` or `13x9`; UserError for other texts and sizes that networks do not support."""
    return parse_board_size(name, MIN_SIZE, LARGEST_BOARD)
