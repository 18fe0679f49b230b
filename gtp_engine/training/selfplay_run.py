"""A run that learns from its own games, in cycles: self-play, a window of the most recent samples, a new network.

A cycle plays its games with the network of the previous one, then learns, then measures. The self-play workers wait
while the learner learns, since on a CPU they would only compete for it. Games in progress continue with the next
network.
"""

import contextlib
import logging
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from ..arena.elo import Tally
from ..arena.network_match import NetworkPlayer, play_networks
from ..base.errors import UserError
from ..base.messages import plural
from ..base.pool import Pool
from ..base.processes import own_unless
from ..nets.katago_file import NetworkFileError, write_katago_file
from ..nets.library import load_network, network_name
from .data.loader import Samples
from .data.random_games import random_games
from .data.samples import join, pack
from .data.shards import SUFFIX, ShardError, read_shards, write_shard
from .learner import playing_network
from .log import cycles_left, elo_fields
from .progress import Limit, Stopped
from .run import SAVE_SECONDS, Run
from .run_settings import LearnSettings, RunSettings
from .selfplay import Counts
from .storage import LONGEST_WAIT, GameWriter, ShardFacts, shard_facts, total
from .workers import SelfPlayPool, play_games

logger = logging.getLogger(__name__)

_RANDOM_PORTION = 100  # random games between two reports of progress
_MEASURED_POSITIONS = 2048  # of a cycle before it is learned, and at the end of a piece
_MATCH_MINUTES = 1.0  # for a match at the end of a piece


