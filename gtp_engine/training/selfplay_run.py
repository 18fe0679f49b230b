"""A run that learns from its own games, in cycles: self-play, a window of the most recent samples, a new network.

A cycle plays its games with the network of the previous one, then learns, then measures. The self-play workers wait
while the learner learns, since on a CPU they would only compete for it. Games in progress continue with the next
network.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..base.errors import UserError
from ..base.system import WAIT_SECONDS
from ..games.elo import elo_difference
from ..games.network_match import NetworkMatchSettings, NetworkPlayer, play_networks
from ..games.results import MatchResult
from ..network.katago_file import write_katago_file
from ..network.library import network_name
from ..network.model import Model
from ..play.worker import compile_ahead
from .data.loader import Samples
from .data.random_games import random_games
from .data.samples import join, pack
from .data.shards import SUFFIX, ShardError, read_shards, write_shard
from .data.storage import GameWriter, ShardFacts, facts_of, shard_facts
from .ddp import ProcessGroup
from .learner import LearnerSettings, playing_network
from .limit import Limit
from .observer import Observer
from .run import Run
from .run_folder import RunFolder
from .selfplay import Counts
from .settings import RunSettings
from .workers import LocalPool, SelfPlayPool

logger = logging.getLogger(__name__)

_RANDOM_PORTION = 1000  # random games per shard
_PROGRESS_SECONDS = 1.0
# Added to the wins and to the losses of a match before the score is converted to Elo, so that the Elo is always finite.
_HALF_A_GAME = 0.5


@dataclass
class _Played:
    """The duration and the work of a cycle's self-play, as far as this process has done it."""

    seconds: float = 0.0
    counts: Counts = field(default=Counts())


