"""The loop: self-play, a window of the last samples, the learner, a new network, and again.

A cycle plays its games with the network of the last one, then learns, then measures. The processes that play wait while
the learner learns: on a CPU they would only take the processor from each other. Games under way go on with the next
network.
"""

import datetime
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import torch

from ..engine import processor_threads
from ..evaluate.choices import AUTO
from ..evaluate.network import find_device
from ..log import log
from ..match.elo import elo_difference
from ..match.networks import play_networks
from ..match.results import MatchResult
from ..network.config import parse_config
from ..network.katago_file import write_katago_file
from ..network.library import load_network
from ..network.model import Model
from ..search.thinker import compile_ahead
from .event_files import FOLDER, EventFiles
from .learner import MEASURED_SAMPLES, Learner, LearnerSettings, faster_precision, playing_network, rate_at
from .loader import Loader, Samples, fixed_batches, loader_threads
from .losses import LossWeights
from .random_games import random_games
from .ranks import Ranks
from .run_folder import RunFolder, RunState
from .samples import join, pack
from .selfplay import Counts
from .settings import RunSettings
from .shards import SUFFIX, ShardError, read_shards, write_shard
from .storage import GameWriter, ShardFacts, facts_of, shard_facts
from .together import begin_lesson
from .workers import Players, Workers

_SAVE_SECONDS = 120.0  # at most so much learning is done again after a kill
_POLL_SECONDS = 0.2
_RANDOM_PORTION = 1000
# Of a match's score before it becomes Elo, so that one without a loss gives a number.
_HALF_A_GAME = 0.5


class Stopped(Exception):
    """The time is up, or somebody has stopped the run."""


class Observer(Protocol):
    """What a run tells while it goes on."""

    def begin(self, state: RunState, settings: RunSettings) -> None:
        """The run begins, or goes on."""

    def progress(self, cycle: int, phase: str, done: int, total: int, facts: str) -> None:
        """About once a second."""

    def cycle(self, line: dict[str, Any]) -> None:
        """A cycle is over: its line of the log."""


@dataclass
class _Played:
    """What this process saw of a cycle's self-play."""

    seconds: float = 0.0
    counts: Counts = field(default=Counts())


