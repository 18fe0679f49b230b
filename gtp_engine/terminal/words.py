"""What the player can type: moves, commands, and other words for them."""

import re

from ..base.errors import UserError
from ..base.fields import did_you_mean
from ..game.coords import PASS, parse_sgf_point, point_at, vertex

COMMANDS = {
    "pass": "pass; two passes in a row end the game",
    "undo": "take back your last move and the reply",
    "hint": "mark the move that the engine would play",
    "analyze": "show the best moves with win rate, score and main line",
    "score": "show the score estimate and territory; after two passes, the count",
    "board": "show the board again; Enter does so too",
    "show WHAT": "show after moves: winrate, score or nothing",
    "level N": "change the engine's level: 1 to 10, or max",
    "resign": "resign the game",
    "save FILE": "save now, and keep saving to FILE",
    "load FILE": "continue a saved game; without FILE: list the latest ones",
    "resume": "continue the latest unfinished game",
    "new": "begin a new game; the present one stays saved",
    "review": "after the game: find the mistakes",
    "help": "show this list",
    "quit": "save the game and exit",
}
# What is shown after moves: the win rate, who leads, or neither. Hints show with the win rate who leads.
SHOWN_VALUES = ("winrate", "score", "nothing")
# Words of other programs and of beginners.
ALIASES = {
    "undo": ("back", "takeback", "take back", "u"),
    "quit": ("exit", "q", "end", "stop", "bye", ":q"),
    "pass": ("p",),
    "help": ("?", "h", "commands"),
    "analyze": ("analyse", "analysis", "a"),
    "score": ("estimate", "count", "territory"),
    "board": ("showboard", "show board", "redraw", "refresh", "clear", ""),
    "resume": ("continue",),
    "load": ("open",),
    "new": ("new game", "restart", "reset"),
    "resign": ("give up", "surrender"),
    "hint": ("tip", "suggest"),
}
_USAGES = {usage.split()[0]: usage for usage in COMMANDS}
_COMMAND_OF = {word: command for command, words in ALIASES.items() for word in words}
_VERTEX = re.compile(r"(?:play )?([a-z]) ?(\d{1,9})", re.IGNORECASE)
_REVERSED = re.compile(r"(?:play )?(\d{1,9}) ?([a-z])", re.IGNORECASE)
_TWO_NUMBERS = re.compile(r"\(?(\d{1,2})(?:\s*[,;.:/-]\s*|\s+)(\d{1,2})\)?")
_SHOWN = 40  # characters of a line that a message quotes


def parse_line(line: str, width: int, height: int) -> tuple[str, str]:
    """Returns the command of a typed line and its argument; for a move "play" and the vertex.

    Args:
        line: The line, stripped.
        width: The board's columns.
        height: The board's rows.

    Raises:
        UserError: The line is not understood; the message names what to type instead.
    """
    if match := _VERTEX.fullmatch(line):
        return "play", match[1] + match[2]
    if match := _REVERSED.fullmatch(line):
        return "play", match[2] + match[1]
    typed = " ".join(line.lower().split())
    if typed in _COMMAND_OF:
        return _COMMAND_OF[typed], ""
    word, _, argument = line.partition(" ")
    command = _COMMAND_OF.get(word.lower(), word.lower())
    usage = _USAGES.get(command)
    if usage is None:
        raise _not_understood(line, width, height)
    if argument and " " not in usage:
        raise UserError(f"{usage!r} accepts no argument: {argument.strip()[:_SHOWN]!r}")
    return command, argument.strip()


def _not_understood(line: str, width: int, height: int) -> UserError:
    """Returns the error for a line that is no command, with what the player may have meant."""
    if match := _TWO_NUMBERS.fullmatch(line):
        column, row = int(match[1]), int(match[2])
        if 1 <= column <= width and 1 <= row <= height:
            name = vertex(point_at(column - 1, height - row, width), width, height)
            return UserError(f"columns are letters: type {name} for column {column}, row {row} from the bottom")
    if name := _vertex_of_letters(line.lower(), width, height):
        return UserError(f"{line!r} is not a move: type a letter and a number, such as {name} for SGF's {line.lower()}")
    word = line.split()[0]
    guess = did_you_mean(word.lower(), [*_USAGES, *(name for name in _COMMAND_OF if len(name) > 2)])
    return UserError(f"unknown command {word[:_SHOWN]!r}; {guess or 'type a move such as D4, or help'}")


def _vertex_of_letters(text: str, width: int, height: int) -> str:
    """Returns the vertex of a point in SGF's two letters; "" if the text is not one."""
    try:
        point = parse_sgf_point(text, width, height)
    except UserError:
        return ""
    return "" if point == PASS else vertex(point, width, height)
