"""One game: ends, faults, the clock and the count, with scripted engines."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from gtp_engine.arena import referee
from gtp_engine.arena.gtp_client import CommandError, GtpClient
from gtp_engine.arena.match_settings import EngineMatchSettings
from gtp_engine.arena.referee import play_game
from gtp_engine.arena.results import GameResult
from gtp_engine.go.coords import BLACK, WHITE, parse_vertex
from gtp_engine.go.game import Game, Move
from gtp_engine.go.rules import RULESETS

Script = Callable[..., str]

# Black takes the left half of 5x5, White the right: black C, white D.
BLACK_WALL = ("C1", "C2", "C3", "C4", "C5")
WHITE_WALL = ("D1", "D2", "D3", "D4", "D5")


def play_out(black: str, white: str, opening: tuple[Move, ...] = (), **changes: object) -> tuple[GameResult, Game]:
    chosen = {"width": 5, "komi": 0.5, "patience": 20.0} | changes
    with ExitStack() as stack:
        engines = {name: stack.enter_context(GtpClient(command)) for name, command in (("A", black), ("B", white))}
        return play_game(0, engines, opening, EngineMatchSettings(**chosen))  # type: ignore[arg-type]


def play(black: str, white: str, opening: tuple[Move, ...] = (), **changes: object) -> GameResult:
    return play_out(black, white, opening, **changes)[0]


@pytest.fixture
def capped(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the number of moves after which a game on 5x5 is broken off."""
    return lambda moves: monkeypatch.setattr(referee, "MOVES_PER_POINT", moves / 25)


@pytest.mark.parametrize(
    ("black", "white", "komi", "ending"),
    [
        (BLACK_WALL, WHITE_WALL, 0.5, ("A", "B+4.5", "score", 12)),
        (BLACK_WALL, WHITE_WALL, 5.0, (None, "0", "score", 12)),
        (("C3",), ("resign",), 0.5, ("A", "B+R", "resignation", 1)),
    ],
)
def test_two_passes_and_a_resignation_end_the_game(
    scripted: Script, black: tuple[str, ...], white: tuple[str, ...], komi: float, ending: tuple[object, ...]
) -> None:
    outcome = play(scripted(*black), scripted(*white), komi=komi)
    assert (outcome.winner, outcome.result, outcome.reason, outcome.moves) == ending
    assert outcome.notes == ()


def test_opening_stones_are_played_on_all_boards(scripted: Script) -> None:
    opening = (Move(BLACK, parse_vertex("E5", 5, 5)), Move(WHITE, parse_vertex("A1", 5, 5)))
    outcome = play(scripted("A1"), scripted(), opening)
    assert outcome.reason == "illegal move"
    outcome, game = play_out(scripted("C3"), scripted(), opening)
    assert game.moves[0] == opening[0]
    assert outcome.result == "B+0.5"


@pytest.mark.parametrize(
    ("word", "reason", "note"),
    [
        ("C3", "illegal move", "Script (white) at move 2: illegal move: C3 is occupied"),
        ("garbage", "garbage", "Script (white) answered genmove with 'hello'"),
        ("Z9", "garbage", "Script (white) answered genmove with 'Z9'"),
        ("error", "refusal", "engine 'Script' answered 'genmove w' with an error: refused"),
        ("crash", "crash", "engine 'Script' ended with exit status 1 at 'genmove w': out of memory"),
        ("sleep", "silence", "engine 'Script' gave no answer to 'genmove w' within 0.5 s"),
    ],
)
def test_a_fault_loses_the_game(scripted: Script, word: str, reason: str, note: str) -> None:
    outcome = play(scripted("C3"), scripted(word), patience=0.5 if word == "sleep" else 20.0)
    assert (outcome.winner, outcome.result, outcome.reason) == ("A", "B+F", reason)
    assert outcome.notes == (note,)


