"""Self-play: in this process with a small network, in workers, as `gtp_engine selfplay`, and as an iterator."""

import itertools
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import miniature
import numpy as np
import pytest
import torch
from drawn_positions import game_of
from making import finished_game, unpacked
from pool_here import PoolHere

from gtp_engine.base.errors import ProcessLostError, UserError
from gtp_engine.base.processes import Processes
from gtp_engine.go.coords import BLACK, WHITE, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, read_sgf_games
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.model import Model
from gtp_engine.training import workers as selfplay_workers
from gtp_engine.training.data.loader import Samples
from gtp_engine.training.data.random_games import new_game, random_games
from gtp_engine.training.data.rows import LOSS, WIN
from gtp_engine.training.data.samples import DRAW, INDEX_BITS, WHITE_BIT, SampleGame, pack, pack_moves, rule_codes
from gtp_engine.training.data.shards import read_shard, shard_files
from gtp_engine.training.run_settings import GameSettings, MachineSettings, RunSettings
from gtp_engine.training.selfplay import Counts, FinishedGame, SelfPlay, score_game, surprise_of
from gtp_engine.training.selfplay_games import selfplay as iterate
from gtp_engine.training.settings_toml import parse_settings
from gtp_engine.training.workers import SelfPlayPool

LIMIT = 400  # seconds; the first start may compile the core
SELFPLAY = [sys.executable, "-m", "gtp_engine", "selfplay", "--network", "none", "--workers", "1", "--seed", "3"]
SELFPLAY += ["--board-size", "5"]
TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("networks") / "small.bin.gz"
    model = Model(parse_config("b1c16")).initialise(torch.Generator().manual_seed(1))
    write_katago_file(model.stored(), path)
    return str(path)


def play(settings: RunSettings, network: str, games: int) -> list[FinishedGame]:
    done: list[FinishedGame] = []
    selfplay = SelfPlay(settings, (1,))
    while len(done) < games:
        done += selfplay.play(network)[0]
    counts = selfplay.counts
    assert counts.positions / counts.capacity > 0.5
    assert counts.positions > counts.moves > 0
    selfplay.close()
    return done


def few_at_a_time() -> RunSettings:
    settings = miniature.settings()
    return replace(settings, machine=replace(settings.machine, concurrency=4))


def as_samples(settings: str, network: str, games: int) -> list[SampleGame]:
    return [unpacked(game.sample) for game in play(parse_settings(settings), network, games)]


def check_count(game: Game, sample: SampleGame) -> None:
    score, ownership = score_game(game)
    assert (score.points, score.winner) == (sample.margin, sample.winner)
    np.testing.assert_array_equal(ownership, sample.ownership)


def check_against_record(sample: SampleGame, record: GameRecord) -> None:
    """The record's moves lead to the sample's result."""
    game = record.to_game()
    assert all(getattr(game, name) == getattr(sample, name) for name in ("width", "height", "komi"))
    assert rule_codes(game.rules) == rule_codes(sample.rules)
    np.testing.assert_array_equal(pack_moves(game.moves, game.width, game.height), sample.moves)
    check_count(game, sample)
    winner = {BLACK: "B+", WHITE: "W+", DRAW: "0"}[sample.winner]
    assert record.result.startswith(winner)
    assert game.is_over or len(game.moves) == 2 * game.area


def test_games_agree_with_their_records(network: str, tmp_path: Path) -> None:
    settings = miniature.text(sizes="{ 5 = 1.0, 7x6 = 0.5 }")
    games = play(parse_settings(settings), network, 20)
    path = tmp_path / "games.sgf"
    path.write_text("".join(game.sgf for game in games))
    records = list(read_sgf_games(path))
    assert len(records) == len(games)
    samples = [unpacked(game.sample) for game in games]
    for sample, record in zip(samples, records, strict=True):
        check_against_record(sample, record)
        assert record.root.text("GN") == str(sample.number)
    assert len({sample.number for sample in samples}) == len(games)
    assert len({tuple(sample.moves) for sample in samples}) == len(games)
    assert len({sample.komi for sample in samples}) > 3
    assert len({sample.rules for sample in samples}) == 2
    assert {(sample.width, sample.height) for sample in samples} == {(5, 5), (7, 6)}


