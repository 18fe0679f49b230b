"""The settings of self-play and of a run: what each means, its usual value and what it accepts; TOML in and out.

A run's folder holds them all in `settings.toml`, written by `to_toml`, so that nothing depends on defaults that a later
version may change.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomlkit

from ..evaluate.choices import AUTO, DEVICES, LARGEST_BOARD, PRECISIONS
from ..game.coords import MIN_SIZE
from ..game.rules import Rules, default_komi, parse_rules
from ..network.config import parse_config
from ..search.parameters import SearchParameters

VERSION = 1  # of a run's folder

# How searches in self-play differ from those in play: without what only pays with many visits, and curious. The root's
# policy is no other than the tree's, so that root and leaves share batches.
_PARAMETERS = {"choice": "visits", "symmetry": "random", "c_puct": 1.1, "score_utility": 0.1}
# AlphaZero's noise (Silver et al. 2018), KataGo's forced playouts (Wu 2019).
_PUCT = {"root_noise": 0.25, "forced_playouts": 2.0}


def _setting(default: Any, meaning: str, low: float | None = None, high: float | None = None, **more: Any) -> Any:
    """A field with its meaning and the accepted range."""
    metadata = {"meaning": meaning, "low": low, "high": high, **more}
    if isinstance(default, dict | list):
        return field(default_factory=default.copy, metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True)
class GameSettings:
    """What is played."""

    sizes: dict[str, float] = _setting({"9": 1.0}, "Boards, and how often each is played.", 0, names="sizes")  # noqa: RUF009
    rules: list[str] = _setting(["tromp-taylor", "chinese"], "Rulesets, one drawn for each game; area scoring only.")  # noqa: RUF009
    komi: dict[str, float] = _setting({}, "The fair komi of a size; of the others it is the usual one.", names="sizes")  # noqa: RUF009
    komi_spread: float = _setting(1.5, "Komi is drawn round the fair one, with this deviation, in halves.", 0)
    wide_komi_share: float = _setting(0.06, "In this share of the games with another deviation:", 0, 1)
    wide_komi_spread: float = _setting(8.0, "this one, so that uneven games are known too.", 0)
    opening_share: float = _setting(
        0.04, "The first moves are drawn from the policy: on average so many, as a share of the board's points.", 0, 1
    )
    opening_temperature: float = _setting(1.0, "Of that draw: above 1 flatter, below sharper.", 0.01, 100)
    moves_per_point: float = _setting(2.0, "A game is counted as it stands after so many moves a point.", 0.1, 20)
    sure_winrate: float = _setting(
        0.95, "A game is decided once a side holds its chance to win to be so high ...", 0.5, 1
    )
    sure_moves: int = _setting(3, "... at so many positions in a row. It is played on with cheap searches.", 1)
    sure_weight: float = _setting(0.25, "What a position of a decided game weighs as a sample.", 0, 1)
    check_share: float = _setting(0.1, "Share of the games that are played on as if not decided, as a check.", 0, 1)

    @property
    def boards(self) -> dict[tuple[int, int], float]:
        """The sizes (width, height) and their weights."""
        return {parse_size(name): weight for name, weight in self.sizes.items()}

    def fair_komi(self, width: int, height: int) -> float:
        """Round which komi is drawn."""
        given = {parse_size(name): komi for name, komi in self.komi.items()}
        return given.get((width, height), default_komi(width, height))

    def rulesets(self) -> list[Rules]:
        """ValueError for unknown rules and those that count territory, which self-play cannot settle."""
        rulesets = [parse_rules(name) for name in self.rules]
        for name, rules in zip(self.rules, rulesets, strict=True):
            if rules.scoring != "AREA":
                raise ValueError(f"the rules {name!r} count territory; self-play needs area scoring, such as chinese")
        return rulesets


@dataclass(frozen=True)
class SearchSettings:
    """How moves are searched."""

    root: str = _setting(
        "gumbel",
        'The search of the root: "gumbel", or "puct" with noise, for 100 visits and more.',
        accepted=("gumbel", "puct"),
    )
    visits: dict[str, int] = _setting(  # noqa: RUF009
        {"0": 32}, "Visits of a full search, from each of these cycles on.", 1, names="cycles"
    )
    full_share: float = _setting(1.0, "Share of moves with a full search; only these are samples.", 0.01, 1)
    cheap_visits: int = _setting(8, "Visits of the others, and of decided games; without noise.", 1)
    gumbel_moves: int = _setting(8, "Moves that Gumbel's root begins with.", 2, 400)
    temperature: float = _setting(1.0, "With puct: randomness of the choice among visits, for ...", 0)
    temperature_moves: int = _setting(6, "... so many first moves, after which it falls ...", 0)
    temperature_halflife: float = _setting(9.0, "... by half in so many moves (0: at once) ...", 0)
    late_temperature: float = _setting(0.15, "... to this.", 0)
    parameters: dict[str, Any] = _setting({}, "Other parameters of the search, as of --set.", names="parameters")  # noqa: RUF009

    def full(self, cycle: int) -> tuple[int, SearchParameters]:
        """Visits and parameters of a full search in a cycle."""
        visits = max((int(start), count) for start, count in self.visits.items() if int(start) <= cycle)[1]
        noise = {"gumbel_moves": self.gumbel_moves, "gumbel_noise": 1.0} if self.root == "gumbel" else _PUCT
        return visits, self._parameters(noise)

    def cheap(self) -> tuple[int, SearchParameters]:
        """Visits and parameters of a cheap search."""
        return self.cheap_visits, self._parameters({"gumbel_moves": self.gumbel_moves} if self.root == "gumbel" else {})

    def _parameters(self, noise: Mapping[str, Any]) -> SearchParameters:
        parameters = SearchParameters()
        for name, value in {**_PARAMETERS, **noise, **self.parameters}.items():
            parameters = parameters.with_value(name, value)
        return parameters

    def temperature_at(self, moves: int) -> float:
        """Of the choice after so many moves; Gumbel's noise needs none beside it."""
        if self.root == "gumbel":
            return 0.0
        over = moves - self.temperature_moves
        if over < 0:
            return self.temperature
        left = 0.5 ** (over / self.temperature_halflife) if self.temperature_halflife > 0 else 0.0
        return self.late_temperature + (self.temperature - self.late_temperature) * left


