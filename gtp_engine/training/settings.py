"""The settings of self-play and of a run: their meanings, defaults and accepted values.

A run's folder contains all of them in `settings.toml` (`settings_toml`), so that a run does not depend on defaults that
a later version may change.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any

from ..base.errors import UserError
from ..base.fields import parse_board_size
from ..evaluate.choices import AUTO, DEVICES, LARGEST_BOARD, PRECISIONS
from ..game.coords import MIN_SIZE
from ..game.rules import Rules, default_komi, parse_rules
from ..network.config import parse_config
from ..search.parameters import SearchParameters
from .data.game_records import Filters
from .learner import LearnerSettings
from .losses import LossWeights
from .setting import setting

# How searches in self-play differ from those in play: they explore more, and omit what only pays with many visits. The
# root uses the same policy as the tree, so that root and leaves share batches.
_PARAMETERS = {"choice": "visits", "symmetry": "random", "c_puct": 1.1, "score_utility": 0.1}
# AlphaZero's noise (Silver et al. 2018), KataGo's forced playouts (Wu 2019).
_PUCT = {"root_noise": 0.25, "forced_playouts": 2.0}


@dataclass(frozen=True)
class GameSettings:
    """The games of self-play."""

    sizes: dict[str, float] = setting({"9": 1.0}, "Board sizes, and how often each is played.", 0, names="sizes")  # noqa: RUF009
    rules: list[str] = setting(["tromp-taylor", "chinese"], "Rulesets; one is drawn for each game. Area scoring only.")  # noqa: RUF009
    komi: dict[str, float] = setting({}, "The fair komi of a board size, if it is not the usual one.", names="sizes")  # noqa: RUF009
    komi_spread: float = setting(
        1.5, "Standard deviation of the komi, which is drawn around the fair one in half points.", 0
    )
    wide_komi_share: float = setting(
        0.06, "Share of games with a wider spread of komi, so that uneven games are learned too.", 0, 1
    )
    wide_komi_spread: float = setting(8.0, "Standard deviation of the komi in these uneven games.", 0)
    opening_share: float = setting(
        0.04, "Average number of first moves that are drawn from the policy, as a share of the board's points.", 0, 1
    )
    opening_temperature: float = setting(
        1.0, "Temperature at which these first moves are drawn: above 1 flatter, below 1 sharper.", 0.01, 100
    )
    moves_per_point: float = setting(
        2.0, "Maximum length of a game, in moves per point of the board; then it is counted as it stands.", 0.1, 20
    )
    resign_winrate: float = setting(0.95, "Win rate of one side from which the other might resign.", 0.5, 1)
    resign_moves: int = setting(
        3, "Number of such positions in a row that decide a game; the rest is played with cheap searches.", 1
    )
    resign_weight: float = setting(0.25, "Weight of a position of a decided game as a sample.", 0, 1)
    check_share: float = setting(
        0.1, "Share of games that continue with full searches although they are decided, as a check.", 0, 1
    )

    @property
    def boards(self) -> dict[tuple[int, int], float]:
        """The weights by (width, height)."""
        return {parse_size(name): weight for name, weight in self.sizes.items()}

    def fair_komi(self, width: int, height: int) -> float:
        """Returns the komi around which the komi of games is drawn."""
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
        'Search at the root: "gumbel", or "puct" with noise, for 100 visits and more.',
        accepted=("gumbel", "puct"),
    )
    visits: dict[str, int] = setting(  # noqa: RUF009
        {"0": 32}, "Visits of a full search, from each of these cycles on.", 1, names="cycles"
    )
    full_share: float = setting(1.0, "Share of moves with a full search; only these become samples.", 0.01, 1)
    cheap_visits: int = setting(
        8, "Visits of a cheap search, without noise: for all other moves and in decided games.", 1
    )
    gumbel_moves: int = setting(8, "Number of root moves with which Gumbel search starts.", 2, 400)
    temperature: float = setting(
        1.0, 'With "puct": temperature of the choice among visit counts at the start of a game.', 0
    )
    temperature_moves: int = setting(6, 'With "puct": number of first moves after which the temperature falls.', 0)
    temperature_halflife: float = setting(
        9.0, 'With "puct": number of moves in which the temperature falls by half; 0: at once.', 0
    )
    late_temperature: float = setting(0.15, 'With "puct": the temperature to which it falls.', 0)
    parameters: dict[str, Any] = setting({}, "Other search parameters, as for --set.", names="parameters")  # noqa: RUF009

    def full(self, cycle: int) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a full search in a cycle."""
        visits = max((int(start), count) for start, count in self.visits.items() if int(start) <= cycle)[1]
        noise = {"gumbel_moves": self.gumbel_moves, "gumbel_noise": 1.0} if self.root == "gumbel" else _PUCT
        return visits, self._parameters(noise)

    def cheap(self) -> tuple[int, SearchParameters]:
        """Returns visits and parameters of a cheap search."""
        return self.cheap_visits, self._parameters({"gumbel_moves": self.gumbel_moves} if self.root == "gumbel" else {})

    def _parameters(self, noise: Mapping[str, Any]) -> SearchParameters:
        parameters = SearchParameters()
        for name, value in {**_PARAMETERS, **noise, **self.parameters}.items():
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

    workers: int = setting(0, "Self-play processes; 0: one for each CPU.", 0)
    concurrency: int = setting(32, "Games at a time in each self-play process.", 1)
    threads: int = setting(0, "CPU threads for learning and matches; 0: all.", 0)
    device: str = setting(AUTO, "Device of the networks: auto, cpu, cuda or mps.", accepted=(AUTO, *DEVICES))
    precision: str = setting(AUTO, "Precision of networks that play.", accepted=(AUTO, *PRECISIONS))


