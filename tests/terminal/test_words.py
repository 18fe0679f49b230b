"""What typed lines mean, and the answers to those that mean nothing."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.clients.terminal.play import TerminalGame
from gtp_engine.clients.terminal.words import ALIASES, COMMANDS, choices, parse_line


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("D4", ("play", "D4")),
        ("d 4", ("play", "d4")),
        ("4d", ("play", "d4")),
        ("play D4", ("play", "D4")),
        ("play\u3000D4", ("play", "D4")),
        ("back", ("undo", "")),
        ("Take  Back", ("undo", "")),
        ("exit", ("quit", "")),
        ("q", ("quit", "")),
        ("p", ("pass", "")),
        ("Play  pass", ("pass", "")),
        ("?", ("help", "")),
        ("continue", ("resume", "")),
        ("open my game.sgf", ("load", "my game.sgf")),
        ("LOAD My.sgf", ("load", "My.sgf")),
        ("load", ("load", "")),
        ("new game", ("new", "")),
        ("", ("board", "")),
        ("show nothing", ("show", "nothing")),
        ("show board", ("board", "")),
        ("rank 3d", ("rank", "3d")),
        ("weaker", ("rank", "weaker")),
        ("undo 3", ("undo", "3")),
        ("undo\u30003", ("undo", "3")),
        ("u 3", ("undo", "3")),
        ("U  3", ("undo", "3")),
        ("take back 3", ("undo", "3")),
        ("d 3", ("play", "d3")),
        ("new 13 white", ("new", "13 white")),
        ("give up", ("resign", "")),
        ("\uff24\uff14", ("play", "D4")),
        ("\uff50\uff4c\uff41\uff59\u3000\uff24\uff14", ("play", "D4")),
        ("\uff48\uff49\uff4e\uff54", ("hint", "")),
        ("\uff52\uff41\uff4e\uff4b\u3000\uff15\uff4b", ("rank", "5k")),
        ("\uff53\uff41\uff56\uff45 \uff27\uff4f.sgf", ("save", "\uff27\uff4f.sgf")),
    ],
)
def test_moves_commands_and_other_words_for_them(line: str, meaning: tuple[str, str]) -> None:
    assert parse_line(line, 9, 9) == meaning


def test_a_word_for_undo_is_no_column_even_if_the_board_has_it() -> None:
    assert parse_line("u 3", 25, 25) == ("undo", "3")
    assert parse_line("u3", 25, 25) == ("play", "u3")
    assert parse_line("play u 3", 25, 25) == ("play", "u3")


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("5,5", "columns are letters: type E5 for column 5, row 5 from the bottom"),
        ("(3, 4)", "columns are letters: type C4 for column 3, row 4 from the bottom"),
        ("9 1", "columns are letters: type J1 for column 9, row 1 from the bottom"),
        ("10,1", "unknown command '10,1'; type a move such as D4, or help"),
        ("ee", "'ee' is not understood; moves are a letter and a number: SGF's ee is E5"),
        ("hi", "'hi' is not understood; moves are a letter and a number: SGF's hi is H1"),
        ("K10", "there is no point K10: columns A to J without I, rows 1 to 9"),
        ("play i5", "there is no point I5: columns A to J without I, rows 1 to 9"),
        ("4d d5", "one move at a time: type 4d"),
        ("e5 d4", "one move at a time: type e5"),
        ("size 13", "that is chosen when a game begins: type new 13; the present game stays saved"),
        ("handicap", "that is chosen when a game begins: type new handicap 4; the present game stays saved"),
        ("komi 5", "that is chosen when a game begins: type new komi 5; the present game stays saved"),
        ("rules", "that is chosen when a game begins: type new rules japanese; the present game stays saved"),
        ("color white", "that is chosen when a game begins: type new white; the present game stays saved"),
        ("white", "that is chosen when a game begins: type new white; the present game stays saved"),
        ("time", "that is chosen when the program starts: `gtp_engine help play` describes --seconds"),
        ("zz", "unknown command 'zz'; type a move such as D4, or help"),
        ("undp", "unknown command 'undp'; did you mean 'undo'?"),
        ("xyzzy now", "unknown command 'xyzzy'; type a move such as D4, or help"),
        ("x" * 1000, f"unknown command {'x' * 40!r}; type a move such as D4, or help"),
        ("quit now", "'quit' accepts no argument: 'now'"),
        ("exit now", "'quit' accepts no argument: 'now'"),
        ("easier 3", "'easier' accepts no argument: '3'"),
    ],
)
def test_answers_to_lines_that_are_not_understood(line: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        parse_line(line, 9, 9)
    assert str(error.value) == answer


@pytest.mark.parametrize(("size", "point"), [((2, 2), "B2"), ((3, 9), "C4"), ((9, 3), "D3"), ((19, 19), "D4")])
def test_the_point_that_is_given_as_an_example_is_on_the_board(size: tuple[int, int], point: str) -> None:
    with pytest.raises(UserError, match=f"type a move such as {point}, or help"):
        parse_line("xyzzy", *size)
    assert choices(*size) == f"type a move such as {point}, or help"


def test_every_word_leads_to_a_command() -> None:
    names = {usage.split()[0] for usage in COMMANDS}
    assert set(ALIASES) <= names
    assert all(callable(getattr(TerminalGame, f"_command_{name}")) for name in {*names, "play"})
    words = [word for words in ALIASES.values() for word in words]
    assert len(words) == len(set(words))
    assert not names & set(words)