@dataclass(frozen=True)
class MachineSettings:
    """Where it runs; it may be changed at any time."""

    workers: int = _setting(0, "Processes that play; 0: one for each processor.", 0)
    concurrency: int = _setting(32, "Games side by side in each of them.", 1)
    threads: int = _setting(0, "Processor threads for learning and matches; 0: all.", 0)
    device: str = _setting(AUTO, "auto, cpu, cuda or mps.", accepted=(AUTO, *DEVICES))
    precision: str = _setting(AUTO, "Of networks that play.", accepted=(AUTO, *PRECISIONS))


@dataclass(frozen=True)
class CycleSettings:
    """The run: each cycle plays games and learns from the last ones."""

    network: str = _setting("b4c32", "The network: blocks and channels, as in b6c96 or b10c128-mish.")
    cycles: int = _setting(30, "How many; the learning rate falls towards their end.", 1)
    games: int = _setting(1500, "Games a cycle.", 1)
    random_games: int = _setting(3000, "Random games to learn scores from before the first cycle; 0 for none.", 0)
    seed: int = _setting(1, "Of all that is drawn at random.", 0, 2**62)
    shard_games: int = _setting(100, "Games in a shard, and in an SGF file.", 1)
    comments: bool = _setting(False, "Whether the SGF files say what each search found.")


@dataclass(frozen=True)
class WindowSettings:
    """From how many of the last samples a cycle learns (KataGo's shuffle.py): growing with the number N of all,
    least + growth ((N - least + scale)^power - scale^power) / (power scale^(power-1))."""

    least: int = _setting(50_000, "All samples count up to this number.", 1)
    growth: float = _setting(0.4, "Growth at first, in samples a sample.", 0, 1)
    power: float = _setting(0.65, "Below 1 it slows down: ...", 0.01, 1)
    scale: int = _setting(25_000, "... the larger this is the later.", 1)

    def size(self, samples: int) -> int:
        """The window where there are so many samples."""
        if samples <= self.least:
            return samples
        x, s = samples - self.least + self.scale, self.scale
        grown = self.growth * (x**self.power - s**self.power) / (self.power * s ** (self.power - 1))
        return min(samples, round(self.least + grown))


