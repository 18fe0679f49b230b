"""The results of a match, in memory and in the folder from which it continues."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .elo import Tally, elo_difference, elo_interval, wilson_interval
from .sprt import Sprt

SETTINGS_FILE = "match.json"
RESULTS_FILE = "results.jsonl"
# Ends of a game that are an engine's fault.
FAULTS = ("time", "illegal move", "crash", "silence", "garbage", "refusal")


@dataclass(frozen=True)
class GameResult:
    """One game of a match between the engines "A" and "B".

    number: from 0; games 2n and 2n+1 share an opening. names: what the engines call themselves.
    winner: "A", "B", or None for a draw or no result.
    result, reason, seconds, claims, notes: as in `referee.Outcome`, by engine instead of colour.
    sgf: name of the record in the match's folder, "" where none is saved.
    """

    number: int
    black: str
    winner: str | None
    result: str
    reason: str
    moves: int
    names: dict[str, str]
    seconds: dict[str, float]
    claims: dict[str, str]
    notes: tuple[str, ...] = ()
    sgf: str = ""


@dataclass(frozen=True)
class MatchResult:
    """The games played so far out of `planned`, in the order of their numbers, and what follows from them.

    Everything is from the view of engine "A": its wins, its score, Elo above zero when it is the stronger one.
    """

    commands: dict[str, str]
    planned: int
    games: tuple[GameResult, ...]
    sprt: Sprt | None = None

    @property
    def tally(self) -> Tally:
        winners = Counter(game.winner for game in self.games)
        points: dict[int, list[float]] = {}
        for game in self.games:
            points.setdefault(game.number // 2, []).append({"A": 1.0, "B": 0.0}.get(game.winner or "", 0.5))
        pairs = Counter(int(2 * sum(pair)) for pair in points.values() if len(pair) == 2)
        counts = (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4])
        return Tally(winners["A"], winners[None], winners["B"], counts)

    @property
    def verdict(self) -> str | None:
        """What the sequential test has accepted, "H0" or "H1"; None while it hasn't, or without one."""
        return self.sprt.verdict(self.tally) if self.sprt else None

    @property
    def is_over(self) -> bool:
        return len(self.games) >= self.planned or self.verdict is not None

    def name(self, engine: str) -> str:
        """What the engine calls itself, or its command before the first game."""
        return self.games[-1].names[engine] if self.games else self.commands[engine]

    def faults(self, engine: str) -> int:
        """The games that an engine lost by a fault of its own."""
        return sum(game.reason in FAULTS and game.winner != engine for game in self.games)

    def to_dict(self) -> dict[str, Any]:
        """The whole result for JSON; an infinite end of an interval is None."""
        tally = self.tally
        report: dict[str, Any] = {
            "engines": {
                engine: {"command": command, "name": self.name(engine), "faults": self.faults(engine)}
                for engine, command in self.commands.items()
            },
            "planned": self.planned,
            "played": tally.games,
            "wins": tally.wins,
            "draws": tally.draws,
            "losses": tally.losses,
            "pairs": list(tally.pairs),
            "score": tally.score,
            "score_interval": list(wilson_interval(tally.score, tally.games)),
            "elo": _finite(elo_difference(tally.score)),
            "elo_interval": [_finite(end) for end in elo_interval(tally)],
        }
        if self.sprt:
            lower, upper = self.sprt.bounds
            ratio = self.sprt.ratio(tally)
            report["sprt"] = asdict(self.sprt) | {"llr": ratio, "bounds": [lower, upper], "verdict": self.verdict}
        return report | {"games": [asdict(game) for game in self.games]}


def open_folder(folder: Path, settings: dict[str, Any]) -> list[GameResult]:
    """Makes the folder of a match, or reads the games already played there.

    Raises ValueError where the folder holds a match with other settings, OSError where it can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / SETTINGS_FILE
    if not file.exists():
        _replace(file, json.dumps(settings, indent=2) + "\n")
        return []
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{file} is damaged: {error}") from error
    for key in settings:
        if known.get(key) != settings[key]:
            there, here = known.get(key), settings[key]
            raise ValueError(f"{folder} holds another match: its {key} is {there}, not {here}; choose another folder")
    return _read_results(folder / RESULTS_FILE)


def append_result(folder: Path, result: GameResult) -> None:
    """Adds a game to the results of the folder."""
    with _named(folder / RESULTS_FILE), (folder / RESULTS_FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def write_json(file: Path, result: MatchResult) -> None:
    """Writes the whole result; the file is there whole or not at all."""
    _replace(file, json.dumps(result.to_dict(), indent=2) + "\n")


def _read_results(file: Path) -> list[GameResult]:
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        # The program was ended while it wrote this line; the game is played again.
        lines.pop()
        _replace(file, b"".join(lines).decode())
    results = {}
    for number, line in enumerate(lines, 1):
        try:
            fields = json.loads(line)
            result = GameResult(**fields | {"notes": tuple(fields["notes"])})
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{file}, line {number} is damaged: {error}") from error
        results[result.number] = result
    return list(results.values())


def _replace(file: Path, text: str) -> None:
    temporary = file.with_name(file.name + ".part")
    with _named(file):
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(file)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def _named(file: Path) -> Iterator[None]:
    """Names the file in an error that writing it raises: a full disk's names none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