def test_superko_is_illegal_only_under_superko_rules(scripted: Script) -> None:
    # Sending two, returning one: B1 brings back the position after black's first B1.
    black, white = ("D1", "C2", "B1", "A1", "B1"), ("A2", "B2", "pass", "C1")
    assert play(scripted(*black), scripted(*white), rules=RULESETS["chinese"]).reason == "score"
    outcome = play(scripted(*black), scripted(*white), rules=RULESETS["chinese-ogs"])
    assert outcome.reason == "illegal move"
    assert outcome.notes == ("Script (black) at move 9: illegal move: B1 repeats a position",)


def test_overstepping_the_time_loses(scripted: Script) -> None:
    time = (1, 0, 0)
    outcome = play(scripted("slow", "slow", "slow", "slow"), scripted("A1", "A2", "A3", "A4"), time=time)
    assert (outcome.winner, outcome.result, outcome.reason) == ("B", "W+T", "time")
    assert outcome.seconds["A"] >= 1.2
    assert re.fullmatch(r"Script \(black\) thought \d\.\d\d s and had 0\.[0-4]\d s left", outcome.notes[0])


@pytest.mark.parametrize("word", ["sleep", "mutter"])
def test_silence_until_the_time_is_over_is_a_loss_on_time(
    scripted: Script, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr("gtp_engine.arena.referee.OVERTIME_PATIENCE", 0.2)
    outcome = play(scripted(word), scripted(), time=(1, 0, 0))
    assert (outcome.winner, outcome.result, outcome.reason) == ("B", "W+T", "time")


def test_engines_are_told_rules_and_time(scripted: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    play(scripted("--log", str(log), "C3"), scripted(), time=(60, 5, 2), rules=RULESETS["aga"], komi=7.0)
    commands = log.read_text().splitlines()
    assert commands[3:] == [
        "boardsize 5",
        "clear_board",
        "komi 7",
        "kata-set-rules aga",
        "time_settings 60 5 2",
        "time_left b 60 0",
        "genmove b",
        "play w pass",
        "time_left b 59 0",
        "genmove b",
        "quit",
    ]


def test_oblong_board(scripted: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    outcome = play(scripted("--log", str(log), "G3"), scripted(), width=7, height=3)
    assert log.read_text().splitlines()[3] == "rectangular_boardsize 7 3"
    assert outcome.result == "B+20.5"


def test_move_cap(scripted: Script, capped: Callable[[int], None]) -> None:
    capped(4)
    outcome = play(scripted(*BLACK_WALL), scripted(*WHITE_WALL))
    assert (outcome.winner, outcome.result, outcome.reason) == (None, "Void", "move cap")
    black = scripted("--score", "B+3.5", *BLACK_WALL)  # what it expects
    outcome = play(black, scripted(*WHITE_WALL), rules=RULESETS["tromp-taylor"])
    assert (outcome.winner, outcome.result, outcome.reason, outcome.moves) == ("B", "W+0.5", "score", 4)
    assert not outcome.claims and not outcome.notes


# White's stone A1 stands in black's area.
WHITE_INVADES = ("D1", "D2", "D3", "D4", "A1")


def test_dead_are_the_stones_that_their_own_side_gives_up(scripted: Script) -> None:
    black = scripted("--name", "Left", "--score", "W+0.5", "--dead", "", *BLACK_WALL)
    white = scripted("--name", "Right", "--score", "B+4.5", "--dead", "A1 C3", *WHITE_INVADES)
    outcome = play(black, white)
    # A1 is dead, C3 is not, and nobody has the right edge: it is open at D5.
    assert outcome.result == "B+10.5"
    assert outcome.claims == {"A": "W+0.5", "B": "B+4.5"}
    assert outcome.notes == (
        "the engines disagreed about dead stones",
        "Left scored W+0.5, the referee B+10.5",
        "Right scored B+4.5, the referee B+10.5",
    )


def dispute(scripted: Script, dead: tuple[str, str], cleanup: tuple[str, str], **changes: object) -> GameResult:
    """A game whose sides list these stones as dead, and play these moves to capture them."""
    black = scripted("--dead", dead[0], "--cleanup", cleanup[0], *BLACK_WALL)
    return play(black, scripted("--dead", dead[1], "--cleanup", cleanup[1], *WHITE_INVADES), **changes)


def test_stones_that_one_side_alone_takes_for_dead_have_to_be_captured(scripted: Script) -> None:
    captured = dispute(scripted, ("A1", ""), ("A2 B1", ""))
    assert (captured.result, captured.notes) == ("B+10.5", ("the engines disagreed about dead stones and played on",))
    assert captured.moves == 12 + 5  # after a capture both pass once more
    assert dispute(scripted, ("A1", ""), ("", "")).result == "W+0.5"  # A1 lives: nobody has the left side either
    assert dispute(scripted, ("A1", ""), ("pass A2 B1", "E5")).moves == 12 + 7  # one pass ends nothing


def test_playing_on_may_be_a_fault(scripted: Script) -> None:
    outcome = dispute(scripted, ("A1", ""), ("C1", ""))
    assert (outcome.result, outcome.reason) == ("W+F", "illegal move")
    assert outcome.notes[0] == "the engines disagreed about dead stones and played on"


def test_a_finished_game_is_counted_where_playing_on_reaches_the_cap(
    scripted: Script, capped: Callable[[int], None]
) -> None:
    capped(13)
    assert dispute(scripted, ("A1", ""), ("A2 B1", "")).result == "B+0.5"


def test_an_error_at_time_left_loses_the_game(scripted: Script, tmp_path: Path) -> None:
    black = scripted("--log", str(tmp_path / "log"), "--refuse", "time_left", "C3")
    outcome = play(black, scripted(), time=(60, 5, 2))
    assert (outcome.result, outcome.reason) == ("W+F", "refusal")


def test_stones_stand_under_rules_that_say_so(scripted: Script) -> None:
    assert dispute(scripted, ("A1", "A1"), ("A2 B1", "")).result == "B+10.5"
    assert dispute(scripted, ("A1", "A1"), ("A2 B1", ""), rules=RULESETS["tromp-taylor"]).result == "W+0.5"


def test_under_territory_rules_nobody_plays_on(scripted: Script) -> None:
    outcome = dispute(scripted, ("A1", ""), ("A2 B1", ""), rules=RULESETS["japanese"])
    assert (outcome.moves, outcome.notes) == (12, ("the engines disagreed about dead stones",))


def test_a_dead_stone_is_read_once_however_often_it_is_named(scripted: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(referee, "parse_vertex", lambda text, *size: (read.append(text), parse_vertex(text, *size))[1])
    play(scripted("--dead", "A1 " * 500, *BLACK_WALL), scripted("--dead", "", *WHITE_WALL))
    assert read.count("A1") == 1


def test_agreement_leaves_no_note(scripted: Script) -> None:
    black = scripted("--score", "B+4.5", "--dead", "", *BLACK_WALL)
    white = scripted("--score", "B+4.50", "--dead", "", *WHITE_WALL)
    assert play(black, white).notes == ()


def test_an_engine_that_cannot_score_leaves_the_count_to_the_others(scripted: Script) -> None:
    black = scripted("--refuse", "final_score", "--score", "", "--dead", "Z9", *BLACK_WALL)
    outcome = play(black, scripted("--score", "B+4.5", *WHITE_WALL))
    assert outcome.result == "B+4.5"
    assert outcome.claims == {"B": "B+4.5"}
    assert outcome.notes[0].startswith("Script could not name the dead stones: invalid vertex 'Z9'")
    assert outcome.notes[1] == "engine 'Script' answered 'final_score' with an error: refused"


@pytest.mark.parametrize(("command", "height"), [("rectangular_boardsize", 3), ("boardsize", None)])
def test_a_refused_size_is_no_loss_but_an_error(scripted: Script, command: str, height: int | None) -> None:
    with pytest.raises(CommandError, match=f"'{command} 7.*' with an error: refused"):
        play(scripted(), scripted("--refuse", command), width=7, height=height)