@dataclass(frozen=True)
class LearnSettings:
    """How a cycle learns; see `learner.LearnerSettings` and `losses.LossWeights`."""

    samples: int = _setting(250_000, "Samples drawn a cycle; 0: by epochs.", 0)
    epochs: int = _setting(0, "Where samples is 0: how often each sample of the window is drawn.", 0)
    random_epochs: int = _setting(2, "How often each sample of the random games is drawn.", 1)
    batch_size: int = _setting(256, "Samples of a step.", 2)
    optimizer: str = _setting("adamw", "adamw or sgd.", accepted=("adamw", "sgd"))
    learning_rate: float = _setting(2e-3, "The highest one.", 0)
    warm_up: int = _setting(50_000, "Samples over which it rises.", 0)
    drop_share: float = _setting(0.4, "It falls over this last part of a run by samples; 0: never ...", 0, 1)
    last_rate: float = _setting(0.05, "... to this share.", 0, 1)
    weight_decay: float = _setting(0.02, "Of weights, not of biases and norms.", 0)
    average: int = _setting(200_000, "Samples that the network which plays is averaged over; 0: not at all.", 0)
    searched_share: float = _setting(0.0, "How much of a value target is what the search said, not how it ended.", 0, 1)
    precision: str = _setting(AUTO, "Of learning; auto: the faster one.", accepted=(AUTO, "float32", "bfloat16"))


@dataclass(frozen=True)
class LossSettings:
    """What each loss weighs; 0: it is not learned."""

    policy: float = _setting(1.0, "The moves that the search prefers.", 0)
    opponent: float = _setting(0.15, "The opponent's reply.", 0)
    value: float = _setting(0.72, "Who wins.", 0)
    score: float = _setting(0.015, "By how much.", 0)
    stdev: float = _setting(0.01, "How uncertain that is.", 0)
    lead: float = _setting(0.006, "By how much, in play to come.", 0)
    ownership: float = _setting(1.5, "Whose each point will be.", 0)
    errors: float = _setting(0.1, "How wrong value and score are.", 0)


@dataclass(frozen=True)
class MatchSettings:
    """Matches between the networks of a run; each is played in one go, so a piece of a run must have time for it."""

    every: int = _setting(
        5, "Elo is measured at every so many cycles against the network of the last time; 0: never.", 0
    )
    games: int = _setting(60, "Games of such a match.", 2)
    visits: int = _setting(32, "A move.", 1)
    gate: bool = _setting(False, "Whether a new network plays only once it has beaten the one that plays ...")
    gate_games: int = _setting(40, "... in a match of so many games ...", 2)
    gate_score: float = _setting(0.5, "... with more than this score.", 0, 1)