class SelfPlayRun(Run):
    """A run of `train`: each cycle adds games.

    Args:
        folder: The run's folder.
        observer: Receives the progress.
        limit: When to pause; None for no limit.
        start: File of the network that a new run starts from; None for random weights.
        group: The processes that train together; this one is its rank 0.
        make_pool: Makes the self-play workers, from the settings and a seed.
    """

    command = "train"

    def __init__(
        self,
        folder: RunFolder,
        observer: Observer,
        *,
        limit: Limit | None = None,
        start: Path | None = None,
        group: ProcessGroup | None = None,
        make_pool: Callable[[RunSettings, int], SelfPlayPool] = LocalPool,
    ) -> None:
        super().__init__(folder, observer, limit=limit, start=start, group=group)
        self._make_pool = make_pool
        self._damaged: set[str] = set()  # messages about damaged shards, each logged once

    def _learner_settings(self) -> LearnerSettings:
        settings, learn = super()._learner_settings(), self.settings.learn
        if self.state.cycle == 0:  # random moves are not worth imitating
            return replace(settings, losses=replace(settings.losses, policy=0.0, opponent=0.0))
        # The settings may have changed: assume that all remaining cycles are like this one.
        total = self.state.begun + (self.settings.cycle.cycles - self.state.cycle + 1) * learn.samples
        return replace(settings, total=total if learn.samples else None)

    @property
    def network(self) -> Path:
        return self.folder.network(self.state.player)

    def _work(self) -> bool:
        cycle = self.settings.cycle
        status = f"resuming in cycle {self.state.cycle}" if self.state.cycle else "starting"
        if self.state.cycle > cycle.cycles:
            status = 'all cycles are finished; raise "cycles" in settings.toml to continue'
        network = network_name(Path(self.state.start)) if self.state.start else cycle.network
        title = f"{network}, {cycle.cycles} cycles of {cycle.games} games: {status}"
        self.observer.begin(title, self.state.lines)
        compile_ahead()
        self._start_clock()  # compilation does not count as the run's time
        self.limit.restart()
        seed = cycle.seed + sum(facts.games for facts in self._facts())
        with self._make_pool(self.settings, seed) as pool:
            while self.state.cycle <= cycle.cycles:
                if self.state.cycle == 0:
                    self._make_first_network()
                else:
                    self._cycle(pool)
        return True

    def _phase(self, name: str) -> str:
        return f"cycle {self.state.cycle} of {self.settings.cycle.cycles}: {name}"

    def _make_first_network(self) -> None:
        """Writes the first network: a given one, one with random weights, or one trained to score random games."""
        settings = self.settings
        count = 0 if self.state.start else settings.cycle.random_games
        if count:
            self._write_random_games(count)
            samples = self._read_samples(self._facts(cycle=0))
            self._learn(samples, settings.learn.random_epochs * len(samples), self._phase("learning"))
            model = self._playing_network(samples)
        else:
            model = playing_network(self.learner.average)
        write_katago_file(model.stored(), self.folder.network(0))
        self.learner.take_losses()
        self._next_cycle()
        self.save()

    def _write_random_games(self, count: int) -> None:
        number = 1
        games = random_games(self.settings.games, count, self.settings.cycle.seed)
        portion = []
        for done, game in enumerate(games, 1):
            portion.append(game)
            if len(portion) == _RANDOM_PORTION or done == count:
                # These names sort before those of self-play. After a kill the same games are made again.
                path = self.folder.shards / f"000000-{number:03d}{SUFFIX}"
                write_shard(pack(portion), path, facts_of(portion, cycle=0))
                portion, number = [], number + 1
                self.observer.progress(self._phase("random games"), done, count)
                self.limit.check()

    def _next_cycle(self) -> None:
        self.state.cycle += 1
        self.state.begun = self.learner.samples
        self.learner.settings = self._learner_settings()

    def _cycle(self, pool: SelfPlayPool) -> None:
        cycle, learn = self.state.cycle, self.settings.learn
        played = self._play(pool, cycle)
        facts = self._facts()
        samples = self._read_samples(self._window([shard for shard in facts if 1 <= shard.cycle <= cycle]))
        self._learn(samples, learn.samples or learn.epochs * len(samples), self._phase("learning"))
        path = self.folder.network(cycle)
        write_katago_file(self._playing_network(samples).stored(), path)
        line = {
            "cycle": cycle,
            **self._new_line(self.learner.check()),
            "network": path.name,
            "player": self.network.name,
            **_game_facts([shard for shard in facts if shard.cycle == cycle]),
            "games_in_all": sum(shard.games for shard in facts if shard.cycle),
            "samples_in_all": sum(shard.samples for shard in facts if shard.cycle),
            **_speeds(played),
            "damaged_shards": len(self._damaged),
            "window": len(samples),
            **self._measure(cycle),
        }
        line["seconds"] = round(self._seconds, 1)  # with the matches
        if line["accepted"]:
            self.state.player = cycle
        self.learner.take_losses()  # only now, so that they are not lost if a match is stopped
        self._next_cycle()
        self._publish(line)
        self.save()

    def _play(self, pool: SelfPlayPool, cycle: int) -> _Played:
        """Plays the games that the cycle still lacks."""
        settings = self.settings.cycle
        done = sum(facts.games for facts in self._facts(cycle))
        if done >= settings.games:
            return _Played()
        writer = GameWriter(self.folder.shards, self.folder.records, settings.shard_games)
        began, before = time.monotonic(), pool.counts
        reported = 0.0
        pool.play(str(self.network), cycle)
        try:
            while done + writer.waiting < settings.games:
                self.limit.check()
                for game in pool.collect(WAIT_SECONDS):
                    done += len(writer.add(game, cycle))
                done += len(writer.flush_late(cycle))
                now = time.monotonic()
                if now - reported >= _PROGRESS_SECONDS:
                    reported = now
                    facts = (pool.counts - before).speed_text(now - began)
                    self.observer.progress(self._phase("self-play"), done + writer.waiting, settings.games, facts)
            for game in pool.pause():
                writer.add(game, cycle)
        finally:
            writer.flush(cycle)
        return _Played(time.monotonic() - began, pool.counts - before)

    def _window(self, facts: list[ShardFacts]) -> list[ShardFacts]:
        """Returns the newest shards that together fill the window."""
        wanted = self.settings.window.size(sum(shard.samples for shard in facts))
        chosen: list[ShardFacts] = []
        while facts and sum(shard.samples for shard in chosen) < wanted:
            chosen.append(facts.pop())
        return chosen[::-1]

    def _facts(self, cycle: int | None = None) -> list[ShardFacts]:
        return shard_facts(self.folder.shards, cycle, self._skip)

    def _skip(self, error: ShardError) -> None:
        """Logs a damaged shard, once."""
        if str(error) not in self._damaged:
            self._damaged.add(str(error))
            logger.warning(f"skipped: {error}")

    def _read_samples(self, facts: list[ShardFacts]) -> Samples:
        sets = list(read_shards([shard.path for shard in facts], self._skip))
        share, areas = self.settings.learn.searched_share, self.learner.model.config.suicide_areas
        samples = Samples(join(sets), searched_share=share, suicide_areas=areas) if sets else None
        if samples is None or not len(samples):
            raise UserError(f"{self.folder.shards}: no samples to learn from in {len(facts)} shards")
        return samples

    def _playing_network(self, samples: Samples) -> Model:
        return playing_network(self._averaged_network(samples))

    def _measure(self, cycle: int) -> dict[str, Any]:
        """Plays matches with the new network: for the gate and for Elo, if they are due. Returns fields for the log."""
        match, found = self.settings.match, {}
        accepted = True
        if match.gate:
            tally = self._match(cycle, self.state.player, match.gate_games, "gate").tally
            accepted = tally.score > match.gate_score
            found["gate_score"] = round(tally.score, 3)
        found["accepted"] = accepted
        if match.every and cycle % match.every == 0:
            rated = {line["cycle"]: line["elo"] for line in self.state.lines if "elo" in line}
            last = max(rated, default=0)
            result = self._match(cycle, last, match.games, "Elo")
            tally = result.tally
            score = (tally.games * tally.score + _HALF_A_GAME) / (tally.games + 2 * _HALF_A_GAME)
            found |= {"against": last, "score": round(tally.score, 3), "match_games": tally.games}
            found["elo"] = round(rated.get(last, 0.0) + elo_difference(score), 1)
        return found

    def _match(self, new: int, old: int, games: int, purpose: str) -> MatchResult:
        """Plays a match between the networks of two cycles."""
        boards = self.settings.games.boards
        width, height = max(boards, key=lambda board: boards[board])
        machine = self.settings.machine

        def report(done: int) -> None:
            self.observer.progress(self._phase(f"match for {purpose}"), done, games, f"{new} against {old}")

        report(0)
        settings = NetworkMatchSettings(
            games=games,
            visits=self.settings.match.visits,
            width=width,
            height=height,
            komi=self.settings.games.fair_komi(width, height),
            rules=self.settings.games.rulesets()[0],
            seed=self.settings.cycle.seed + new,
            threads=self._threads,
            device=machine.device,
            precision=machine.precision,
        )
        try:
            return play_networks(
                NetworkPlayer(str(self.folder.network(new))),
                NetworkPlayer(str(self.folder.network(old))),
                settings,
                on_game=lambda result, _: report(len(result.games)),
                on_progress=lambda _: self.limit.check(),
            )
        except KeyboardInterrupt:  # a match looks for Ctrl-C itself, and sees it before the limit is checked
            self.limit.check()
            raise


