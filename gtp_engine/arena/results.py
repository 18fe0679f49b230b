"""The results of a match, in memory and in a folder in which it resumes."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from ..base.errors import UserError
from ..base.files import folder_lock, write_text
from ..base.nesting import parse_json
from ..base.plain import from_json
from ..go.game import Game
from ..go.sgf import GameRecord, write_sgf
from .elo import Sprt, Tally, elo_difference, elo_interval, score_interval
from .match_settings import MatchSettings

SETTINGS_FILE = "match.json"
RESULTS_FILE = "results.jsonl"


class EndReason(StrEnum):
    """Why a game ended."""

    SCORE = "score"  # two passes, or the move cap under rules by which all stones stand
    RESIGNATION = "resignation"
    MOVE_CAP = "move cap"  # nobody has agreed on the dead stones: no result
    TIME = "time"
    ILLEGAL_MOVE = "illegal move"
    CRASH = "crash"
    SILENCE = "silence"
    GARBAGE = "garbage"
    REFUSAL = "refusal"


# The reasons that are a fault of the losing engine.
FAULTS = frozenset(EndReason) - {EndReason.SCORE, EndReason.RESIGNATION, EndReason.MOVE_CAP}


@dataclass(frozen=True)
class GameResult:
    """One game of a match between the players "A" and "B"."""

    number: int  # from 0; games 2n and 2n+1 share an opening
    black: str  # the player who had Black
    winner: str | None  # "A", "B", or None for a draw or no result
    result: str  # as in SGF
    reason: str  # a value of `EndReason`
    moves: int  # their number, those of the opening included
    names: Mapping[str, str]  # that the players report, by player
    seconds: Mapping[str, float]  # used, by player; empty for networks, whose games share the time of their batches
    claims: Mapping[str, str]  # responses of GTP engines to `final_score`, by player
    notes: tuple[str, ...] = ()  # one line for each problem
    sgf: str = ""  # the name of the record in the match's folder, "" if it is not saved

    @property
    def white(self) -> str:
        return "B" if self.black == "A" else "A"


@dataclass(frozen=True)
class MatchResult:
    """The games played so far, and what follows from them.

    Everything is from the perspective of player "A": its wins, its score, and Elo above zero if it is stronger.

    Attributes:
        commands: How each player was given: a command line, or a network.
        planned: Number of games of the whole match.
        games: The games played so far, ordered by number.
        sprt: The sequential test, if there is one.
    """

    commands: dict[str, str]
    planned: int
    games: tuple[GameResult, ...]
    sprt: Sprt | None = None

    @property
    def tally(self) -> Tally:
        """Wins, draws, losses and the scores of pairs of games."""
        winners = Counter(game.winner for game in self.games)
        points: dict[int, list[float]] = {}
        for game in self.games:
            points.setdefault(game.number // 2, []).append({"A": 1.0, "B": 0.0}.get(game.winner or "", 0.5))
        pairs = Counter(int(2 * sum(pair)) for pair in points.values() if len(pair) == 2)
        counts = (pairs[0], pairs[1], pairs[2], pairs[3], pairs[4])
        return Tally(winners["A"], winners[None], winners["B"], counts)

    @property
    def verdict(self) -> str | None:
        """The hypothesis that the sequential test has accepted, "H0" or "H1"; None if undecided or without a test."""
        return self.sprt.verdict(self.tally) if self.sprt else None

    @property
    def is_over(self) -> bool:
        """Whether all games are played or the sequential test has decided."""
        return len(self.games) >= self.planned or self.verdict is not None

    def name(self, engine: str) -> str:
        """Returns the name that a player reports; before the first game its command."""
        return self.games[-1].names[engine] if self.games else self.commands[engine]

    @property
    def broken_off(self) -> int:
        """Number of games that reached the largest number of moves and were not counted; they are draws."""
        return sum(game.reason == EndReason.MOVE_CAP for game in self.games)

    def faults(self, engine: str) -> int:
        """Returns the number of games that a player lost by its own fault."""
        return sum(game.reason in FAULTS and game.winner != engine for game in self.games)

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole result for JSON; infinite Elo values become None."""
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
            "score_interval": list(score_interval(tally)),
            "elo": _finite(elo_difference(tally.score)),
            "elo_interval": [_finite(end) for end in elo_interval(tally)],
        }
        if self.sprt:
            lower, upper = self.sprt.bounds
            ratio = self.sprt.ratio(tally)
            report["sprt"] = asdict(self.sprt) | {"llr": ratio, "bounds": [lower, upper], "verdict": self.verdict}
        return report | {"games": [asdict(game) for game in self.games]}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


OnGame: TypeAlias = Callable[[MatchResult, GameResult], None]
"""Called after each game with all results so far and that game's."""