class SelfPlayRun(Run):
    """A run of `train`: each cycle adds games.

    Without a pool, processes of this machine play the games, and this process plays the matches.
    """

    command = "train"
    _damaged: set[str]  # messages about damaged shards, each logged once

    def _learner_settings(self) -> LearnSettings:
        settings, learn = super()._learner_settings(), self.settings.learn
        if self.state.cycle == 0:  # random moves are not worth imitating
            return replace(settings, losses=replace(settings.losses, policy=0.0, opponent=0.0, soft_policy=0.0))
        # The settings may have changed: assume that all remaining cycles are like this one.
        end = self.state.begun + (self.settings.cycle.cycles - self.state.cycle + 1) * learn.samples
        return replace(settings, total=end if learn.samples else None)

    @property
    def network(self) -> Path:
        return self.folder.network(self.state.player)

    def _work(self) -> None:
        self._damaged = set()
        cycle = self.settings.cycle
        status = f"resuming in cycle {self.state.cycle}" if self.state.cycle else "starting"
        if self.state.cycle > cycle.cycles:
            status = 'all cycles are finished; raise "cycles" in settings.toml to continue'
        network = network_name(Path(self.state.start)) if self.state.start else cycle.network
        title = f"{network}, {plural(cycle.cycles, 'cycle')} of {plural(cycle.games, 'game')}: {status}"
        self.observer.begin(title, self.state.lines)
        self._start_clock()
        self._tell_pace()
        self.limit.restart()
        # Saved before the workers end.
        with own_unless(self._pool) as pool, self._saved_if_stopped():
            players = self._players(pool)
            while self.state.cycle <= cycle.cycles:
                if self.state.cycle == 0:
                    self._make_first_network()
                else:
                    self._cycle(self._players(pool) if cycle.repeatable else players)

    def _players(self, pool: Pool) -> SelfPlayPool:
        """Returns new players; those of a repeatable run play the games that the cycle lacks, and end them all."""
        cycle = self.settings.cycle
        lacking = cycle.games - total(self._facts(self.state.cycle).values()).games
        seed = cycle.seed + total(self._facts().values()).games
        return SelfPlayPool(pool, self.settings, seed, max(0, lacking) if cycle.repeatable else None)

    def _phase(self, name: str) -> str:
        return f"cycle {self.state.cycle} of {self.settings.cycle.cycles}: {name}"

    def _make_first_network(self) -> None:
        """Writes the first network: a given one, one with random weights, or one trained to score random games."""
        settings = self.settings
        count = 0 if self.state.start else settings.cycle.random_games
        if count:
            made = []
            for game in random_games(settings.games, count, settings.cycle.seed):
                made.append(game)
                if len(made) % _RANDOM_PORTION == 0:
                    self.observer.progress(self._phase("random games"), len(made), count)
                    self.limit.check()
            games = pack(made)
            write_shard(games, self.folder.shards / f"000000{SUFFIX}", asdict(ShardFacts.of(games, cycle=0)))
            samples = self._read_samples(self._facts(cycle=0))
            self._learn(samples, settings.learn.random_epochs * len(samples), self._phase("learning"))
            averaged = self._averaged_network(samples)
        else:
            averaged = self.learner.average
        write_katago_file(playing_network(averaged).stored(), self.folder.network(0))
        self.learner.take_losses()
        self._next_cycle()
        self.save()

    def _next_cycle(self) -> None:
        self.state.cycle += 1
        self.state.begun, self.state.cycle_began = self.learner.samples, self._seconds
        self.learner.settings = self._learner_settings()

    def _cycle(self, pool: SelfPlayPool) -> None:
        cycle, learn = self.state.cycle, self.settings.learn
        speeds = self._play(pool, cycle)
        facts = {path: shard for path, shard in self._facts().items() if 1 <= shard.cycle <= cycle}
        own = [path for path, shard in facts.items() if shard.cycle == cycle]
        if self.learner.samples == self.state.begun:
            self.state.validation = self._measured_on(own)
        samples = self._read_samples(self._window(facts), learn.policy_surprise_data_weight)
        self._learn(samples, learn.samples or learn.epochs * len(samples), self._phase("learning"))
        path = self.folder.network(cycle)
        write_katago_file(playing_network(self._averaged_network(samples)).stored(), path)
        line = {
            "cycle": cycle,
            **self._new_line(self.learner.check()),
            "network": path.name,
            "player": self.network.name,
            **_game_facts([facts[path] for path in own]),
            "games_in_all": total(facts.values()).games,
            "samples_in_all": total(facts.values()).samples,
            **speeds,
            "damaged_shards": len(self._damaged),
            "window": len(samples),
            "validation": self.state.validation,
            **self._measure(cycle),
        }
        line["seconds"] = round(self._seconds, 1)  # with the matches
        line["cycle_seconds"] = round(self._seconds - self.state.cycle_began, 1)
        line["cycle_samples"] = self.learner.samples - self.state.begun
        if line["accepted"]:
            self.state.player = cycle
        self.learner.take_losses()  # only now, so that they are not lost if a match is stopped
        self._next_cycle()
        self._publish(line)
        self.save()
        if cycle == 1:
            self._tell_pace()

    def _tell_pace(self) -> None:
        if pace := cycles_left(self.state.lines, self.settings.cycle.cycles):
            self.observer.message(pace)

    def _play(self, pool: SelfPlayPool, cycle: int) -> dict[str, Any]:
        """Plays the games that the cycle still lacks; returns the log's fields about the speed."""
        settings = self.settings.cycle
        done = total(self._facts(cycle).values()).games
        if done >= settings.games:
            return _speeds(0.0, Counts())
        patience = math.inf if settings.repeatable else LONGEST_WAIT  # which games share a file must not depend on time
        writer = GameWriter(self.folder.shards, self.folder.records, settings.shard_games, cycle, patience)
        began = saved = time.monotonic()
        before = pool.counts

        def report() -> None:
            nonlocal saved
            now = time.monotonic()
            if now - saved >= SAVE_SECONDS:
                self.save()  # the time of the games, which are saved as they end
                saved = now
            speed = (pool.counts - before).speed_text(now - began)
            self.observer.progress(self._phase("self-play"), done + writer.games, settings.games, speed)

        wanted = settings.games - done
        play_games(pool, str(self.network), writer, wanted, self.limit, self.observer, report)
        self.limit.check()
        return _speeds(time.monotonic() - began, pool.counts - before)

    def _window(self, facts: dict[Path, ShardFacts]) -> list[Path]:
        """Returns the newest shards that together fill the window."""
        wanted = self.settings.window.size(total(facts.values()).samples)
        chosen: list[Path] = []
        for path in reversed(facts):
            if wanted > 0:
                chosen.append(path)
                wanted -= facts[path].samples
        return chosen[::-1]

    def _facts(self, cycle: int | None = None) -> dict[Path, ShardFacts]:
        return shard_facts(self.folder.shards, cycle, self._skip)

    def _skip(self, error: ShardError) -> None:
        """Logs a damaged shard, once."""
        if str(error) not in self._damaged:
            self._damaged.add(str(error))
            logger.warning(f"skipped: {error}")

    def _read_samples(self, shards: Collection[Path], surprise_share: float = 0.0) -> Samples:
        sets = list(read_shards(shards, self._skip))
        share, areas = self.settings.learn.searched_share, self.learner.model.config.suicide_areas
        with_options = partial(Samples, searched_share=share, suicide_areas=areas, surprise_share=surprise_share)
        samples = with_options(join(sets)) if sets else None
        if samples is None or not len(samples):
            raise UserError(f"{self.folder.shards}: no samples to learn from in {plural(len(shards), 'shard')}")
        return samples

    def _measured_on(self, shards: Collection[Path]) -> dict[str, Any]:
        """Measures the averaged network on games that are not learned yet."""
        samples = self._read_samples(shards)
        return self._measured(self._averaged_network(samples), samples, _MEASURED_POSITIONS)

    def _measure(self, cycle: int) -> dict[str, Any]:
        """Plays matches with the new network: for the gate and for Elo, if they are due. Returns fields for the log."""
        match, found = self.settings.match, {}
        accepted = True
        if match.gate:
            tally = self._match((cycle, self.state.player), match.gate_games, "gate", self.limit)
            accepted = tally.score > match.gate_score
            found["gate_score"] = round(tally.score, 3)
        found["accepted"] = accepted
        if match.every and cycle % match.every == 0:
            found |= self._rate_network(cycle, self.limit)
        return found

    def _rate_network(self, cycle: int, limit: Limit) -> dict[str, Any]:
        """Measures the Elo of the network of a cycle against the last one that has one; returns fields for the log."""
        against = max((line["cycle"] for line in self.state.lines if "elo" in line), default=0)
        tally = self._match((cycle, against), self.settings.match.games, "Elo", limit)
        return elo_fields(self.state.lines, against, tally)

    def _match(self, cycles: tuple[int, int], games: int, purpose: str, limit: Limit) -> Tally:
        """Plays a match between the networks of two cycles, new and old, on the run's most common board."""
        settings = self.settings
        seed = settings.cycle.seed + cycles[0]
        match = match_of(settings, games=games, seed=seed, threads=self._threads, pool=self._pool)
        phase, players = self._phase(f"match for {purpose}"), f"{cycles[0]} against {cycles[1]}"
        networks = [self.folder.network(cycle) for cycle in cycles]

        def show(done: int) -> None:
            self.observer.progress(phase, done, games, players)

        advice = "restore it from a copy, or set every = 0 and gate = false in [match] of settings.toml"
        return play_match_of(networks, match, show, limit, advice)

    def _measure_piece(self) -> None:
        """Measures the network on its newest games, and its Elo if that would be measured later."""
        # Shards of later cycles were copied from another run.
        facts = {path: shard for path, shard in self._facts().items() if shard.cycle <= self.state.cycle}
        last = max((shard.cycle for shard in facts.values()), default=0)
        newest = [path for path, shard in facts.items() if shard.cycle == last]
        if not newest:
            return
        found = self._measured_on(newest)
        trained = (name for name in self.settings.losses.trained if name in found)
        shown = ", ".join(f"{name} {found[name]:.3f}" for name in trained)
        source = f"games of cycle {last}" if last else "random games"
        self.observer.message(f"losses on {found['positions']:,.0f} positions of the newest {source}: {shown}")
        lines, limit = self.state.lines, Limit(_MATCH_MINUTES, self.limit)
        if self.settings.match.every and lines and "elo" not in lines[-1] and not self.limit.stopped:
            with contextlib.suppress(Stopped, KeyboardInterrupt):  # what was learned is saved
                lines[-1] |= self._rate_network(lines[-1]["cycle"], limit)
                self.save()


