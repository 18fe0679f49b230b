"""The lesson after a game and `why`: what is said of a review, and the commands in a game."""

import re
import threading
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import drawn_positions
import pytest
from piped_game import PLAY, only_game, play
from pseudo_terminal import Terminal
from reviews import D4, E5, G7, game_of, loss, reason

from gtp_engine.clients.terminal.board import mistake_legend, mistake_marks
from gtp_engine.clients.terminal.play import TerminalGame
from gtp_engine.clients.terminal.teaching import lesson_pages, what_if_lines, why_lines
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, PASS, WHITE
from gtp_engine.go.sgf import read_sgf
from gtp_engine.study.game_review import GameReview
from gtp_engine.study.level import Level
from gtp_engine.table.played_game import PlayedGame


def review_of(*points: float, **options: object) -> GameReview:
    """Moves that cost so many points, by Black and White in turn, looked at twice; the first one has a reason."""
    colours = [(BLACK, WHITE)[number % 2] for number in range(len(points))]
    moves = [
        replace(loss(number, colour, D4, (E5, G7)[number % 3 > 0], cost), is_checked=True)
        for number, (colour, cost) in enumerate(zip(colours, points, strict=True), 1)
    ]
    return game_of(moves, is_checked=True, reasons={1: (reason(),)}, **options)


SENTENCE = "   D4 is a neutral point: it gains no territory."
FOLLOWS = "   what follows: D4 F6 F6"


def test_the_lesson_has_the_most_costly_mistakes_of_one_player() -> None:
    assert lesson_pages(review_of(2.04, 9.0, 3.0, 9.0, 0.2, player=BLACK)) == [
        [
            "what mattered most, by a short search:",
            "1. move 3, D4, lost about 3.0 points; better: E5 F6",
            "mistake 1 of 2; to play on from before it, type again 1",
        ],
        [
            "2. move 1, D4, lost about 2.0 points; better: G7 F6",
            SENTENCE,
            "mistake 2 of 2; to play on from before it, type again 2",
        ],
    ]
    (praised,) = lesson_pages(review_of(0.0, 9.0, 3.0, player=BLACK, praised=(1,)))
    assert praised[2:4] == ["well played: move 1, D4", SENTENCE]
    assert "1. white's move 2, D4, lost about 9.0 points; better: G7 F6" in lesson_pages(review_of(2.0, 9.0))[0]
    assert lesson_pages(review_of(0.2, 9.0, player=BLACK)) == [["no mistake has been found in a short search"]]


def test_beginners_first_read_what_was_good_and_then_of_three_mistakes() -> None:
    level, points = Level(-25.0, 361), (0.0, 3.0, 4.0, 5.0, 6.0)
    moves = [loss(number, BLACK, D4, E5 + number - 1, lost) for number, lost in enumerate(points, 1)]
    checked = [replace(move, is_checked=True, level=level) for move in moves]
    review = game_of(checked, is_checked=True, reasons={1: (reason(),)}, player=BLACK, praised=(1,))
    first, *others = lesson_pages(review)
    assert first[:3] == ["well played: move 1, D4", SENTENCE, "what mattered most, by a short search:"]
    told = [first[3], *(page[0] for page in others)]
    assert [line.split(",")[0] for line in told] == ["1. move 5", "2. move 4", "3. move 3"]


def test_why_tells_mistakes_good_moves_and_that_nothing_is_known() -> None:
    assert why_lines(review_of(2.0, 0.2), BLACK) == [
        "your D4 lost about 2.0 points; better: G7 F6",
        SENTENCE,
        FOLLOWS,
        "white's D4: no reason for it is certain",
    ]
    assert why_lines(review_of(0.0, 4.0), WHITE) == [
        "black's D4:",
        SENTENCE,
        "your D4 lost about 4.0 points; better: G7 F6",
        "   Black answers at F6 and gains about 4 points.",
        FOLLOWS,
    ]
    assert why_lines(review_of(0.0), BLACK) == ["your D4: no mistake has been found", SENTENCE]
    assert why_lines(review_of(0.0), None)[0] == "black's D4:"
    over = review_of(0.2, 0.2)
    over = replace(over, searched=tuple(replace(move, ends_game=True) for move in over.moves))
    assert why_lines(over, BLACK)[-1] == "white's D4: two passes end the game"


