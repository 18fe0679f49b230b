"""The game that people begin, as they describe it, and who plays which colour."""

import random
from typing import TYPE_CHECKING

from ..base.errors import UserError
from ..base.fields import Range, parse_board_size
from ..go.coords import BLACK, MAX_SIZE, MIN_SIZE, WHITE, parse_colour
from ..go.handicap import most_fixed_stones
from ..go.rules import LARGEST_KOMI, parse_rules

if TYPE_CHECKING:
    from ..go.game import Game

COLOURS = ("black", "white", "random", "both")  # what a person may ask for; both: two people play
IN_WORDS = "13 handicap 4 komi 0.5 rules japanese white rank 12k"  # what a player may say of a game


def parse_humans(colour: str, seed: int | None = None) -> frozenset[int]:
    """Returns the colours that people play, by one of `COLOURS` or another name that `parse_colour` knows.

    `seed` decides a random colour; None for a different one each time.
    """
    if colour == "both":
        return frozenset((BLACK, WHITE))
    return frozenset((random.Random(seed).choice((BLACK, WHITE)) if colour == "random" else parse_colour(colour),))


def described_game(text: str, before: "Game", humans: frozenset[int]) -> tuple["Game", frozenset[int], str | None]:
    """Returns the position that a player describes, the colours that people play, and the rank that is named, if any.

    The text has words such as those of `IN_WORDS`. What it does not name stays as in the game before and for its
    `humans`; but with another size or handicap the komi is the usual one again. Raises UserError if a word is not
    understood, or a value invalid.
    """
    from ..go.game import count_handicap, initial_game  # compiled, which the options of a command do not need

    width, height, rules = before.width, before.height, before.rules
    stones = count_handicap(before.setup_stones, ())
    # A set-up may have more stones than any game begins with.
    handicap = stones if stones <= most_fixed_stones(width, height) else 0
    komi: float | None = None
    rank: str | None = None
    words = iter(text.lower().split())

    def value() -> str:
        found = next(words, None)
        if found is None:
            raise UserError(f"missing value after {word}; type, for example, new {IN_WORDS}")
        return found

    for word in words:
        if word in COLOURS:
            humans = parse_humans(word)
        elif word[0].isdigit() or word in ("size", "board", "boardsize"):
            width, height = parse_board_size(word if word[0].isdigit() else value(), MIN_SIZE, MAX_SIZE)
        elif word == "handicap":
            handicap = int(Range(0, 9, whole=True).parse("handicap", value()))
        elif word == "komi":
            komi = float(Range(-LARGEST_KOMI, LARGEST_KOMI).parse("komi", value()))
        elif word == "rules":
            rules = parse_rules(value())
        elif word == "rank":
            rank = value()
        elif word not in ("game", "colour", "color"):
            raise UserError(f"unknown word {word!r}; type, for example, new {IN_WORDS}")
    if komi is None and (width, height, handicap) == (before.width, before.height, stones):
        komi = before.komi
    return initial_game(width, height, handicap=handicap, komi=komi, rules=rules), humans, rank
