"""The log of the games that the owner of a bot reads."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conversation import Conversation

from gtp_engine.clients.gtp import game_log
from gtp_engine.clients.gtp.game_log import GameLog
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings

TIME = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d "


def test_moves_and_results_are_logged(start: Callable[..., Conversation], tmp_path: Path) -> None:
    path = tmp_path / "games.log"
    engine = start("--network", "uniform", "--visits", "16", "--threads", "1", "--seed", "1", "--log", str(path))
    commands = "boardsize 5;komi 3;play b c3;genmove w;play b pass;play w pass;final_score;clear_board;genmove b"
    answers = dict(zip(commands.split(";"), map(engine.ask, commands.split(";")), strict=True))
    own = r"16 visits, win rate \d+\.\d%, lead [+-]\d+\.\d, \d+\.\d\d s"
    lines = [
        "game 5x5, komi 3, chinese rules",
        "move 1 black C3",
        f"move 2 white {answers['genmove w']}: {own}",
        "move 3 black pass",
        "move 4 white pass",
        f"result {re.escape(answers['final_score'])}",
        "game 5x5, komi 3, chinese rules",
        f"move 1 black {answers['genmove b']}: {own}",
    ]
    found = path.read_text().splitlines()
    assert len(found) == len(lines)
    for line, pattern in zip(found, lines, strict=True):
        assert re.fullmatch(TIME + pattern, line), line


def test_a_log_that_cannot_be_written_is_said_at_the_start(start: Callable[..., Conversation], tmp_path: Path) -> None:
    engine = start("--network", "uniform", "--log", str(tmp_path / "nowhere" / "games.log"))
    engine.end_input()
    assert engine.wait() == 1
    assert engine.log().splitlines()[-1].endswith("games.log: No such file or directory")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(EngineSettings("uniform", threads=1, visits=2), width=5) as engine:
        yield engine


def test_a_full_log_makes_room_and_moves_taken_back_are_logged_again(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_log, "_BYTES", 1000)
    path = tmp_path / "games.log"
    log = GameLog(path)
    for _ in range(100):
        engine.play("black", "C3")
        log.ended(engine, "B+1")
        engine.undo()
        log.ended(engine, "0")
    log.close()
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir()}
    assert sizes.keys() == {"games.log", "games.log.1", "games.log.2"} and max(sizes.values()) <= 1000
    assert path.read_text().count("move 1 black C3") > 1


def test_a_game_that_is_sent_again_before_each_move_is_logged_once(engine: Engine, tmp_path: Path) -> None:
    """As gtp2ogs does; other moves in place of old ones begin the game anew."""
    path = tmp_path / "games.log"
    log = GameLog(path)
    for moves in (["C3"], ["C3", "D4"], ["C3", "D4", "B2"], ["C3", "A1", "B2"]):
        engine.clear_board()
        for number, point in enumerate(moves):
            engine.play("white" if number % 2 else "black", point)
        log.ended(engine, "0")
        log.ended(engine, "0")
    log.close()
    lines = [line.split(" ", 2)[2] for line in path.read_text().splitlines()]
    assert [line for line in lines if line.startswith("move 1 ")] == ["move 1 black C3"] * 2
    assert [line for line in lines if line.startswith("move 2 ")] == ["move 2 white D4", "move 2 white A1"]
    assert sum(line.startswith("game ") for line in lines) == 2 and lines.count("result 0") == 4