def test_a_number_of_games_is_begun_and_finished(network: str) -> None:
    """The first games to finish would be the short ones."""
    done: list[FinishedGame] = []
    selfplay = SelfPlay(few_at_a_time(), (1,), total=6)
    while not selfplay.is_done:
        done += selfplay.play(network)[0]
        assert len(selfplay.games) + len(done) <= 6
    assert len(done) == 6 and not selfplay.games
    assert selfplay.play(network)[0] == []
    selfplay.close()


def test_targets_are_the_movers(network: str) -> None:
    games = as_samples(miniature.SETTINGS, network, 10)
    samples = Samples(pack(games))
    weights = np.concatenate([game.weights for game in games])
    numbers = np.arange(len(samples))
    batch = samples.batch(numbers, np.zeros(len(samples), np.int64))
    row = 0
    for game in games:
        for move in np.flatnonzero(game.weights > 0):
            mover = WHITE if game.moves[move] & 0x8000 else BLACK
            sign = 1 if mover == BLACK else -1
            expected = 0.5 if game.winner == DRAW else float(game.winner == mover)
            assert batch.value[row, WIN] == expected and batch.value[row, LOSS] == 1 - expected
            assert batch.score[row] == sign * game.margin
            np.testing.assert_array_equal(batch.ownership[row], sign * game.ownership)
            target = game.policies[move]
            dense = np.zeros(game.width * game.height + 1)
            dense[target[0]] = target[1] / target[1].sum()
            np.testing.assert_allclose(batch.policy[row], dense, atol=1e-4)
            assert batch.policy[row].sum() == pytest.approx(1, abs=1e-3)
            row += 1
    assert row == len(samples) == np.count_nonzero(weights)
    surprises = np.concatenate([game.surprises for game in games])
    assert (surprises >= 0).all() and np.mean(surprises > 0) > 0.9  # there are positions with a single move


def test_cheap_searches_and_openings_are_no_samples(network: str) -> None:
    text = miniature.text().replace("visits = { 0 = 12 }", "visits = { 0 = 12 }\nfull_share = 0.25\ncheap_visits = 3")
    games = as_samples(text, network, 12)
    weights = np.concatenate([game.weights for game in games])
    assert 0.1 < np.mean(weights > 0) < 0.4
    for game in games:
        assert [target is None for target in game.policies] == (game.weights == 0).tolist()
        assert not game.surprises[game.weights == 0].any()


def test_surprise_is_the_divergence_from_the_priors() -> None:
    expected = 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.65)
    assert surprise_of(np.array([0.5, 0.5, 0]), np.array([0.25, 0.65, 0.1])) == pytest.approx(expected)
    assert surprise_of(np.array([0.5, 0.5]), np.array([0.5, 0.5])) == 0


def test_decided_games_are_played_on_cheaply(network: str) -> None:
    changed = "sizes = { 5 = 1.0 }\nresign_winrate = 0.5\nresign_moves = 2\nresign_weight = 0.125\ncheck_share = 0.5"
    games = play(parse_settings(miniature.text().replace("sizes = { 5 = 1.0 }", changed)), network, 20)
    assert any(game.is_decided and not game.is_checked for game in games)
    assert any(game.is_decided and game.is_checked for game in games)
    for game in games:
        weights = set(game.sample.weights.tolist()) - {0.0}
        assert weights <= ({1.0, 0.125} if game.is_decided and not game.is_checked else {1.0})


def test_puct_with_noise(network: str) -> None:
    text = miniature.text().replace("[search]", '[search]\nroot = "puct"')
    games = as_samples(text, network, 6)
    for game in games:
        shares = [target[1] for target in game.policies if target is not None]
        assert all(share.sum() == pytest.approx(1, abs=0.05) for share in shares)


def test_another_network_takes_over_games_under_way(network: str, tmp_path: Path) -> None:
    selfplay = SelfPlay(few_at_a_time(), (1,))
    selfplay.play(network)
    other = tmp_path / "other.bin.gz"
    write_katago_file(Model(parse_config("b1c16")).initialise(torch.Generator().manual_seed(2)).stored(), other)
    done: list[FinishedGame] = []
    while len(done) < 8:
        done += selfplay.play(str(other))[0]
    assert all("PB[other]" in game.sgf for game in done)
    selfplay.close()