def _game_facts(shards: list[ShardFacts]) -> dict[str, Any]:
    """Returns the log's fields about the games of a cycle."""
    games = sum(shard.games for shard in shards)
    checked, upsets = (sum(getattr(shard, name) for shard in shards) for name in ("checked", "upsets"))
    return {
        "games": games,
        "new_samples": sum(shard.samples for shard in shards),
        "length": round(sum(shard.moves for shard in shards) / max(games, 1), 1),
        "black_wins": round(sum(shard.black for shard in shards) / max(games, 1), 3),
        "decided": round(sum(shard.decided for shard in shards) / max(games, 1), 3),
        "false_decisions": round(upsets / checked, 3) if checked else None,
    }


def _speeds(played: _Played) -> dict[str, Any]:
    """Returns the log's fields about the speed of self-play; None if the games were played before an interruption."""
    seconds, counts = played.seconds, played.counts
    if not seconds:
        return dict.fromkeys(("played_seconds", "moves_per_s", "evaluations_per_s", "batch_fill"))
    return {
        "played_seconds": round(played.seconds, 1),
        "moves_per_s": round(counts.moves / seconds, 1),
        "evaluations_per_s": round(counts.positions / seconds, 1),
        "batch_fill": round(counts.positions / counts.capacity, 3) if counts.capacity else None,
    }
