"""The first steps: their texts in all languages, tasks that the rules decide, and the files that teachers write."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.languages.texts import LANGUAGES, Phrase
from gtp_engine.go.coords import PASS, WHITE, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.study import first_steps
from gtp_engine.study.ataris import find_ataris, sentences_about, shapes_of, what_to_do
from gtp_engine.study.first_steps import FIRST_CAPTURE, GAME, Step, read_steps
from gtp_engine.study.learner import ASKED, DRAWN, RIGHT, WRONG, Learner
from gtp_engine.table.database import Database

TEXT = files("gtp_engine.study").joinpath("first_steps.toml").read_text("utf-8")
TABLES: list[dict[str, Any]] = tomllib.loads(TEXT)["step"]
STEPS = read_steps()
TASKS = range(5)


def learner(number: int, *moves: str) -> Learner:
    """Somebody who has played these moves in a step."""
    found = Learner(STEPS)
    found.go(number)
    for move in moves:
        found.play(found.game.point(move))
    return found


def legal_points(step: Step) -> list[int]:
    width, height = step.start.width, step.start.height
    return [point_of_index(move, width, height) for move in step.start.legal_moves()[:-1].nonzero()[0].tolist()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_all_texts_of_its_own(language: str) -> None:
    for number, table in enumerate(TABLES):
        texts = table[language]
        assert set(texts) == set(table["en"]), number
        assert all(text.strip() == text != "" for text in texts.values()), number
        if language != "en":  # "Ko" is called so in Spanish too
            assert all(texts[key] != table["en"][key] for key in texts if key != "title"), number
        for key, text in texts.items():  # a point that English names is named everywhere
            for point in re.findall(r"\b[A-G][1-7]\b", table["en"][key]):
                assert point in text, (number, key)


def test_the_steps_are_five_boards_two_small_games_and_a_whole_one() -> None:
    assert [step.goal for step in STEPS] == [
        "capture",
        "capture",
        "capture",
        "live",
        "win",
        FIRST_CAPTURE,
        FIRST_CAPTURE,
        GAME,
    ]
    assert [step.start.width for step in STEPS[5:]] == [5, 7, 9]


@pytest.mark.parametrize("number", TASKS)
def test_each_task_has_a_solution_and_every_other_try_is_answered(number: int) -> None:
    step, solved = STEPS[number], 0
    assert not step.is_reached(step.start)
    for point in [*legal_points(step), PASS]:
        tried = learner(number)
        tried.play(point)
        if tried.state == ASKED:  # two moves are needed
            solution = step.solution(tried.game, 1)
            assert solution is not None
            tried.play(solution)
            assert tried.state == RIGHT
        solved += tried.state == RIGHT
        assert tried.said == {RIGHT: "right", WRONG: "wrong"}[tried.state]
        assert all(step.texts[language][tried.said] for language in LANGUAGES)
    found = {"capture": len(legal_points(step)) + 1 if step.moves == 2 else 1, "live": 1, "win": 1}
    assert solved == found[step.goal]


def test_capture() -> None:
    assert learner(0, "D3").state == RIGHT
    failed = learner(0, "A1")
    assert (failed.state, failed.game.stone_at("D3")) == (WRONG, WHITE)
    failed.play(failed.game.point("D3"))  # begins anew
    assert failed.state == RIGHT


def test_suicide_is_refused_with_the_text_of_the_step() -> None:
    refused = learner(1, "B5")
    assert (refused.state, refused.said, refused.remarks) == (ASKED, "refused", [])
    refused.play(refused.game.point("G4"))
    assert (refused.said, refused.game.captures("black")) == ("right", 5)


def test_ko() -> None:
    retaken = learner(2, "C3")
    assert (retaken.state, retaken.said) == (ASKED, "refused")
    retaken.play(retaken.game.point("A1"))
    assert retaken.remarks == [Phrase("plays", {"colour": Phrase("white"), "move": "E5"})]
    retaken.play(retaken.game.point("C3"))
    assert retaken.state == RIGHT
    assert not retaken.game.is_legal("B3")  # now it is White who may not take back
    assert learner(2, "A1", "A5").state == WRONG


def test_an_end() -> None:
    assert learner(4, "pass").game.stone_at("D4") == WHITE
    assert learner(4, "D4", "A1").state == WRONG
    ended = learner(4, "D4", "pass")
    assert ended.game.is_over
    assert ended.remarks == [Phrase("steps.count", {"black": 26, "white": 23})]


def test_an_occupied_point_is_refused_kindly() -> None:
    refused = learner(0, "C3")
    assert (refused.state, refused.said) == (ASKED, "task")
    assert refused.remarks == [Phrase("steps.occupied", {"move": "C3"})]


def test_a_hint_solves_the_task() -> None:
    for number, hints in enumerate(["D3", "G4", None, "B1", "D4"]):
        advised = learner(number, "A1" if number != 4 else "pass")  # a wrong try is taken back first
        (hint,) = advised.hint()
        assert hint.name == "steps.try" and hint.values["move"] == (hints or "C3")
    assert learner(4, "D4").hint() == [Phrase("steps.tryPass")]
    assert learner(7).hint() == [Phrase("steps.noAtari")]


def test_a_move_is_taken_back_with_the_answer() -> None:
    undone = learner(2, "A1")
    undone.undo()
    undone.undo()
    assert undone.game.stones().tolist() == STEPS[2].start.stones().tolist()
    assert not undone.game.is_legal("C3")  # the ko is there again


def said_of(game: Game) -> list[tuple[object, ...]]:
    said = sentences_about(find_ataris(game), game)
    return [(phrase.name, *(phrase.values[key] for key in ("count", "place", "move"))) for phrase in said]


def test_the_moves_that_take_and_save_most_are_put_into_words() -> None:
    game = Game(7)
    black, white = "C7 D7 E7 B6 C5 D5 E5 A1 B1 D2 G6 G3", "C6 D6 E6 A2 B2 G7 G4 F3"
    game.set_up(black.split(), white.split())
    expected = [("steps.canTake", 3, "E6", "F6"), ("steps.inAtari", 2, "B1", "C1"), ("steps.canTake", 1, "G7", "F7")]
    assert said_of(game) == expected
    assert len(shapes_of(find_ataris(game))) == 7, "the board marks that at G3 too"


def test_a_capture_that_frees_own_stones_is_named_before_one_that_does_not() -> None:
    """A7 would be suicide: only the capture at D7 saves the stone at B7."""
    game = Game(7)
    game.set_up(["B7", "C6", "F1"], ["C7", "A6", "B6", "G1"])
    assert said_of(game) == [
        ("steps.canTake", 1, "C7", "D7"),
        ("steps.inAtari", 1, "B7", "D7"),
        ("steps.canTake", 1, "G1", "G2"),
    ]


def test_an_extension_that_saves_nothing_is_not_advised() -> None:
    saved, short, ladder = (Game(5, komi=0) for _ in range(3))
    saved.set_up(["A1", "A4"], [], WHITE)
    short.set_up(["A1"], ["A3"], WHITE)
    ladder.set_up(["A1"], [], WHITE)
    for game in (saved, short, ladder):
        game.play(WHITE, "B1")
        assert said_of(game) == [("steps.inAtari", 1, "A1", "A2") if game is saved else ("steps.lost", 1, "A1", "pass")]
        assert shapes_of(find_ataris(game)) == {game.point("A1"): "triangle"}
    short.play("black", "D2")
    short.play(WHITE, "D4")
    assert what_to_do(short) == [Phrase("steps.noneHelped")], "that the stone is lost is said once"


def test_the_first_capture_ends_a_game_for_either_player() -> None:
    won = learner(5, "A2")
    assert won.needs_reply
    won.reply(won.game.point("A1"))
    assert sentences_about(find_ataris(won.game), won.game) == [
        Phrase("steps.canTake", {"count": 1, "place": "A1", "move": "B1"})
    ]
    won.play(won.game.point("B1"))
    assert (won.state, won.said, won.needs_reply) == (RIGHT, "right", False)
    lost = learner(5, "A1")
    lost.reply(lost.game.point("A2"))
    assert [remark.name for remark in lost.remarks] == ["steps.lost"], "a ladder along the edge"
    lost.play(lost.game.point("E5"))
    lost.reply(lost.game.point("B1"))
    assert (lost.state, lost.said) == (WRONG, "wrong")
    lost.play(lost.game.point("D4"))  # a further click
    assert lost.state == WRONG and lost.game.stone_at("B1") == WHITE, "how it was lost stays on the board"
    lost.undo()
    assert lost.state == ASKED and lost.game.stone_at("A1")
    lost.play(PASS)
    lost.reply(PASS)
    assert (lost.state, lost.remarks) == (DRAWN, [Phrase("steps.nobody")])


def test_ataris_are_marked_unless_they_cannot_be_taken_now() -> None:
    game = Game(5, komi=0)
    game.set_up("B4 A3 B2 C3 E1", "C4 D3 C2 D1", "white")
    game.play("white", "B3")  # a ko: Black may not take back at once
    game.play("black", "E4")
    game.to_move = "white"
    assert shapes_of(find_ataris(game)) == {game.point("E1"): "triangle", game.point("B3"): "square"}
    game.undo()
    assert [said.name for said in what_to_do(game)] != ["steps.noAtari"]
    assert {game.vertex(point): shape for point, shape in shapes_of(find_ataris(game)).items()} == {"E1": "triangle"}


def test_the_step_is_remembered(tmp_path: Path) -> None:
    database = Database(tmp_path / "data" / "kept.db")
    Learner(STEPS, database).go(3)
    assert Learner(STEPS, database).number == 3
    assert Learner(STEPS[:2], database).number == 1  # another file may have fewer


# Own files.

OWN = """
[[step]]
goal = "capture A1"
board = '''
...
X..
O..
'''
[step.en]
title = "One"
text = "A stone."
task = "Take it."
right = "Yes."
wrong = "No."
"""


def own(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "own.toml"
    file.write_text(text, "utf-8")
    return file


def test_a_missing_language_or_text_is_shown_in_english(tmp_path: Path) -> None:
    text = OWN + '[step.ja]\ntitle = "一"\n'
    (step,) = read_steps(own(tmp_path, text))
    assert step.texts["ja"] == step.texts["en"] | {"title": "一"}
    assert step.texts["ar"] == step.texts["en"]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ('goal = "capture A1"', "", "step 1: no task: it needs a goal, such as capture C3"),
        ('goal = "capture A1"', 'goal = "escape A1"', "step 1: unknown goal 'escape A1'"),
        ("capture A1", "capture C3", "step 1: goal 'capture C3': no white stone there"),
        ("capture A1", "live A1", "step 1: goal 'live A1': no black stone there"),
        ("capture A1", "capture Z9", "step 1: .*Z9"),
        ("O..", "OX.", "step 1: cannot set up A1: a chain there has no liberty"),
        ("X..", "X.", "step 1: board: expected rows of equal length"),
        ("X..", "X.Q", "step 1: board: expected rows of equal length, of X, O and ."),
        ("X..", "..X", "step 1: no move solves the task"),
        ("[[step]]", "[[step]]\nmoves = 3", "step 1: expected 1 or 2 moves"),
        ("[[step]]", "[[step]]\nbefore = ['white A1']", "step 1: illegal move: A1 is occupied"),
        ("[[step]]", "[[step]]\nanswer = ['B1']", "step 1: unknown 'answer'"),
        ('task = "Take it."', "", r"step 1: \[step.en\] has no task"),
        ("[step.en]", "[step.fr]", "step 1: unknown 'fr' .*; languages: en, .*es.*"),
        ("[step.en]", "[step.ja]", r"step 1: \[step.en\] has no title"),
        ('right = "Yes."', 'rihgt = "Yes."', r"step 1: \[step.en\], rihgt: expected texts named title, text"),
        ('right = "Yes."', "right = 1", r"step 1: \[step.en\], right: expected texts named title, text"),
        ("[step.en]", "en = 1\n[step.ja]", r"step 1: expected a table \[step.en\]"),
        (OWN, "", "is to hold steps and nothing else"),
        (OWN, "[[step", "cannot be read"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, before: str, after: str, problem: str) -> None:
    assert before in OWN
    with pytest.raises(UserError, match=problem) as error:
        read_steps(own(tmp_path, OWN.replace(before, after)))
    assert "\n" not in str(error.value) and str(error.value).startswith(f"first steps: {tmp_path / 'own.toml'}")


def test_the_refusal_of_a_file_names_its_encoding(tmp_path: Path) -> None:
    path = own(tmp_path, OWN)
    path.write_text(OWN, "utf-16")
    with pytest.raises(UserError, match=r"own.toml cannot be read: not a text file in UTF-8$"):
        read_steps(path)


def test_the_boards_are_read_without_compiled_functions_of_their_own() -> None:
    """At the first start they would wait for the engine, which compiles others for a minute."""
    assert [name for name, value in vars(first_steps).items() if hasattr(value, "py_func")] == []
