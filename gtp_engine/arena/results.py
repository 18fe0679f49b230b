"""The results of a match."""

import math
from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from .elo import Tally, elo_difference, elo_interval, score_interval
from .sprt import Sprt


class EndReason(StrEnum):
    """Why a game ended."""

    SCORE = "score"  # two passes
    RESIGNATION = "resignation"
    MOVE_CAP = "move cap"
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
    """One game of a match between the players "A" and "B".

    Attributes:
        number: The game's number, from 0; games 2n and 2n+1 share an opening.
        black: The player who had Black.
        winner: "A", "B", or None for a draw or no result.
        result: The result as in SGF.
        reason: Why the game ended: a value of `EndReason`.
        moves: Number of moves, those of the opening included.
        names: The names that the players report, by player.
        seconds: Time used, by player; empty for networks, whose games share the time of their batches.
        claims: GTP engines' responses to `final_score`, by player.
        notes: One line for each problem.
        sgf: Name of the record in the match's folder, "" if it is not saved.
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
        """Number of games that reached the largest number of moves; they count as draws."""
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