def match_of(settings: RunSettings, **more: Any) -> dict[str, Any]:
    """Returns arguments of `play_networks` for networks of a run, on its most common board; `more` replaces some."""
    boards, machine = settings.games.boards, settings.machine
    width, height = max(boards, key=lambda board: boards[board])
    given = {
        "visits": settings.match.visits,
        "width": width,
        "height": height,
        "komi": settings.games.fair_komi(width, height),
        "rules": settings.games.rulesets()[0],
        "device": machine.device,
        "precision": machine.precision,
    }
    return given | more


def play_match_of(
    networks: Sequence[Path], match: Mapping[str, Any], show: Callable[[int], None], limit: Limit, advice: str
) -> Tally:
    """Plays a match between the networks of two files; `show` is called with the number of games that are over.

    If a network is missing or damaged, `advice` says what to do.

    Raises:
        Stopped: The limit is reached.
        UserError: A network is missing or damaged.
    """
    player_a, player_b = (player_of(path, advice) for path in networks)
    show(0)
    try:
        return play_networks(
            player_a,
            player_b,
            **match,
            on_game=lambda result, _: show(len(result.games)),
            on_progress=lambda _: limit.check(),
        ).tally
    except KeyboardInterrupt:  # a match looks for Ctrl-C itself, and sees it before the limit is checked
        limit.check()
        raise


def player_of(path: Path, advice: str) -> NetworkPlayer:
    """Returns the player with a network of the run. Its errors advise this instead of downloading the file again."""
    try:
        load_network(path)
    except (OSError, NetworkFileError) as error:
        problem = "missing" if isinstance(error, FileNotFoundError) else "damaged"
        raise UserError(f"{path} is {problem}, and a match needs it: {advice}") from error
    return NetworkPlayer(str(path))


def _game_facts(shards: Collection[ShardFacts]) -> dict[str, Any]:
    """Returns the log's fields about the games of a cycle."""
    all_of = total(shards)
    games = max(all_of.games, 1)
    return {
        "games": all_of.games,
        "new_samples": all_of.samples,
        "length": round(all_of.moves / games, 1),
        "black_wins": round(all_of.black / games, 3),
        "decided": round(all_of.decided / games, 3),
        "false_decisions": round(all_of.upsets / all_of.checked, 3) if all_of.checked else None,
    }


def _speeds(seconds: float, counts: Counts) -> dict[str, Any]:
    """Returns the log's fields about the speed of self-play; None if the games were played before an interruption."""
    if not seconds:
        return dict.fromkeys(("played_seconds", "moves_per_s", "evaluations_per_s", "batch_fill"))
    return {
        "played_seconds": round(seconds, 1),
        "moves_per_s": round(counts.moves / seconds, 1),
        "evaluations_per_s": round(counts.positions / seconds, 1),
        "batch_fill": round(counts.positions / counts.capacity, 3) if counts.capacity else None,
    }
