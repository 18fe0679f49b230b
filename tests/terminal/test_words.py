"""What typed lines mean, and the answers to those that mean nothing."""

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.terminal.play import TerminalGame
from gtp_engine.terminal.words import ALIASES, COMMANDS, parse_line


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("D4", ("play", "D4")),
        ("d 4", ("play", "d4")),
        ("4d", ("play", "d4")),
        ("play D4", ("play", "D4")),
        ("K99", ("play", "K99")),  # a vertex of another board: the move is refused, not the word
        ("back", ("undo", "")),
        ("Take  Back", ("undo", "")),
        ("exit", ("quit", "")),
        ("q", ("quit", "")),
        ("p", ("pass", "")),
        ("?", ("help", "")),
        ("continue", ("resume", "")),
        ("open my game.sgf", ("load", "my game.sgf")),
        ("LOAD My.sgf", ("load", "My.sgf")),
        ("load", ("load", "")),
        ("new game", ("new", "")),
        ("", ("board", "")),
        ("show nothing", ("show", "nothing")),
        ("show board", ("board", "")),
        ("level 3", ("level", "3")),
        ("give up", ("resign", "")),
    ],
)
def test_moves_commands_and_other_words_for_them(line: str, meaning: tuple[str, str]) -> None:
    assert parse_line(line, 9, 9) == meaning


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("5,5", "columns are letters: type E5 for column 5, row 5 from the bottom"),
        ("(3, 4)", "columns are letters: type C4 for column 3, row 4 from the bottom"),
        ("9 1", "columns are letters: type J1 for column 9, row 1 from the bottom"),
        ("10,1", "unknown command '10,1'; type a move such as D4, or help"),
        ("ee", "'ee' is not a move: type a letter and a number, such as E5 for SGF's ee"),
        ("ai", "'ai' is not a move: type a letter and a number, such as A1 for SGF's ai"),
        ("zz", "unknown command 'zz'; type a move such as D4, or help"),
        ("undp", "unknown command 'undp'; did you mean 'undo'?"),
        ("xyzzy now", "unknown command 'xyzzy'; type a move such as D4, or help"),
        ("x" * 1000, f"unknown command {'x' * 40!r}; type a move such as D4, or help"),
        ("quit now", "'quit' accepts no argument: 'now'"),
        ("exit now", "'quit' accepts no argument: 'now'"),
    ],
)
def test_answers_to_lines_that_are_not_understood(line: str, answer: str) -> None:
    with pytest.raises(UserError) as error:
        parse_line(line, 9, 9)
    assert str(error.value) == answer


def test_every_word_leads_to_a_command() -> None:
    names = {usage.split()[0] for usage in COMMANDS}
    assert set(ALIASES) <= names
    assert all(callable(getattr(TerminalGame, f"_command_{name}")) for name in {*names, "play"})
    words = [word for words in ALIASES.values() for word in words]
    assert len(words) == len(set(words))
    assert not names & set(words)