class Run:
    """A run whose folder is there; `go` does the rest of it, or as much as there is time for.

    minutes: after which it stops by itself; None: when all cycles are done. start: a network to begin with. players:
    makes what plays, given the settings and a seed. ranks: of the processes that learn together this is the first.
    """

    def __init__(
        self,
        folder: RunFolder,
        observer: Observer,
        *,
        minutes: float | None = None,
        start: Path | None = None,
        players: Callable[[RunSettings, int], Players] = Workers,
        ranks: Ranks | None = None,
    ) -> None:
        self.folder, self.observer, self._players = folder, observer, players
        self.settings = folder.settings()
        folder.make_ready()
        self.stopped = False
        """Set it to end the run soon."""
        self._minutes = minutes
        self._start_clock()
        self._damaged: set[str] = set()  # what was said of shards
        machine = self.settings.machine
        self._threads = machine.threads or processor_threads()
        self._ranks = ranks or Ranks.alone()
        self._ranks.check_batch(self.settings.learn.batch_size)
        self._device = self._ranks.device(find_device(machine.device))
        self.state, checkpoint = folder.load()
        self._seconds_before = self.state.seconds
        precision = self.settings.learn.precision
        self._precision = faster_precision(self._device) if precision == AUTO else precision
        model = self._first_model(start) if checkpoint is None else checkpoint.model
        if not (start or self.state.start) and model.config != parse_config(self.settings.cycle.network):
            raise ValueError(
                f"{folder.settings_file}: the run's network is not a {self.settings.cycle.network}, and cannot become "
                "one: write its own name, or begin another run"
            )
        self.learner = Learner(model, self._learner_settings(), self._device, self._ranks)
        if checkpoint is not None:
            try:
                self.learner.load_state(checkpoint.training or {})
            except ValueError as error:
                raise ValueError(f"{folder.state_file}: {error}") from error
        elif start is not None:
            self._begin_with_network(str(start))
        folder.write_log(self.state)
        self._events = EventFiles(folder.path / FOLDER, "cycle", self.state.lines)

    def _start_clock(self) -> None:
        self._started = time.monotonic()
        self._end = None if self._minutes is None else self._started + 60 * self._minutes

    def _first_model(self, start: Path | None) -> Model:
        if start is not None:
            return load_network(start)
        generator = torch.Generator().manual_seed(self.settings.cycle.seed)
        return Model(parse_config(self.settings.cycle.network)).initialise(generator)

    def _learner_settings(self) -> LearnerSettings:
        learn, losses = self.settings.learn, asdict(self.settings.losses)
        if self.state.cycle == 0:  # random moves are no example
            losses |= {"policy": 0.0, "opponent": 0.0}
        # As if all cycles to come were like this one, whatever the settings were before.
        total = self.state.begun + (self.settings.cycle.cycles - self.state.cycle + 1) * learn.samples
        return LearnerSettings(
            batch_size=learn.batch_size,
            optimizer=learn.optimizer,
            learning_rate=learn.learning_rate,
            weight_decay=learn.weight_decay,
            warm_up=learn.warm_up,
            total=total if self.state.cycle and learn.samples else None,
            drop_share=learn.drop_share,
            last_rate=learn.last_rate,
            average=learn.average,
            precision=self._precision,
            losses=LossWeights(**losses),
        )

    def go(self) -> bool:
        """Whether all cycles are done. Raises LossNotFinite, ValueError, OSError, RuntimeError; what is saved stays."""
        self.observer.begin(self.state, self.settings)
        compile_ahead()
        self._start_clock()  # compiling is no part of the run's time
        seed = self.settings.cycle.seed + sum(facts.games for facts in self._facts())
        try:
            with self._players(self.settings, seed) as players:
                while self.state.cycle <= self.settings.cycle.cycles:
                    if self.state.cycle == 0:
                        self._begin_with_random_games()
                    else:
                        self._cycle(players)
        except Stopped:
            self._save()
            return False
        return True

    def _check(self) -> None:
        """Raises Stopped where it is time."""
        if self.stopped or (self._end is not None and time.monotonic() >= self._end):
            raise Stopped

    def _tell(self, phase: str, done: int, total: int, facts: str = "") -> None:
        self.observer.progress(self.state.cycle, phase, done, total, facts)

    def _save(self) -> None:
        self.state.seconds = self._seconds_before + time.monotonic() - self._started
        self.folder.save(self.state, self.learner.average, self.learner.state())

    def _begin_with_network(self, start: str) -> None:
        """Its file is needed no more from now on; it learns nothing from random games."""
        self.state.start = start
        write_katago_file(playing_network(self.learner.average).cpu(), self.folder.network(0))
        self._begin_first_cycle()

    def _begin_with_random_games(self) -> None:
        """The first network: fresh, or with some knowledge of scores from random games."""
        settings = self.settings
        count = settings.cycle.random_games
        if count:
            self._write_random_games(count)
            facts = self._facts(cycle=0)
            samples = self._samples(facts)
            self._learn(samples, settings.learn.random_epochs * len(samples))
            model = self._playing_network(samples)
        else:
            model = playing_network(self.learner.average)
        write_katago_file(model.cpu(), self.folder.network(0))
        self.learner.take_losses()
        self._begin_first_cycle()

    def _begin_first_cycle(self) -> None:
        self._next_cycle()
        self._save()

    def _write_random_games(self, count: int) -> None:
        number = 1
        games = random_games(self.settings.games, count, self.settings.cycle.seed)
        portion = []
        for done, game in enumerate(games, 1):
            portion.append(game)
            if len(portion) == _RANDOM_PORTION or done == count:
                # Names that sort before the others'; the same games again after a kill.
                path = self.folder.shards / f"000000-{number:03d}{SUFFIX}"
                write_shard(pack(portion), path, facts_of(portion, cycle=0))
                portion, number = [], number + 1
                self._tell("random games", done, count)
                self._check()

    def _next_cycle(self) -> None:
        self.state.cycle += 1
        self.state.begun = self.learner.samples
        self.learner.settings = self._learner_settings()

    def _cycle(self, players: Players) -> None:
        cycle, settings = self.state.cycle, self.settings
        played = self._play(players, cycle)
        facts = self._facts()
        window = self._window([shard for shard in facts if 1 <= shard.cycle <= cycle])
        samples = self._samples(window)
        wanted = settings.learn.samples or settings.learn.epochs * len(samples)
        rate = self._learn(samples, wanted)
        learned = self.learner.check()
        path = self.folder.network(cycle)
        write_katago_file(self._playing_network(samples).cpu(), path)
        line: dict[str, Any] = {
            "cycle": cycle,
            "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "network": path.name,
            "player": self.folder.network(self.state.player).name,
            **_game_facts([shard for shard in facts if shard.cycle == cycle]),
            "games_in_all": sum(shard.games for shard in facts if shard.cycle),
            "samples_in_all": sum(shard.samples for shard in facts if shard.cycle),
            **_speeds(played),
            "damaged_shards": len(self._damaged),
            "window": len(samples),
            "learned": self.learner.samples,
            "learning_rate": rate_at(self.learner.settings, self.learner.samples),
            "learned_per_s": rate,
            "losses": {name: round(value, 5) for name, value in learned.items()},
            **self._measure(cycle),
        }
        if line["accepted"]:
            self.state.player = cycle
        line["seconds"] = round(self._seconds_before + time.monotonic() - self._started)
        self.learner.take_losses()  # only now: a match that is stopped must not cost them
        self._next_cycle()
        self.state.lines.append(line)
        self._save()
        self._events.add(line)
        self.observer.cycle(line)

    def _play(self, players: Players, cycle: int) -> _Played:
        """Plays what the cycle's games still lack."""
        settings = self.settings.cycle
        done = sum(facts.games for facts in self._facts(cycle))
        if done >= settings.games:
            return _Played()
        writer = GameWriter(self.folder.shards, self.folder.records, settings.shard_games)
        began, before = time.monotonic(), players.counts
        told = 0.0
        players.play(str(self.folder.network(self.state.player)), cycle)
        try:
            while done + writer.waiting < settings.games:
                self._check()
                for game in players.collect(_POLL_SECONDS):
                    done += len(writer.add(game, cycle))
                done += len(writer.flush_late(cycle))
                now = time.monotonic()
                if now - told >= 1.0:
                    told = now
                    facts = speed_text(players.counts - before, now - began)
                    self._tell("self-play", done + writer.waiting, settings.games, facts)
            for game in players.pause():
                writer.add(game, cycle)
        finally:
            writer.flush(cycle)
        return _Played(time.monotonic() - began, players.counts - before)

    def _window(self, facts: list[ShardFacts]) -> list[ShardFacts]:
        """The newest shards that hold as many samples as the window wants."""
        wanted = self.settings.window.size(sum(shard.samples for shard in facts))
        chosen: list[ShardFacts] = []
        while facts and sum(shard.samples for shard in chosen) < wanted:
            chosen.append(facts.pop())
        return chosen[::-1]

    def _facts(self, cycle: int | None = None) -> list[ShardFacts]:
        return shard_facts(self.folder.shards, cycle, self._leave_out)

    def _leave_out(self, error: ShardError) -> None:
        """Names a damaged shard, once."""
        if str(error) not in self._damaged:
            self._damaged.add(str(error))
            log(f"left out: {error}")

    def _samples(self, facts: list[ShardFacts]) -> Samples:
        sets = list(read_shards([shard.path for shard in facts], self._leave_out))
        share, areas = self.settings.learn.searched_share, self.learner.model.config.suicide_areas
        samples = Samples(join(sets), searched_share=share, suicide_areas=areas) if sets else None
        if samples is None or not len(samples):
            raise ValueError(f"{self.folder.shards}: no sample to learn from in {len(facts)} shards")
        return samples

    def _learn(self, samples: Samples, wanted: int) -> float | None:
        """Learns until `wanted` samples are drawn in this cycle; samples a second, None where all were."""
        threads = self._ranks.threads(self._threads)
        torch.set_num_threads(threads)  # evaluators for matches take one
        drawn = self.learner.samples - self.state.begun
        size, seed = self.settings.learn.batch_size, self.settings.cycle.seed + 1000 * self.state.cycle
        began = saved = told = time.monotonic()
        first = drawn
        loader = Loader(
            samples,
            size,
            seed=seed,
            drawn=drawn,
            threads=loader_threads(threads),
            pinned=self._device.type == "cuda",
            part=(self._ranks.rank, self._ranks.count),
        )
        begin_lesson(self._ranks, self.learner, loader)
        try:
            while drawn < wanted:
                self.learner.step(next(loader))
                drawn += size
                now = time.monotonic()
                if now - told >= 1.0:
                    told = now
                    facts = f"{(drawn - first) / (now - began):,.0f} samples/s"
                    self._tell("learning", drawn, wanted, facts)
                    try:
                        self._check()
                    except Stopped:
                        self._save_midway()
                        raise
                if now - saved >= _SAVE_SECONDS:
                    self._save_midway()
                    saved = now
        finally:
            loader.close()
        seconds = time.monotonic() - began
        self._save_midway()  # matches may be long
        return round((drawn - first) / max(seconds, 1e-9), 1) if drawn > first else None

    def _save_midway(self) -> None:
        self.learner.check()
        self._save()

    def _playing_network(self, samples: Samples) -> Model:
        batches = fixed_batches(samples, MEASURED_SAMPLES, self.settings.cycle.seed)
        return playing_network(self.learner.averaged_network(batches))

    def _measure(self, cycle: int) -> dict[str, Any]:
        """Matches of the new network: whether it plays from now on, and Elo where it is time."""
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
        """The network of one cycle against another's."""
        boards = self.settings.games.boards
        width, height = max(boards, key=lambda board: boards[board])
        machine = self.settings.machine

        def tell(done: int) -> None:
            self._tell(f"match for {purpose}", done, games, f"{new} against {old}")

        tell(0)
        return play_networks(
            str(self.folder.network(new)),
            str(self.folder.network(old)),
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
            on_game=lambda result, _: tell(len(result.games)),
            on_progress=lambda _: self._check(),
        )


