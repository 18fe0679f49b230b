"""Samples as text: what is printed is what the learner gets."""

from pathlib import Path

import miniature
import numpy as np
from click.testing import CliRunner
from making import sample_game

from gtp_engine.clients.cli import main
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.training.data.game_records import is_held
from gtp_engine.training.data.loader import Samples
from gtp_engine.training.data.samples import pack
from gtp_engine.training.data.shards import write_shard
from gtp_engine.training.inspection import describe, describe_samples
from gtp_engine.training.run_folder import RunFolder
from gtp_engine.training.run_settings import RecordSettings, RunSettings


def game_on(width: int, height: int) -> Game:
    game = Game(width, height, komi=0.5)
    for vertex in ("A1", "B2", "pass"):
        game.play(game.to_move, vertex)
    return game


def policy(**shares: float) -> tuple[np.ndarray, np.ndarray]:
    return np.array([int(name[1:]) for name in shares], np.uint16), np.array([*shares.values()], np.float32)


def samples() -> Samples:
    """A game on 4x3, whose points are numbered from A3 row by row, beside one on a larger board."""
    owned = np.zeros(12, np.int8)
    owned[[0, 11]] = 1, -1
    small = sample_game(
        game_on(4, 3),
        7,
        winner=WHITE,
        margin=-2.5,
        ownership=owned,
        weights=np.array([1.0, 0.5, 0.0], np.float32),
        policies=[policy(m8=0.75, m12=0.25), policy(m5=1.0), None],
    )
    return Samples(pack([small, sample_game(game_on(5, 5), 8)]))


def described(position: int) -> list[str]:
    chosen = samples()
    (number,) = np.flatnonzero(chosen.positions == position)
    batch = chosen.batch(np.array([number]), np.zeros(1, np.int64))
    return describe(chosen, position, batch).splitlines()


def test_a_sample_is_shown_as_the_learner_gets_it() -> None:
    assert described(0) == [
        "game 7, move 1 of 3: Black to move plays A1; komi 0.5, weight 1",
        "   A B C D         A B C D",
        " 3 . . . . 3     3 X . . .",
        " 2 . . . . 2     2 . . . .",
        " 1 . . . . 1     1 . . . O",
        "   A B C D         A B C D",
        "policy      A1 75.0%, pass 25.0%; entropy 0.56",
        "opponent    B2 100.0%; entropy 0.00",
        "value       win 0.000, loss 1.000, no result 0.000",
        "score       -2.5 points",
        "stdev       0.0 points",
        "lead        -2.5 points",
    ]
    white = described(1)
    assert white[0].startswith("game 7, move 2 of 3: White to move plays B2; komi 0.5, weight 0.5")
    assert white[2].endswith(" 3 X . . .")  # the owners keep their colours
    assert white[-4:-2] == ["value       win 1.000, loss 0.000, no result 0.000", "score       +2.5 points"]
    assert white[-1] == "lead        +2.5 points" and not any(line.startswith("opponent") for line in white)


def test_a_target_that_is_not_known_is_left_out() -> None:
    lines = described(3)
    assert lines[0].startswith("game 8") and lines[1] == "   A B C D E" and lines[-1] == "lead        +5.0 points"


def test_what_is_shown_of_records_is_learned(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(RunSettings(records=RecordSettings(games=["/games.zip"])))
    folder.make_ready("learn")
    numbers = np.arange(100, dtype=np.uint64)
    held, learned = (numbers[chosen].tolist() for chosen in (is_held(numbers), ~is_held(numbers)))
    write_shard(samples().games.choose(np.zeros(2, np.bool_)), folder.games / "00000.shard")
    games = [sample_game(game_on(4, 4), number) for number in (*held[:3], learned[0])]
    write_shard(pack(games), folder.games / "00001.shard")
    for seed in range(8):
        shown = list(describe_samples(folder, 9, np.random.default_rng(seed)))
        assert len(shown) == 4 and all(text.startswith(f"game {learned[0]},") for text in shown[1:])


def test_the_command_prints_samples_of_the_newest_games(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    command = ["train", str(folder.path), "--show-samples", "9"]
    missing = CliRunner().invoke(main, command)
    assert (missing.exit_code, missing.stderr) == (1, f"Error: {folder.path}: there is no run in this folder\n")
    folder.create(miniature.settings())
    assert "the run has no samples yet" in CliRunner().invoke(main, command).stderr
    folder.make_ready("train")
    write_shard(pack([sample_game(game_on(5, 5), 5, winner=BLACK)]), folder.shards / "000001.shard")
    write_shard(samples().games, folder.shards / "000002.shard")
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0 and shown.output.startswith(f"5 of 5 samples in {folder.shards / '000002.shard'}; ")
    assert shown.output.count("policy      ") == 5 and "game 5" not in shown.output