class MatchBook:
    """The results of a match, and which games are still to be played; `open_book` makes it.

    Attributes:
        result: The match so far.
        is_over: Whether no further game is needed.
    """

    def __init__(
        self, commands: dict[str, str], settings: MatchSettings, on_game: OnGame | None, saved: list[GameResult]
    ) -> None:
        self._commands = commands
        self._settings = settings
        self._on_game = on_game
        self._results = {result.number: result for result in saved if result.number < settings.games}
        self._update()

    def _update(self) -> None:
        games = tuple(self._results[number] for number in sorted(self._results))
        self.result = MatchResult(self._commands, self._settings.games, games, self._settings.sprt)
        self.is_over = self.result.is_over

    @property
    def missing(self) -> list[int]:
        """The numbers of the games still to be played."""
        return [number for number in range(self._settings.games) if number not in self._results]

    def add(self, result: GameResult, record: GameRecord) -> None:
        """Saves and counts a game, or ignores it if the match was decided before; OSError if it cannot be written."""
        if self.is_over:
            return
        folder = self._settings.folder
        if folder is not None:
            result = replace(result, sgf=f"game-{result.number + 1:04d}.sgf")
            write_sgf(record, folder / result.sgf, overwrite=True)
            append_result(folder, result)
        self._results[result.number] = result
        self._update()
        if self._on_game:
            self._on_game(self.result, result)


@contextmanager
def open_book(
    commands: dict[str, str],
    settings: MatchSettings,
    on_game: OnGame | None = None,
    states: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[MatchBook]:
    """Opens the results of a match for a `with` block; the folder is locked meanwhile against other programs.

    A folder without a finished game becomes that of this match: a mistyped command line is to be corrected there.
    `commands` say how each player, "A" and "B", was given, and `states` what else must not change between the pieces of
    a match. `on_game` is called with each game that is added.

    Raises UserError if another program plays this match, or the folder holds another match or damaged results, and
    OSError if it cannot be written.
    """
    if settings.folder is None:
        yield MatchBook(commands, settings, on_game, [])
        return
    settings.folder.mkdir(parents=True, exist_ok=True)
    with folder_lock(settings.folder):
        for left in settings.folder.glob(".*.tmp.*"):  # by a program that was killed
            left.unlink(missing_ok=True)
        saved = _saved_games(settings.folder, {**settings.to_dict(commands), **states})
        yield MatchBook(commands, settings, on_game, saved)


def _saved_games(folder: Path, facts: dict[str, Any]) -> list[GameResult]:
    """Returns the games in a folder; raises UserError if it is that of a match for which other facts hold."""
    file, results = folder / SETTINGS_FILE, folder / RESULTS_FILE
    known: dict[str, Any] | None = None
    if file.exists():
        try:
            if not isinstance(known := parse_json(file.read_text(encoding="utf-8")), dict):
                raise ValueError("expected the settings of a match")
        except ValueError as error:
            raise UserError(f"{file} is damaged: {error}") from error
    elif results.exists():
        raise UserError(f"{folder} holds the games of a match without its {SETTINGS_FILE}; choose another folder")
    has_games = results.exists() and b"\n" in results.read_bytes()
    # Without the keys of a match it may be another program's file.
    if known is None or (not has_games and known.keys() >= facts.keys()):
        write_text(file, json.dumps(facts, indent=2) + "\n")
        return _read_results(results)
    for key, here in facts.items():
        there = known.get(key)
        # A network's file may have been moved: its checksum tells that it is the same.
        has_moved = bool(facts.get(f"SHA-256 of {key}")) and Path(str(there)).name == Path(str(here)).name
        if there != here and not has_moved:
            raise UserError(f"{folder} holds another match: its {key} is {there}, not {here}; choose another folder")
    return _read_results(results)


def _read_results(file: Path) -> list[GameResult]:
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        # The program was ended while it wrote this line; the game is played again.
        lines.pop()
        write_text(file, b"".join(lines).decode())
    results = {}
    for number, line in enumerate(lines, 1):
        try:
            result: GameResult = from_json(GameResult, line)
            if not ({result.black, result.winner or "A"} <= {"A", "B"} == result.names.keys() and result.number >= 0):
                raise ValueError("expected the players A and B, and the number of a game")
        except ValueError as error:
            raise UserError(f"{file}, line {number} is damaged: {error}") from error
        results[result.number] = result
    return list(results.values())


def append_result(folder: Path, result: GameResult) -> None:
    """Appends a game to the results in the folder. Raises OSError with the file's path."""
    file = folder / RESULTS_FILE
    try:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(result)) + "\n")
    except OSError as error:  # that of a full disk names no file
        raise OSError(error.errno, error.strerror, str(file)) from error


def write_json(file: Path, result: MatchResult) -> None:
    """Writes the whole result to a file, atomically."""
    write_text(file, json.dumps(result.to_dict(), indent=2) + "\n")


def is_result_of(file: Path, folder: Path) -> bool:
    """Whether a file is a result, by `write_json`, of the match in this folder: all games of the file are there.

    What is not a regular file is not read: reading a pipe waits until something is written to it.
    """
    if not file.is_file():
        return False
    try:
        games = parse_json(file.read_text(encoding="utf-8"))["games"]
        lines = {json.dumps(game) for game in games}
        return bool(lines) and lines <= set((folder / RESULTS_FILE).read_text(encoding="utf-8").splitlines())
    except (OSError, ValueError, TypeError, KeyError):
        return False


def match_record(game: Game, result: GameResult) -> GameRecord:
    """Returns the SGF record of a game."""
    black, white = (f"{result.names[player]} ({player})" for player in (result.black, result.white))
    comments = {len(game.moves): "\n".join([result.reason, *result.notes])}  # how it ended, at its last position
    record = GameRecord.from_game(game, black=black, white=white, result=result.result, comments=comments)
    record.set_text("RO", str(result.number + 1))
    return record
