"""How long the work of a run takes on this machine."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .run_settings import RunSettings
from .selfplay import Counts

_RECENT = 5  # cycles whose durations are averaged; matches are played in some of them only
# Moves of a game per point of the board, before any game has ended: those of networks that have learned nothing yet.
FIRST_MOVES_PER_POINT = 1.3


def duration_text(seconds: float) -> str:
    """Returns a duration in words with about two digits: `45 seconds`, `2.5 minutes`, `11 hours`."""
    for unit, length in (("hour", 3600.0), ("minute", 60.0)):
        if seconds >= 1.5 * length:
            count = seconds / length
            return f"{count:.1f} {unit}s".replace(".0 ", " ") if count < 10 else f"{count:,.0f} {unit}s"
    return f"{seconds:.0f} second{'' if round(seconds) == 1 else 's'}"


def first_estimate(settings: RunSettings, playing: "PlayingPace", counts: Counts, rate: float) -> str:
    """Returns a sentence about the durations of the first cycle and of all, before the first one is over.

    Args:
        settings: The settings of the run.
        playing: The pace of its self-play.
        counts: What this self-play has done so far.
        rate: Number of samples learned per second.
    """
    cycle, match = settings.cycle, settings.match
    moves = cycle.games * playing.length
    samples = moves * settings.search.full_share  # new ones in each cycle
    games = (match.games / match.every if match.every else 0) + (match.gate_games if match.gate else 0)
    evaluations_per_s = playing.moves_per_s * max(counts.positions, 1) / max(counts.moves, 1)
    parts = {
        "self-play": moves / playing.moves_per_s,
        "learning": _learned(settings, 1, samples) / rate,
        "matches": games * playing.length * match.visits / evaluations_per_s,
    }
    shares = ", ".join(f"{name} {duration_text(seconds)}" for name, seconds in parts.items() if seconds)
    per_visit = parts["self-play"] / _visits(settings, 1)
    total = _seconds(settings, range(1, cycle.cycles + 1), per_visit, samples, rate) + cycle.cycles * parts["matches"]
    first = duration_text(sum(parts.values()))
    return f"first estimate: the first cycle takes about {first} here ({shares}), {_all(cycle.cycles, total)}"


def measured_pace(lines: Sequence[Mapping[str, Any]], settings: RunSettings) -> str:
    """Returns a sentence about the cycles that are left, from the lines of the log; "" if they do not show it."""
    known = [line for line in lines if line.get("cycle_seconds")][-_RECENT:]
    done = max((line["cycle"] for line in lines), default=0)
    left = range(done + 1, settings.cycle.cycles + 1)
    if not known or not left:
        return ""
    seconds = sum(line["cycle_seconds"] for line in known)
    mean = seconds / len(known)
    samples, rate = known[-1].get("samples_in_all", 0) / done, known[-1].get("rate") or math.inf
    learning = sum(_learned(settings, line["cycle"], samples) / rate for line in known)
    others = max(0.0, seconds - learning)  # self-play and matches
    per_visit = others / sum(_visits(settings, line["cycle"]) for line in known)
    total = _seconds(settings, left, per_visit, samples, rate)
    return f"a cycle takes about {duration_text(mean)} here, {_all(len(left), total)}"


def _seconds(settings: RunSettings, cycles: range, per_visit: float, samples: float, rate: float) -> float:
    """Returns the seconds of some cycles, given those of self-play for each visit of a move."""
    return sum(per_visit * _visits(settings, number) + _learned(settings, number, samples) / rate for number in cycles)


def _learned(settings: RunSettings, cycle: int, samples: float) -> float:
    """Returns how many samples a cycle learns when every cycle adds this many to the window."""
    learn = settings.learn
    return learn.samples or learn.epochs * settings.window.size(round(cycle * samples))


def _visits(settings: RunSettings, cycle: int) -> float:
    """Returns the mean number of visits of a move in a cycle."""
    search = settings.search
    return search.full_share * search.full(cycle)[0] + (1 - search.full_share) * search.cheap_visits


def _all(cycles: int, seconds: float) -> str:
    return f"{'the last one' if cycles == 1 else f'the {cycles} to come'} about {duration_text(seconds)}"


class PlayingPace:
    """Tells when enough games will be finished. It counts moves, because all games begin together and none ends soon.

    Args:
        games: Number of games to finish.
        length: Expected number of moves of a game.
        new: Number of games that begin now and are in progress side by side; 0 if earlier ones continue.
    """

    def __init__(self, games: int, length: float, new: int) -> None:
        self.games, self.length, self._new = games, length, new
        self._first: tuple[float, int] | None = None  # the workers take some seconds to start
        self.moves_per_s = 0.0

    def update(self, seconds: float, moves: int, finished: int, finished_moves: int) -> float | None:
        """Returns the seconds that are left; None if this cannot be told yet.

        Args:
            seconds: Time since the beginning.
            moves: Moves that were played since then.
            finished: Number of games that were finished since then.
            finished_moves: Number of their moves.
        """
        if self._first is None:
            self._first = (seconds, moves) if moves else None
            return None
        if seconds > self._first[0]:
            self.moves_per_s = (moves - self._first[1]) / (seconds - self._first[0])
        if finished > max(self._new, 10):  # earlier, most of them would be short games
            self.length = finished_moves / finished
        # The games that are still in progress at the end have had half of their moves.
        wanted = self.length * (self.games + self._new / 2)
        return max(0.0, wanted - moves) / self.moves_per_s if self.moves_per_s else None