def test_another_move_is_told_with_who_leads_the_best_answer_and_the_better_move() -> None:
    assert what_if_lines(loss(1, BLACK, D4, G7, 4.0)) == [
        "After D4, White leads by about 4.0 points. White's best answer is F6. D4 loses about 4 points; G7 is better.",
        "   what follows: D4 F6 F6",
    ]
    assert what_if_lines(loss(2, WHITE, G7, G7, 0.2))[0] == (
        "After G7, the game is close. Black's best answer is F6. G7 is the best move that was found."
    )
    assert "D4 is about as good as G7." in what_if_lines(loss(2, WHITE, D4, G7, 1.4))[0]
    assert " A pass loses about 4 points;" in what_if_lines(loss(1, BLACK, PASS, G7, 4.0))[0]


def test_what_if_in_a_game_at_a_rank(tmp_path: Path) -> None:
    options = ("--network", "b6c64-19x19", "--board-size", "9", "--rank", "20k")
    asked = "C3\nE5\nwhat if\nwhat if K3\nA1\nwhat if E5\nwhat if C3\nwhat if a1\nWhat If C3 at Move 1\nwhat if C3 5"
    said = play(f"what if {asked}\n", tmp_path, *options)
    for problem in ("you have not played a move yet", "missing point: type, for example, what if D4"):
        assert problem in said
    assert "illegal move: E5 is occupied" in said
    assert "invalid number of a move '5'" in said
    good, bad, earlier = re.findall(r"(?m)^(After .*\.)\n   what follows: \w\d", said)
    assert good.startswith("After C3, ") and "White's best answer is " in good
    assert earlier.startswith("After C3, ") and earlier != good
    assert bad.startswith("After A1, White leads by about ") and "A1 loses about " in bad


def test_one_line_where_nothing_can_be_taught(tmp_path: Path) -> None:
    said = play("why\nagain\nlesson\nC3\nwhy\n", tmp_path).splitlines()
    answers = [
        "no move has been played yet",
        "there is no mistake to try again: the lesson after a game shows some",
        "the game is not over: resign or pass first; why is about any move",
        "this needs a network, and the engine plays without one here",
    ]
    assert [line for line in said if line in answers] == answers


def test_dead_tells_how_dead_stones_would_be_captured(tmp_path: Path) -> None:
    with Engine(EngineSettings("none", threads=1, seed=1), width=7) as engine:
        engine.load(drawn_positions.game_of(drawn_positions.PRISONERS))
        played = PlayedGame(engine, humans=frozenset((BLACK, WHITE)), folder=tmp_path)
        screen = Mock(working=lambda doing: threading.Lock())
        game = TerminalGame(played, screen)
        for vertex in ("pass", "pass"):
            played.play(vertex)
        played.count([])
        game._execute("dead")
        played.count([engine.game.point("G3")])
        game._execute("dead")
    (nothing, line) = (call.args[0] for call in screen.say.call_args_list)
    assert nothing == "no stones are dead: this shows how dead stones would be captured after two passes"
    assert re.fullmatch(r"G3: ((White|Black) plays [A-G]\d(, )?)+", line)


