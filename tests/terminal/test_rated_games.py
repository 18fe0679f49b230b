"""The first game asks for the player's rank, and the opponent follows the results."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from piped_game import PLAY, play
from pseudo_terminal import Terminal

from gtp_engine.engine.ranks import Rank
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating

OPTIONS = ("--network", "auto", "--threads", "1", "--seed", "1", "--board-size", "9")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def terminal(data: Path, tmp_path: Path) -> Iterator[Terminal]:
    program = Terminal(*PLAY, *OPTIONS, "--sgf-dir", str(tmp_path / "games"))
    yield program
    program.close()


def rating(data: Path) -> object:
    return KeptRating(Database(data / "gtp_engine.db")).rating


@pytest.mark.slow  # the programs search with a network
def test_the_first_game_asks_once_and_results_count(terminal: Terminal, data: Path, tmp_path: Path) -> None:
    terminal.expect("(?s)How strong are you.*your rank> ")
    terminal.send("strong\r")
    terminal.expect("invalid rank 'strong': expected 25k to 5d, such as 12k, or max, or just Enter")
    terminal.expect("> ")
    terminal.send("18k\r")
    terminal.expect("the engine plays at 18k and follows your results; rank R changes that")
    for move in ("A1", "A9", "J1", "J9", "A4", "J6"):
        terminal.answer(move, "white plays")
    terminal.answer("resign", r"\[y/N\] ")
    terminal.send("y\r")
    terminal.expect("on the engine's scale you are about (19|20|21)k by 1 game, give or take [4-6] ranks")
    terminal.answer("new", r"the engine plays at 2\dk and follows")
    terminal.answer("C3", "white plays")
    for line, reply in (("hint", "n"), ("why", ""), ("undo", "n"), ("rank 9k", "no")):
        terminal.answer(line, r"after this, the game will not count for your rank: go on\? \[y/N\] ")
        terminal.send(f"{reply}\r")
        terminal.expect("nothing has changed: the game still counts")
    terminal.answer("hint", r"go on\? \[y/N\] ")
    terminal.send("y\r")
    terminal.expect("the engine helped: this game does not count for your rank")
    terminal.answer("rank 9k", "the engine plays at 9k")  # nothing is asked twice
    terminal.answer("quit")
    assert terminal.wait() == 0
    found = KeptRating(Database(data / "gtp_engine.db")).rating
    assert found is not None and found.games == 1 and found.rating < -1700
    again = Terminal(*PLAY, *OPTIONS, "--sgf-dir", str(tmp_path / "games"))
    try:
        again.expect(r"the engine plays at 2\dk and follows")
        again.end_input()
        assert again.wait() == 0 and "How strong" not in again.written
    finally:
        again.close()


@pytest.mark.parametrize(("answer", "rank"), [("Beginner", "25k"), ("初心者", "25k"), ("18 kyu", "18k"), ("3段", "3d")])
def test_a_rank_is_understood_as_players_say_it(terminal: Terminal, answer: str, rank: str) -> None:
    terminal.expect("(?s)How strong are you.*your rank> ")
    terminal.send("1p\r")  # the answer to which says what is understood
    terminal.expect("invalid rank '1p': expected 25k to 5d, such as 12k, or max, or just Enter")
    terminal.expect("> ")
    terminal.send(f"{answer}\r")
    terminal.expect(f"the engine plays at {rank} and follows your results")


def test_full_strength_can_be_chosen_for_good(terminal: Terminal, data: Path) -> None:
    terminal.expect("(?s)How strong are you.*your rank> ")
    terminal.send("max\r")
    terminal.expect("the engine plays at full strength until you type a rank")
    terminal.end_input()
    assert terminal.wait() == 0
    file = KeptRating(Database(data / "gtp_engine.db"))
    assert file.is_asked and file.rating is None


def test_the_end_of_input_at_the_question_keeps_nothing(terminal: Terminal, data: Path) -> None:
    terminal.expect("(?s)How strong are you.*your rank> ")
    terminal.send("\x04")
    assert terminal.wait() == 0
    assert not (data / "gtp_engine.db").exists()


def test_a_pipe_is_asked_nothing(data: Path, tmp_path: Path) -> None:
    said = play("C3\n", tmp_path / "one", *OPTIONS)
    assert "your win rate" in said and rating(data) is None
    said = play("A1\nA9\nJ1\nJ9\nA4\nJ6\nresign\n", tmp_path / "two", *OPTIONS, "--rank", "auto")
    assert "on the engine's scale you are about " in said
    found = KeptRating(Database(data / "gtp_engine.db")).rating
    assert found is not None and found.rank < Rank(-14)
    said = play("C3\nundo\nA1\nA9\nJ1\nJ9\nA4\nJ6\nresign\n", tmp_path / "three", *OPTIONS, "--rank", "auto")
    assert "a move was taken back: this game does not count for your rank" in said
    assert rating(data) == found


def test_a_game_that_is_refused_leaves_the_present_one_counting(data: Path, tmp_path: Path) -> None:
    play("A1\n", tmp_path / "games", *OPTIONS, "--rank", "auto")
    (other,) = (tmp_path / "games").iterdir()
    (tmp_path / "file").touch()
    said = play(f"C3\nload {other}\n", tmp_path / "file" / "games", *OPTIONS, "--rank", "auto", status=1)
    assert "this game would be lost: type save FILE first" in said and "does not count for your rank" not in said


def test_a_board_that_is_refused_leaves_the_present_game_counting(data: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.sgf"
    big.write_text("(;GM[1]SZ[25];B[aa])")
    options = (*OPTIONS, "--rank", "auto", "--strict")
    said = play(f"C3\nload {big}\nnew 25\n", tmp_path / "games", *options)
    assert said.count("plays on boards up to 19x19") == 2, said
    assert "does not count for your rank" not in said


def test_a_game_on_a_board_without_measured_ranks_does_not_count(terminal: Terminal) -> None:
    terminal.expect("(?s)How strong are you.*your rank> ")
    terminal.send("18k\r")
    terminal.expect("follows your results")
    terminal.answer("new 15", r"how strongly it plays here has not been measured")


def test_a_damaged_rating_is_said_in_one_line(data: Path, tmp_path: Path) -> None:
    data.mkdir()
    (data / "rating.json").write_text("{")
    said = play("C3\n", tmp_path / "games", *OPTIONS, "--rank", "auto")
    assert "rating.json is damaged, and kept as rating.json.old" in said