def _game_facts(shards: list[ShardFacts]) -> dict[str, Any]:
    """Of a cycle's games."""
    games = sum(shard.games for shard in shards)
    checked, upsets = (sum(getattr(shard, name) for shard in shards) for name in ("checked", "upsets"))
    return {
        "games": games,
        "samples": sum(shard.samples for shard in shards),
        "length": round(sum(shard.moves for shard in shards) / max(games, 1), 1),
        "black_wins": round(sum(shard.black for shard in shards) / max(games, 1), 3),
        "decided": round(sum(shard.decided for shard in shards) / max(games, 1), 3),
        "false_decisions": round(upsets / checked, 3) if checked else None,
    }


def _speeds(played: _Played) -> dict[str, Any]:
    """None where another process played the cycle's games."""
    seconds, counts = played.seconds, played.counts
    if not seconds:
        return dict.fromkeys(("played_seconds", "moves_per_s", "evaluations_per_s", "batch_fill"))
    return {
        "played_seconds": round(played.seconds, 1),
        "moves_per_s": round(counts.moves / seconds, 1),
        "evaluations_per_s": round(counts.positions / seconds, 1),
        "batch_fill": round(counts.positions / counts.room, 3) if counts.room else None,
    }


def speed_text(counts: Counts, seconds: float) -> str:
    """How fast self-play is, in words."""
    seconds = max(seconds, 1e-9)
    fill = f", batches {counts.positions / counts.room:.0%} full" if counts.room else ""
    return f"{counts.moves / seconds:,.0f} moves/s, {counts.positions / seconds:,.0f} evaluations/s{fill}"