def test_why_in_a_game_at_a_rank(tmp_path: Path) -> None:
    options = ("--network", "b6c64-19x19", "--board-size", "9", "--rank", "20k")
    said = play("E5\nA1\nwhy\nwhy 3\nwhy 5\nwhy D4\n", tmp_path, *options)
    assert "your A1 lost about " in said and "better: " in said
    _, last, alone = said.split("your A1")
    assert "\nwhite's " in last and "\nwhite's " not in alone
    assert last.splitlines()[0] == alone.splitlines()[0]
    assert "invalid number of a move '5'" in alone and "invalid number of a move 'D4'" in alone


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    options = ("--network", "b6c64-19x19", "--rank", "20k", "--seed", "1", "--sgf-dir", str(tmp_path))
    return Terminal(*PLAY, *options)


def test_a_mistake_is_tried_again_after_the_lesson(terminal: Terminal, tmp_path: Path) -> None:
    try:
        terminal.answer("E5", "white plays")
        terminal.answer("A1", "white plays")
        terminal.answer("resign", r"\[y/N\] ")
        terminal.send("y\r")
        terminal.expect(r"type lesson \(or press Enter\), review, new, undo or quit")
        assert "what mattered most" not in terminal.written
        marked = r"before the mistake \(\?: the move played, \*: a better move\)"
        told = ("what mattered most, by a short search:", "1. move 3, A1, lost", "mistake 1 of 1")
        terminal.answer("", marked, *told, "(?=game over> )")
        lowest = next(line for line in terminal.window() if line.lstrip().startswith("1 "))
        assert lowest.split()[1].startswith("?")
        begin = len(terminal.written)
        terminal.answer("why", "your A1 lost about", "(?=game over> )")
        assert "white's" not in terminal.written[begin:]
        assert mistake_legend(mistake_marks(loss(1, BLACK, PASS, G7, 4.0))) == "*: a better move"
        terminal.answer("n", "unknown command 'n'; type lesson, review, new, undo or quit", "(?=game over> )")
        terminal.answer("", "A B C D", "(?=game over> )")
        for asked in ("why 3", "Why Move 3"):
            terminal.answer(asked, "your A1", "(?=game over> )")
        terminal.answer("again 4", "invalid number of a mistake '4'")
        terminal.answer("again 1", "before move 3, A1: try another move", "(?=black> )")
        terminal.answer("lesson", "1. move 3, A1, lost", "(?=black> )")
        finished = only_game(tmp_path)  # the new game is saved with its first move
        terminal.answer("C3", "white plays")
        (again,) = set(tmp_path.glob("*.sgf")) - {finished}
        assert [move.point for move in read_sgf(again).moves[:2]] == [
            move.point for move in read_sgf(finished).moves[:2]
        ]
        assert read_sgf(again).white_rank == "20k" and read_sgf(finished).result == "W+R"
        terminal.answer("again", "before move 3, A1")
        terminal.answer("new")
        terminal.answer("again", "there is no mistake to try again")
        terminal.answer("lesson", "the game is not over")
    finally:
        terminal.close()


def test_a_mistake_that_was_told_costs_the_same_after_it_is_tried_again(terminal: Terminal) -> None:
    def lesson() -> list[tuple[str, ...]]:
        begin = len(terminal.written)
        terminal.answer("resign", r"\[y/N\] ")
        terminal.send("y\r")
        terminal.answer("", "type again 1", "(?=game over> )")
        while "press Enter for the next one" in "\n".join(terminal.window()):
            terminal.answer("", r"type again \d", "(?=game over> )")
        told = r"(\d)\. move (\d+), \w+, (lost about \S+ points; better: [^\r\n]*)"
        return re.findall(told, terminal.written[begin:])

    try:
        for move in ("E5", "A1", "J1"):
            terminal.answer(move, "white plays")
        before = lesson()
        index, last, _ = max(before, key=lambda mistake: int(mistake[1]))
        terminal.answer(f"again {index}", f"before move {last}", "(?=black> )")
        after = lesson()
        costs = {number: cost for _, number, cost in before}  # a move may have repeated the mistake of another
        assert after and all(cost == costs.get(number, cost) for _, number, cost in after)
    finally:
        terminal.close()