def selfplay(folder: Path, *options: str, status: int = 0) -> str:
    command = [*SELFPLAY, "--sgf-dir", str(folder), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stdout + ran.stderr


def test_the_command_saves_games_and_samples(network: str, tmp_path: Path) -> None:
    output = selfplay(tmp_path, "--network", network, "--games", "12", "--visits", "8", "--comments", "--komi", "3")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["000001.sgf", "000001.shard"]
    records = list(read_sgf_games(tmp_path / "000001.sgf"))
    games = read_shard(tmp_path / "000001.shard")
    assert len(records) == games.game_count == 12
    assert {record.komi for record in records if isinstance(record, GameRecord)} == {3.0}
    assert {int(number) for number in games.games["number"]} == {int(record.root.text("GN")) for record in records}
    comment = re.compile(r"Black's win rate: [\d.]+%\nLead: (?:[BW]\+[\d.]+|even)\nVisits: \d+")
    assert all(comment.match(node.comment) for node in records[0].main_line if node.move)
    assert re.search(r"12 games; black wins \d+%, \d+ moves per game.*; in ", output)
    assert re.search(r"^self-play \d+ of 12, ", output, re.MULTILINE)
    assert "\x1b" not in output
    selfplay(tmp_path, "--network", network, "--games", "2", "--visits", "2", "--workers", "1")  # beside the others
    assert [read_shard(path).game_count for path in shard_files(tmp_path)] == [12, 2]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process on Windows")
def test_control_c_keeps_what_is_finished(network: str, tmp_path: Path) -> None:
    command = [*SELFPLAY, "--sgf-dir", str(tmp_path), "--games", "100000", "--visits", "2", "--network", network]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    deadline = time.monotonic() + LIMIT
    while not list(tmp_path.glob("*.shard")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130, output
    assert re.search(r"stopped\n[\d,]+ games; black wins", output)
    assert "Traceback" not in output


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    blocked = tmp_path / "file" / "games"
    assert f"Error: {blocked}: " in selfplay(blocked, "--games", "1", status=1)


# Black's chain at the top has two eyes and owns the rest of its side; the white stone inside is certainly dead.
DEAD_STONE = """
    . X . X . o
    X X X X X X
    O O O O O O
    . O . O O O
    O O O O . O
"""


@pytest.mark.parametrize(("rules", "margin"), [("chinese", 12 - 18 - 1), ("tromp-taylor", 10 - 19 - 1)])
def test_stones_that_are_proven_dead_come_off_where_players_may_agree(rules: str, margin: float) -> None:
    score, ownership = score_game(game_of(DEAD_STONE, rules, komi=1.0))
    assert (score.points, score.winner) == (margin, WHITE)
    assert ownership[:6].tolist() == ([1] * 6 if rules == "chinese" else [1, 1, 1, 1, 0, -1])
    assert ownership[6:].tolist() == [1] * 6 + [-1] * 18


def test_self_play_has_no_handicap() -> None:
    game = new_game(GameSettings(sizes={"7": 1.0}, rules=["chinese"]), np.random.default_rng(1))
    komi = game.board["komi"][0]
    for vertex in ("A3", "pass", "B2"):
        game.play(game.to_move, vertex)
    assert game.handicap_bonus == game.copy().handicap_bonus == 0 and game.board["komi"][0] == komi
    game.clear()
    for vertex in ("A3", "pass", "B2"):
        game.play(game.to_move, vertex)
    assert game.handicap_bonus == 2


def test_random_games_are_legal_and_counted_exactly() -> None:
    rules = ["tromp-taylor", "chinese", "aga-button", "stone-scoring"]
    settings = GameSettings(sizes={"7": 1.0, "9x6": 1.0}, rules=rules, wide_komi_share=0.5)
    games, again = (list(random_games(settings, 60, seed=5)) for _ in range(2))
    assert all(np.array_equal(one.moves, other.moves) for one, other in zip(games, again, strict=True))
    assert {(game.width, game.height) for game in games} == {(7, 7), (9, 6)}
    assert len({game.komi for game in games}) > 5
    for sample in games:
        game = Game(sample.width, sample.height, rules=sample.rules, komi=sample.komi)
        for packed in sample.moves:
            point = point_of_index(int(packed & INDEX_BITS), game.width, game.height)
            assert game.is_legal(point)
            assert (WHITE if packed & WHITE_BIT else BLACK) == game.to_move
            game.play(game.to_move, point)
        assert game.is_over
        check_count(game, sample)


SETTINGS = RunSettings(games=GameSettings(sizes={"5": 1.0}), machine=MachineSettings(workers=1, concurrency=2))


@pytest.mark.skipif(sys.platform == "win32", reason="a process has no signals there")
def test_a_killed_process_is_replaced_and_its_games_are_played_again(caplog: pytest.LogCaptureFixture) -> None:
    games: list[FinishedGame] = []
    with Processes() as pool:
        workers = SelfPlayPool(pool, SETTINGS, seed=1, total=12)
        workers.play("none", 1)
        while len(games) < 12:
            games += workers.collect(60.0)
            if len(games) in range(1, 8) and not caplog.records:
                (executor,) = pool._executors.values()
                os.kill(*executor._processes, signal.SIGKILL)
        assert not list(workers.collect(1.0)) and not list(workers.pause())
    assert len({unpacked(game.sample).number for game in games}) == len(games) == 12
    (record,) = caplog.records
    assert record.getMessage().startswith("worker lost, another one replaces it: it has crashed, or was killed by ")


def test_an_error_of_a_worker_is_raised_here() -> None:
    with Processes() as pool:
        workers = SelfPlayPool(pool, SETTINGS, seed=1)
        workers.play("nosuch.bin.gz", 1)
        with pytest.raises(UserError, match=r"nosuch\.bin\.gz"):
            while True:
                list(workers.collect(60.0))


def test_processes_end_with_the_pool_even_while_they_play() -> None:
    with Processes() as pool:
        SelfPlayPool(pool, SETTINGS, seed=1).play("none", 1)
        (executor,) = pool._executors.values()
        (process,) = executor._processes.values()
    process.join(60)
    assert process.exitcode is not None


class ThreeWorkers(PoolHere):
    """One worker fails, one is lost, one does not answer, and the last one has finished a game."""

    def _ready(self) -> list[int]:
        return [0, 1, 2, 3]

    def _receive(self, seconds: float) -> Iterator[tuple[int, Any]]:
        if self._waiting:
            self._waiting.clear()
            yield 0, UserError("failed")
        elif len(self.under_way) > 1:
            yield 1, ProcessLostError("killed")
            yield 3, ([finished_game(1)], Counts())


def test_a_stop_keeps_finished_games_although_workers_are_lost_or_do_not_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(selfplay_workers, "_PATIENCE_SECONDS", 0.1)
    pool = ThreeWorkers()
    workers = SelfPlayPool(pool, SETTINGS, seed=1)
    workers.play("none", 1)
    assert [unpacked(game.sample).number for game in workers.stop()] == [1]
    assert len(pool.under_way) == 1, "the others are not called again"


def test_games_are_finished_and_come_again_with_the_same_seed() -> None:
    options = {"games": 3, "width": 4, "visits": 4}
    first, again, others = (list(iterate("none", **options | {"seed": seed})) for seed in (5, 5, 6))
    assert len(first) == 3
    for record in first:
        assert record.to_game().is_over or len(record.moves) == 2 * 16
        assert record.result[:2] in ("B+", "W+", "0")
        assert (record.width, record.height) == (4, 4)
    texts = [[record.to_sgf() for record in records] for records in (first, again, others)]
    assert texts[0] == texts[1] != texts[2]


def test_a_network_plays_with_given_rules_and_komi() -> None:
    (record,) = iterate(TINY, games=1, width=5, height=4, visits=2, rules="chinese", komi=0.5, seed=1, comments=True)
    assert (record.width, record.height, record.komi, record.rules) == (5, 4, 0.5, "Chinese")
    assert "win rate" in record.main_line[1].comment
    assert record.black == "tiny"


def test_without_a_number_the_games_do_not_end() -> None:
    games = iterate("none", width=3, visits=2, concurrency=2, seed=1)
    assert len(list(itertools.islice(games, 5))) == 5
    games.close()  # type: ignore[attr-defined]


def test_games_that_nobody_finishes_end_with_the_program_in_silence() -> None:
    program = "from gtp_engine import selfplay; games = selfplay('none', width=3, visits=2, concurrency=2); next(games)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "options",
    [
        *({"network": wrong} for wrong in ("nosuch", 5)),
        *({"games": wrong} for wrong in (0, "3")),
        *({"visits": wrong} for wrong in (0, None)),
        *({"rules": wrong} for wrong in ("go", "japanese")),
        *({"concurrency": 1.5}, {"width": "9"}, {"width": 20, "network": "none"}, {"komi": "7"}, {"seed": -1}),
    ],
)
def test_wrong_arguments_are_refused_before_the_first_game(options: dict[str, object]) -> None:
    with pytest.raises(UserError):
        iterate(**options)  # type: ignore[arg-type]
