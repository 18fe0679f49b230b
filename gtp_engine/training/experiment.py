"""An experiment: what a difference between two settings of self-play brings, over several seeds.

For each seed there are two runs, A and B, which differ in their settings alone, and a match between their last
networks. Runs of equal settings and seeds drift apart too, by the timing of their workers, and each match measures that
together with the difference asked for. So the matches of the seeds are the sample, and not the games of one match.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..arena.elo import Tally, elo_difference, elo_interval, expected_score, mean_margin, student_quantile
from ..base.errors import UserError
from ..base.messages import plural
from ..base.pool import Pool
from ..search.evaluate.choices import AUTO
from .log import last_cycle
from .new_run import given_settings
from .presets import NAMES
from .progress import Limit
from .run_folder import RunFolder
from .run_settings import RunSettings
from .selfplay_run import match_of, play_match_of

_PRECISION = "float32"  # in place of "auto", which could take another one for each run
_WANTED = 100.0  # Elo, for the number of seeds that the report names
_MOST_SEEDS = 1000


class Side(NamedTuple):
    """One side of an experiment: A or B, where its settings came from, and the settings."""

    name: str
    source: str
    settings: RunSettings

    def of_seed(self, seed: int) -> RunSettings:
        """Returns the settings of the run with a seed."""
        settings = replace(self.settings, cycle=replace(self.settings.cycle, seed=seed))
        if settings.learn.precision == AUTO:
            settings = replace(settings, learn=replace(settings.learn, precision=_PRECISION))
        if settings.machine.precision == AUTO:
            settings = replace(settings, machine=replace(settings.machine, precision=_PRECISION))
        return settings


class Experiment:
    """An experiment in a folder: `seed-1/a`, `seed-1/b` and `seed-1/match`, and so on for each seed.

    Attributes:
        sides: A and B.

    Raises:
        UserError: The sides play on different boards, so that their networks could not meet.
    """

    def __init__(self, folder: Path, sides: tuple[Side, Side]) -> None:
        self.folder, self.sides = folder.absolute(), sides
        boards = [f"{match['width']}x{match['height']}" for match in (match_of(side.settings) for side in sides)]
        if boards[0] != boards[1]:
            raise UserError(f"A plays mostly on {boards[0]} and B on {boards[1]}: their networks could not meet")

    def run(self, side: Side, seed: int) -> RunFolder:
        """Returns the folder of a run; UserError if it contains a run of other settings."""
        run = RunFolder(self.folder / f"seed-{seed}" / side.name.lower())
        if run.exists and run.settings("train") != side.of_seed(seed):
            raise UserError(f"{run.path}: a run of other settings than those of {side.source}; choose another folder")
        return run

    def is_done(self, side: Side, seed: int) -> bool:
        """Whether a run has finished its cycles."""
        return last_cycle(self.run(side, seed).log()) >= side.settings.cycle.cycles

    def play_match(
        self, seed: int, games: int, show: Callable[[int], None], limit: Limit, threads: int, pool: Pool | None = None
    ) -> Tally:
        """Plays the games that are missing between the last networks of a seed's runs; returns the result for A.

        Workers of a pool play them, or this process with some threads.

        Raises:
            Stopped: The limit is reached; the finished games are kept.
            UserError: A network is missing or damaged, or the folder holds another match.
        """
        networks = [self.run(side, seed).network(side.settings.cycle.cycles) for side in self.sides]
        folder = self.folder / f"seed-{seed}" / "match"
        settings = self.sides[0].of_seed(seed)
        match = match_of(settings, games=games, seed=seed, threads=threads, folder=folder, pool=pool)
        advice = "restore it from a copy, or delete the folder of its run, which is then made anew"
        return play_match_of(networks, match, show, limit, advice)


def summary(tallies: Mapping[int, Tally]) -> list[str]:
    """Returns lines about the matches so far, by seed: each of them, their mean, and how far it can be trusted.

    The mean is that of the scores, which a match that one side has won entirely has too, unlike a difference in Elo.
    """
    lines = []
    for seed, tally in tallies.items():
        gain = "{:+.0f} ({:+.0f} to {:+.0f})".format(elo_difference(tally.score), *elo_interval(tally))
        result = f"A won {tally.wins}, lost {tally.losses}, drew {tally.draws}"
        lines.append(f"seed {seed}: {result}; Elo {gain} over the games of these two networks")
    scores = [tally.score for tally in tallies.values()]
    if len(scores) < 2:
        return [*lines, "one seed does not tell how much seeds differ: ask for more with --seeds"]
    mean, margin, spread = statistics.mean(scores), mean_margin(scores), statistics.stdev(scores)
    verdict = "no clear difference" if abs(mean - 0.5) <= margin else f"{'A' if mean > 0.5 else 'B'} is better"
    elo, low, high = (elo_difference(score) for score in (mean, mean - margin, mean + margin))
    over = f"95 % interval over {plural(len(scores), 'seed')}"
    wanted = plural(seeds_for(spread, expected_score(_WANTED) - 0.5), "seed")
    return [
        *lines,
        f"A scores {mean:.1%} against B: {elo:+.0f} Elo ({over} {low:+.0f} to {high:+.0f}): {verdict}",
        f"standard deviation between seeds: {spread:.1%}; an interval of ±{_WANTED:.0f} Elo takes about {wanted}",
    ]


def seeds_for(spread: float, margin: float) -> int:
    """Returns how many seeds make the interval of their mean as narrow as `margin` on either side, at most 1000."""
    quantiles = ((seeds, student_quantile(seeds - 1)) for seeds in range(2, _MOST_SEEDS))
    return max((seeds for seeds, t in quantiles if t * spread / math.sqrt(seeds) > margin), default=1) + 1


def side_of(name: str, source: str) -> Side:
    """Returns the side A or B with the settings of a file, or of a preset; UserError if they are not for self-play."""
    is_preset = source in NAMES and not Path(source).is_file()
    settings = given_settings(source, None) if is_preset else given_settings(None, Path(source))
    assert settings is not None
    if settings.cycle.start:
        raise UserError(f"{source}: the networks of an experiment train from nothing: remove start = ...")
    return Side(name, source, settings)