@dataclass(frozen=True)
class RunSettings:
    """All of a run's; self-play alone takes `games`, `search` and `machine`."""

    cycle: CycleSettings = field(default=CycleSettings())
    games: GameSettings = field(default_factory=GameSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    window: WindowSettings = field(default=WindowSettings())
    learn: LearnSettings = field(default=LearnSettings())
    losses: LossSettings = field(default=LossSettings())
    match: MatchSettings = field(default=MatchSettings())
    machine: MachineSettings = field(default=MachineSettings())

    def __post_init__(self) -> None:
        parse_config(self.cycle.network)
        if not self.learn.samples and not self.learn.epochs:
            raise ValueError("samples and epochs in [learn] are both 0: nothing would be learned")
        self.games.rulesets()
        self.search.full(0), self.search.cheap()
        if not any(self.games.sizes.values()):
            raise ValueError("no board size has a weight above 0")


def parse_size(name: str) -> tuple[int, int]:
    """Width and height of `9` or `13x9`; ValueError for others and what is larger than networks take."""
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", name)
    width, height = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if min(width, height) < MIN_SIZE or max(width, height) > LARGEST_BOARD:
        raise ValueError(f"{name!r} is no board size from {MIN_SIZE} to {LARGEST_BOARD}, such as 9 or 13x9")
    return width, height


def to_toml(settings: RunSettings) -> str:
    """Every setting with its meaning."""
    document = tomlkit.document()
    document.add("version", tomlkit.item(VERSION))
    for section in fields(settings):
        table = tomlkit.table()
        values = getattr(settings, section.name)
        for line in (type(values).__doc__ or "").split("\n"):
            table.add(tomlkit.comment(line.strip()))
        for item in fields(values):
            table.add(tomlkit.comment(item.metadata["meaning"]))
            table.add(item.name, _toml_value(getattr(values, item.name)))
        document.add(section.name, table)
    return tomlkit.dumps(document)


def _toml_value(value: Any) -> Any:
    if isinstance(value, dict):
        table = tomlkit.inline_table()
        table.update(value)
        return table
    return tomlkit.item(value)


def read_settings(path: Path) -> RunSettings:
    """The settings of a file, the usual ones where it is silent. ValueError names the file, the line and what is wrong;
    OSError where it cannot be read."""
    try:
        return parse_settings(path.read_text(encoding="utf-8-sig"))  # editors on Windows begin with a mark
    except ValueError as error:  # among them what is no UTF-8 and no TOML
        raise ValueError(f"{path}{error}" if str(error).startswith(",") else f"{path}: {error}") from error


def parse_settings(text: str) -> RunSettings:
    """The settings of a TOML text; ValueError, which begins with `, line N: ` where a line is to blame."""
    tables = tomllib.loads(text)
    version = tables.pop("version", VERSION)
    if version != VERSION:
        raise ValueError(
            f"{_line(text, '', 'version')}settings of version {version!r}; this program knows version {VERSION}. Begin "
            "a new run folder, from this one's network with --from, or go on with the program that made it"
        )
    sections = {item.name: item for item in fields(RunSettings)}
    parts = {}
    for name, table in tables.items():
        if name not in sections or not isinstance(table, dict):
            where = _line(text, "", name)
            if name in sections:
                raise ValueError(f"{where}{name} is a section: expected [{name}] and its settings below, got {table!r}")
            what = "section" if isinstance(table, dict) else "setting outside of the sections"
            raise ValueError(f"{where}unknown {what} {name!r}{_nearest(name, sections)}")
        kind = type(getattr(RunSettings(), name))
        parts[name] = kind(**_checked(text, name, kind, table))
    return RunSettings(**parts)


def _checked(text: str, section: str, kind: type, table: Mapping[str, Any]) -> dict[str, Any]:
    known = {item.name: item for item in fields(kind)}
    default = kind()
    values = {}
    for name, value in table.items():
        where = _line(text, section, name)
        if name not in known:
            raise ValueError(f"{where}unknown setting {name!r} in [{section}]{_nearest(name, known)}")
        try:
            values[name] = _accepted(value, getattr(default, name), known[name].metadata)
        except ValueError as error:
            raise ValueError(f"{where}{name}: {error}") from error
    return values


def _accepted(value: Any, default: Any, metadata: Mapping[str, Any]) -> Any:
    """The value in the type of the default; ValueError says what is expected."""
    if isinstance(default, dict):
        if not isinstance(value, dict) or (not value and default):
            raise ValueError(f"expected a table such as {{ name = number }}, got {value!r}")
        return _accepted_table(value, metadata)
    if isinstance(default, list):
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            raise ValueError(f"expected a list of texts such as {default!r}, got {value!r}")
        return value
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(default):
        names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes"}
        raise ValueError(f"expected {names[type(default)]}, got {value!r}")
    accepted = metadata.get("accepted")
    if accepted and value not in accepted:
        raise ValueError(f"expected {' or '.join(accepted)}, got {value!r}")
    _check_range(value, metadata)
    return value


def _accepted_table(value: dict[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    if metadata["names"] == "parameters":
        parameters = SearchParameters()
        for name, number in value.items():
            parameters = parameters.with_value(name, number)
        return value
    whole = metadata["names"] == "cycles"
    for name, number in value.items():
        if whole and not name.isdecimal():
            raise ValueError(f"expected the number of a cycle, got {name!r}")
        if not whole:
            parse_size(name)
        if isinstance(number, bool) or not isinstance(number, int if whole else int | float):
            raise ValueError(f"expected a {'whole ' if whole else ''}number for {name}, got {number!r}")
        _check_range(number, metadata)
    if whole and "0" not in value:
        raise ValueError("expected a value for cycle 0")
    return value


def _check_range(value: Any, metadata: Mapping[str, Any]) -> None:
    low, high = metadata["low"], metadata["high"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not math.isfinite(value) or (low is not None and value < low) or (high is not None and value > high):
        lowest = "" if low is None else f" of {low:g} or more"
        raise ValueError(
            f"expected a number{f' from {low:g} to {high:g}' if high is not None else lowest}, got {value!r}"
        )


def _nearest(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, known, 1, 0.5)
    return f": did you mean {near[0]!r}?" if near else f" (known: {', '.join(known)})"


def _line(text: str, section: str, name: str) -> str:
    """`, line N: ` of a setting, or of a section's head where `section` is empty; empty where it is not found.

    A setting that is a table may have a head of its own, as in `[search.parameters]`.
    """
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        head = re.match(r"\s*\[\s*([^\]\s]+)\s*\]", line)
        if head:
            inside = head[1]
            if inside == (f"{section}.{name}" if section else name):
                return f", line {number}: "
        elif inside == section and re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[.=]", line):
            return f", line {number}: "
    return ""
