"""What the player can type: moves, commands, and other words for them."""

import re
from contextlib import suppress

from ...base.errors import UserError
from ...base.fields import Range, did_you_mean, invalid
from ...engine.ranks import STRONGEST, WEAKEST
from ...go.coords import COLUMNS, PASS, parse_sgf_point, point_at, vertex
from ...table.new_game import IN_WORDS

# What `help` shows: in a window of 80 x 24 there is room for it even below a board of 9x9.
_MOST_USED = {
    "pass": "pass; two passes in a row end the game",
    "undo N": "take back your last move and the reply; undo 3: the last three",
    "hint": "mark the best move",
    "score": "show the score estimate and territory; after two passes, the count",
    "why N": "say what the last moves, or move N, do and what is wrong with them",
    "rank R": f"make the engine {WEAKEST} to {STRONGEST}, or max; easier and harder: by one rank",
    "new ...": f"begin a new game, the same or another one: new {IN_WORDS}",
    "resign": "resign the game",
    "quit": "save the game and exit",
    "help more": "show the other commands",
}
_OTHERS = {
    "analyze": "show the best moves with win rate, score and main line",
    "what if D4": "say what D4 would have brought instead of your last move; at 34: of move 34",
    "dead": "after two passes: show how each dead group would be captured",
    "lesson N": "after the game, as does Enter: show the move that mattered most, or the Nth; why then explains it",
    "again N": "after the lesson: play on from before its mistake N, in a new game",
    "review": "after the game: find all mistakes",
    "board": "show the board again; Enter does so too",
    "show WHAT": "show after moves: winrate, score or nothing",
    "save FILE": "save to FILE from now on (the program's own file is removed)",
    "load FILE": "continue a saved game, load FILE 40 after its move 40; without FILE: list the latest ones",
    "resume": "continue the latest unfinished game",
    "learn": "first steps for somebody who has never played: the rules on five boards, small games",
}
COMMANDS = _MOST_USED | _OTHERS
# What is shown after moves: the win rate, who leads, or neither. Hints show with the win rate who leads.
SHOWN_VALUES = ("winrate", "score", "nothing")
# Words of other programs and of beginners.
ALIASES = {
    "undo": ("back", "takeback", "take back", "u"),
    "quit": ("exit", "q", "end", "stop", "bye", ":q"),
    "pass": ("p", "play pass"),
    "help": ("?", "h", "commands"),
    "analyze": ("analyse", "analysis", "a"),
    "score": ("estimate", "count", "territory"),
    "board": ("showboard", "show board", "redraw", "refresh", "clear", ""),
    "resume": ("continue",),
    "load": ("open",),
    "new": ("new game", "restart", "reset"),
    "resign": ("give up", "surrender"),
    "hint": ("tip", "suggest"),
    "why": ("explain", "reason"),
    "learn": ("first steps", "tutorial", "teach me"),
}
RANK_STEPS = {"easier": -1, "weaker": -1, "harder": 1, "stronger": 1}
# What is chosen when a game begins, by the words that players try: what to type after `new`, and a value.
_OF_NEW_GAMES = {
    **dict.fromkeys(("size", "boardsize", "board_size", "board-size"), ("", "13")),
    "handicap": ("handicap ", "4"),
    "komi": ("komi ", "6.5"),
    **dict.fromkeys(("rules", "ruleset"), ("rules ", "japanese")),
    **dict.fromkeys(("colour", "color"), ("", "white")),
    **{colour: (colour, "") for colour in ("black", "white", "both")},
}
_OF_THE_START = ("time", "seconds", "visits", "network", "threads")  # what options of the program choose
_USAGES = {usage.split()[0]: usage for usage in COMMANDS}
_COMMAND_OF = {word: command for command, words in ALIASES.items() for word in words}
_VERTEX = re.compile(r"(?:play\s+)?(?:([a-z])\s?(\d{1,9})|(\d{1,9})\s?([a-z]))", re.IGNORECASE)  # D4 or 4D
_TWO_NUMBERS = re.compile(r"\(?(\d{1,2})(?:\s*[,;.:/-]\s*|\s+)(\d{1,2})\)?")
_SHOWN = 40  # characters of a line that a message quotes


def example_point(width: int, height: int) -> str:
    """Returns the name of a point that a board has: D4, or its corner if it is smaller."""
    return vertex(point_at(min(4, width) - 1, max(0, height - 4), width), width, height)


def choices(width: int, height: int) -> str:
    """Returns what to type in a game on a board of this size."""
    return f"type a move such as {example_point(width, height)}, or help"


