"""The game that a player describes after `new`: what is not named stays as in the game before."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..base.errors import UserError
from ..base.fields import Range, parse_board_size, parse_number
from ..game.coords import MAX_SIZE, MIN_SIZE
from ..game.game import Game, count_handicap
from ..game.handicap import most_fixed_stones
from ..game.rules import LARGEST_KOMI, parse_rules
from ..play.initial_game import initial_game
from ..play.players import COLOURS, parse_humans
from .words import NEW_GAME

_SIZE_NAMES = ("size", "board", "boardsize")


@dataclass
class _Wanted:
    """What the words after `new` name; None for what they leave open."""

    size: tuple[int, int] | None = None
    handicap: int | None = None
    komi: float | None = None
    rules: str | None = None
    colour: str | None = None


def new_game(text: str, before: Game, humans: frozenset[int]) -> tuple[Game, frozenset[int]]:
    """Returns the position to begin from and the colours that people play.

    With another size or handicap the komi is the usual one again, unless it is named too.

    Args:
        text: The words after `new`, such as those of `NEW_GAME`.
        before: The game before.
        humans: The colours that people play in it.

    Raises:
        UserError: A word is not understood, or a value invalid.
    """
    wanted = _parse(text)
    width, height = wanted.size or (before.width, before.height)
    stones = count_handicap(before.setup_stones, ())
    # A set-up may have more stones than any game begins with.
    usual = stones if stones <= most_fixed_stones(before.width, before.height) else 0
    handicap = usual if wanted.handicap is None else wanted.handicap
    komi = wanted.komi
    if komi is None and (width, height, handicap) == (before.width, before.height, stones):
        komi = before.komi
    rules = before.rules if wanted.rules is None else parse_rules(wanted.rules)
    game = initial_game(width, height, handicap=handicap, komi=komi, rules=rules)
    return game, humans if wanted.colour is None else parse_humans(wanted.colour)


def _parse(text: str) -> _Wanted:
    wanted, words = _Wanted(), iter(text.lower().split())
    for word in words:
        if word in COLOURS:
            wanted.colour = word
        elif word[0].isdigit():
            wanted.size = parse_board_size(word, MIN_SIZE, MAX_SIZE)
        elif word in _SIZE_NAMES:
            wanted.size = parse_board_size(_value(word, words), MIN_SIZE, MAX_SIZE)
        elif word == "handicap":
            wanted.handicap = int(parse_number("handicap", _value(word, words), Range(0, 9, whole=True)))
        elif word == "komi":
            wanted.komi = float(parse_number("komi", _value(word, words), Range(-LARGEST_KOMI, LARGEST_KOMI)))
        elif word == "rules":
            wanted.rules = _value(word, words)
        elif word not in ("game", "colour", "color"):
            raise UserError(f"unknown word {word!r}; type, for example, {NEW_GAME}")
    return wanted


def _value(name: str, words: Iterator[str]) -> str:
    value = next(words, None)
    if value is None:
        raise UserError(f"missing value after {name}; type, for example, {NEW_GAME}")
    return value