@dataclass(frozen=True)
class CycleSettings:
    """The run: each cycle plays games, learns from the latest ones and writes a network."""

    network: str = setting("b4c32", "The network: blocks and channels, as in b6c96 or b10c128-mish.")
    cycles: int = setting(30, "Number of cycles; the learning rate decays towards the last one.", 1)
    games: int = setting(1500, "Games per cycle.", 1)
    random_games: int = setting(3000, "Random games from which scores are learned before the first cycle; 0: none.", 0)
    seed: int = setting(1, "Random seed.", 0, 2**62)
    shard_games: int = setting(100, "Games per shard and per SGF file.", 1)
    comments: bool = setting(False, "Whether comments in the SGF files report what each search found.")


@dataclass(frozen=True)
class WindowSettings:
    """The window: how many of the latest samples a cycle learns from (KataGo's shuffle.py). It grows with the number N
    of all samples: least + growth ((N - least + scale)^power - scale^power) / (power scale^(power-1))."""

    least: int = setting(50_000, "Up to this number all samples are in the window.", 1)
    growth: float = setting(0.4, "Initial growth of the window, in samples per new sample.", 0, 1)
    power: float = setting(0.65, "Exponent of the growth: below 1 it slows down.", 0.01, 1)
    scale: int = setting(25_000, "Number of samples at which the growth slows down: larger means later.", 1)

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
        0.4, "Share of a run's samples, at its end, over which the learning rate decays; 0: no decay.", 0, 1
    )
    last_rate: float = setting(0.05, "Learning rate at the end, as a share of the peak.", 0, 1)
    precision: str = setting(
        AUTO,
        "Precision of the training; auto: the one that was faster when the run began.",
        accepted=(AUTO, "float32", "bfloat16"),
    )
    samples: int = setting(
        250_000, "Samples to learn: in each cycle, or in the whole run from records; 0: use epochs.", 0
    )
    epochs: int = setting(0, "If samples is 0: how often each sample of the window, or of the records, is learned.", 0)
    random_epochs: int = setting(2, "How often each sample of the random games is learned.", 1)
    searched_share: float = setting(
        0.0, "Share of the value target that comes from the search instead of the game's result.", 0, 1
    )


@dataclass(frozen=True)
class MatchSettings:
    """Matches between the networks of a run. An interrupted match is played again from the start."""

    every: int = setting(
        5, "Cycles between two measurements of Elo, each against the network of the one before; 0: never.", 0
    )
    games: int = setting(60, "Games per match that measures Elo.", 2)
    visits: int = setting(32, "Visits per move in matches.", 1)
    gate: bool = setting(False, "Whether a new network plays only after it has beaten the current one.")
    gate_games: int = setting(40, "Games of the match that decides whether a new network plays.", 2)
    gate_score: float = setting(0.5, "Score that a new network must exceed in that match.", 0, 1)


@dataclass(frozen=True)
class RecordSettings:
    """What a run without self-play learns: game records, or a teacher's outputs for positions."""

    network: str = setting("b6c96", "The network: blocks and channels, as in b6c96 or b10c128-mish.")
    games: list[str] = setting([], "Game records to learn, or for the teacher to label: files and folders.")  # noqa: RUF009
    board_sizes: list[str] = setting([], "Board sizes of the records to use; none: all.")  # noqa: RUF009
    rank: str = setting("", "Lowest rank of both players, such as 4d or 1p; empty: any.")
    since: str = setting("", "First day or year of the records to use, such as 2000 or 2015-03-31; empty: any.")
    until: str = setting("", "Last day or year of the records to use; empty: any.")
    least_moves: int = setting(20, "Lowest number of moves of a record.", 1)
    teacher: str = setting("", "File of the network whose outputs are learned instead of the records; empty: none.")
    labels: str = setting("", "Folder of these outputs; empty: the folder labels of the run, if there is a teacher.")
    positions: int = setting(100_000, "Approximate number of positions for the teacher to label.", 1)
    label_sizes: dict[str, float] = setting(  # noqa: RUF009
        {}, "Board sizes of these positions and their weights; none: 7 to 19.", 0, names="sizes"
    )
    seed: int = setting(1, "Random seed.", 0, 2**62)
    report: int = setting(25_600, "Samples between two lines of the log.", 1)
    validate: int = setting(256_000, "Samples between two validations.", 1)
    validation_samples: int = setting(8192, "Positions to validate with, from games that are held back.", 1)

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
        if not any(self.games.sizes.values()):
            raise UserError("no board size has a weight above 0")

    @property
    def command(self) -> str:
        """The command whose run has these settings, `learn` or `train`."""
        return "learn" if self.records.has_source else "train"

    @property
    def network(self) -> str:
        """The architecture of the network."""
        return self.records.network if self.records.has_source else self.cycle.network

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
