"""The first steps in the terminal."""

from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from unittest.mock import Mock

import pytest
from piped_game import PLAY, play, run
from pseudo_terminal import Terminal

from gtp_engine.base.languages.texts import LANGUAGES, texts
from gtp_engine.clients.terminal.learning import Lessons, terminal_language
from gtp_engine.engine.engine import Decision
from gtp_engine.engine.ranks import WEAKEST, Rank
from gtp_engine.go.coords import PASS, WHITE
from gtp_engine.study.first_steps import read_steps
from gtp_engine.study.learner import Learner, opponent_move
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating

# What is typed on the five boards, a wrong try first, and the text that answers each line. A is a label on the board.
BOARDS = [
    ("A1", "wrong"), ("D3", "right"), ("", "task"),
    ("A", "refused"), ("A1", "wrong"), ("G4", "right"), ("", "task"),
    ("C3", "refused"), ("A1", "task"), ("C3", "right"), ("", "task"),
    ("C1", "wrong"), ("B1", "right"), ("", "task"),
    ("pass", "wrong"), ("D4", "task"), ("pass", "right"), ("", "task"),
]  # fmt: skip
STEPS = read_steps()


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


class Typist:
    """A screen on which these lines are typed; it keeps what is said after each."""

    def __init__(self, *lines: str) -> None:
        self._lines = [*lines]
        self.said: list[list[str]] = [[]]
        self.console = Mock(width=80)

    def ask(self, _: str) -> str | None:
        self.said.append([])
        return self._lines.pop(0) if self._lines else None

    def say(self, text: str, style: str = "") -> None:
        self.said[-1].append(text)

    def show(self, position: object) -> None:
        pass


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_five_boards_are_solved_in_every_language(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.terminal.learning.board_view", Mock())
    lines = [texts(language)("pass") if line == "pass" else line for line, _ in BOARDS]  # or in English, as below
    screen, learner = Typist(*lines), Learner(STEPS)
    assert not Lessons(screen, Mock(), language, lambda: learner).run(Mock())  # type: ignore[arg-type]
    number = 0
    for (line, name), said in zip(BOARDS, screen.said[1:-1], strict=True):
        number += line == ""
        assert STEPS[number].texts[language][name] in said, (number, line, said)
    assert learner.number == 5


def test_the_language_is_changed_in_the_middle_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtp_engine.clients.terminal.learning.board_view", Mock())
    screen, learner = Typist("D4", "日本語", "EN", "pass"), Learner(STEPS)
    learner.go(4)
    Lessons(screen, Mock(), "es", lambda: learner).run(Mock())  # type: ignore[arg-type]
    assert "u otro idioma: English (en), العربية (ar), Español (es), 日本語 (ja)" in screen.said[0][-1]
    for number, language in enumerate(("es", "ja", "en"), 1):
        assert STEPS[4].texts[language]["task"] in screen.said[number]
        assert number == 1 or STEPS[4].texts[language]["text"] in screen.said[number]
    assert STEPS[4].texts["en"]["right"] in screen.said[4], "the move before still stands"


def test_a_game_of_the_steps_is_played_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("board_view", "ask_opponent"):
        monkeypatch.setattr(f"gtp_engine.clients.terminal.learning.{name}", Mock())
    screen, learner = Typist("A2", "", "hint", "B1", "", "next", "", "E5"), Learner(STEPS)
    learner.go(5)
    replies = iter(["A1"])

    def wait(_: Future[Decision], doing: str) -> Decision:
        assert doing == "White is thinking"
        return Decision(WHITE, learner.game.point(next(replies)))

    assert Lessons(screen, Mock(), "en", lambda: learner).run(wait)  # type: ignore[arg-type]
    taken = "The stone at A1 can be taken: play at B1."
    assert all(taken in screen.said[place] for place in (1, 2, 3))  # Enter keeps the game
    assert screen.said[4] == ["You have captured first: you win!", "Press Enter for the next step."]
    assert learner.step.goal == "game" and len(screen.said) == 8  # Enter begins the game


def test_the_opponent_takes_what_it_can() -> None:
    learner = Learner(STEPS)
    learner.go(5)
    learner.play(learner.game.point("A1"))
    learner.reply(learner.game.point("A2"))
    learner.play(learner.game.point("E5"))
    assert learner.game.vertex(opponent_move(learner.game, Decision(WHITE, PASS))) == "B1"


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "es_ES", "LC_ALL": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_the_language_is_the_terminals(
    variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert terminal_language() == language


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    options = ("--network", "auto", "--threads", "1", "--seed", "1", "--board-size", "9", "--language", "es")
    program = Terminal(*PLAY, *options, "--sgf-dir", str(tmp_path / "games"))
    yield program
    program.close()


def test_who_has_never_played_goes_from_the_first_question_to_a_whole_game(terminal: Terminal) -> None:
    terminal.expect("(?s)How strong are you.*¿Nunca has jugado al go.*your rank> ")
    terminal.send("Nunca he jugado\r")
    number = 1
    for line, _ in BOARDS:
        terminal.expect(f"Primeros pasos {number}> ")
        terminal.send(f"{line}\r")
        number += line == ""
    for line in ("nonsense", "C3", "undo", "next", "back", "quit"):
        terminal.expect("Primeros pasos [67]> ")
        terminal.send(f"{line}\r")
    assert Learner(read_steps(), Database()).number == 5
    assert KeptRating(Database()).rating == first_rating(WEAKEST)
    terminal.answer("learn", "Paso 6 de 8", "Primeros pasos 6> ")  # where it was left
    terminal.send("next\r")
    terminal.expect("Primeros pasos 7> ")
    terminal.send("next\r")
    terminal.expect("Primeros pasos 8> ")
    terminal.send("\r")
    terminal.expect(f"the engine plays at {WEAKEST}")
    terminal.answer("hint", "No hay piedras en atari")
    terminal.answer("quit")
    assert terminal.wait() == 0


def test_who_knows_the_rules_begins_against_25k(terminal: Terminal) -> None:
    terminal.expect("your rank> ")
    terminal.send("rules\r")
    terminal.expect("the engine plays at 25k and follows your results")
    assert KeptRating(Database()).rating == first_rating(Rank(-24))


def test_the_steps_can_be_typed_in_a_pipe(tmp_path: Path) -> None:
    said = play("learn\nD3\n\nquit\nquit\n", tmp_path, "--language", "ko")
    title = texts("ko")("steps.title")
    assert STEPS[0].texts["ko"]["right"] in said and f"{title} 2> quit" in said


def test_an_own_file_takes_the_place_of_the_steps(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        "[[step]]\ngoal = 'capture A1'\nboard = '''\n..\nX.\nO.\n'''\n[step.en]\ntitle = 'Mine'\ntext = 'A stone.'\n"
        "task = 'Take it.'\nright = 'Yes.'\nwrong = 'No.'\n"
    )
    said = play("learn\nB1\nquit\nquit\n", tmp_path, "--first-steps", str(file), "--language", "ja")
    assert "Mine" in said and "Yes." in said
    file.write_text(file.read_text().replace("X.", ".."))
    ran = run("quit\n", tmp_path, "--first-steps", str(file))
    assert ran.exit_code == 1
    assert ran.stderr.strip() == f"Error: first steps: {file}, step 1: no move solves the task"