def meanings(about: str, width: int, height: int) -> dict[str, str]:
    """Returns what one command means, if `about` names one, or the most used ones, or for another text the others."""
    if named := {usage: meaning for usage, meaning in COMMANDS.items() if usage.split()[0] == about.lower()}:
        return named
    point = {example_point(width, height): "play at this point (columns skip I, row 1 is at the bottom)"}
    return _OTHERS if about else point | _MOST_USED


def asked_about(text: str) -> str:
    """Returns the point and the number that follow `why` or `what`, without the words between them."""
    return " ".join(word for word in text.split() if word.lower() not in ("if", "at", "move"))


def parse_count(name: str, text: str, most: int | None = None) -> int:
    """Returns a number from 1 on that was typed in digits, 1 if nothing was; raises UserError for another text."""
    accepted, text = Range(1, most, whole=True), text or "1"
    if not text.isdecimal():
        raise invalid(name, text, str(accepted))
    return int(accepted.parse(name, text))


# The wide letters, digits and space of Japanese and Chinese keyboards (Unicode's halfwidth and fullwidth forms).
_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x3000: " "}


def parse_line(line: str, width: int, height: int, advice: str = "") -> tuple[str, str]:
    """Returns the command of a typed line, which is stripped, and its argument; for a move "play" and the vertex.

    Raises UserError if it is not understood; the message names what to type instead: `advice`, or `choices` if that is
    empty, if it resembles nothing.
    """
    typed_line, line = line, line.translate(_NARROW)
    if counted := _with_count(line):
        return counted
    if match := _VERTEX.fullmatch(line):
        return "play", _existing((match[1] or match[4]) + (match[2] or match[3]), width, height)
    typed = " ".join(line.lower().split())
    if typed in RANK_STEPS:
        return "rank", typed
    if typed in _COMMAND_OF:
        return _COMMAND_OF[typed], ""
    word = line.split()[0]
    command = _COMMAND_OF.get(word.lower(), word.lower())
    usage = command if command in RANK_STEPS else _USAGES.get(command)
    if usage is None:
        raise _not_understood(line, width, height, advice or choices(width, height))
    argument = (typed_line if usage.endswith(" FILE") else line)[len(word) :].strip()
    if argument and " " not in usage:
        raise UserError(f"{usage!r} accepts no argument: {argument[:_SHOWN]!r}")
    return command, argument


def _with_count(line: str) -> tuple[str, str] | None:
    """Returns the command and the number of `take back 3` or `u 3`, which would be a point; None for another line."""
    words, _, number = " ".join(line.lower().split()).rpartition(" ")
    command = _COMMAND_OF.get(words, "")
    takes_count = _USAGES.get(command, "").endswith(" N")
    return (command, number) if takes_count and number.isdecimal() else None


def _existing(name: str, width: int, height: int) -> str:
    """Returns the name of a point if the board has it, otherwise raises a UserError."""
    letter, row = name[0].upper(), int(name[1:])
    columns = COLUMNS[:width]
    if letter not in columns or not 1 <= row <= height:
        without = " without I" if "J" in columns else ""
        raise UserError(f"there is no point {letter}{row}: columns A to {columns[-1]}{without}, rows 1 to {height}")
    return name


def _not_understood(line: str, width: int, height: int, otherwise: str) -> UserError:
    """Returns the error for a line that is no command, with what the player may have meant."""
    if match := _TWO_NUMBERS.fullmatch(line):
        column, row = int(match[1]), int(match[2])
        if 1 <= column <= width and 1 <= row <= height:
            name = vertex(point_at(column - 1, height - row, width), width, height)
            return UserError(f"columns are letters: type {name} for column {column}, row {row} from the bottom")
    with suppress(UserError):
        if (point := parse_sgf_point(line.lower(), width, height)) != PASS:
            meant = f"SGF's {line.lower()} is {vertex(point, width, height)}"
            return UserError(f"{line!r} is not understood; moves are a letter and a number: {meant}")
    word = line.split()[0]
    if _VERTEX.fullmatch(word):
        return UserError(f"one move at a time: type {word[:_SHOWN]}")
    if advice := _advice(word.lower(), line.partition(" ")[2].strip()):
        return UserError(advice)
    guess = did_you_mean(word.lower(), [*_USAGES, *(name for name in _COMMAND_OF if len(name) > 2)])
    return UserError(f"unknown command {word[:_SHOWN]!r}; {guess or otherwise}")


def _advice(word: str, argument: str) -> str:
    """Returns how to change what this word names; "" for other words."""
    if word in _OF_NEW_GAMES:
        before, example = _OF_NEW_GAMES[word]
        value = argument[:_SHOWN] if argument and example else example
        return f"that is chosen when a game begins: type new {before}{value}; the present game stays saved"
    if word in _OF_THE_START:
        option = "seconds" if word == "time" else word
        return f"that is chosen when the program starts: `gtp_engine help play` describes --{option}"
    return ""
