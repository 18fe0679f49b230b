"""Which colours people play, and which the engine."""

import random

from ..game.coords import BLACK, WHITE, parse_colour

COLOURS = ("black", "white", "random", "both")  # what a person may ask for; both: two people play


def parse_humans(colour: str, seed: int | None = None) -> frozenset[int]:
    """Returns the colours that people play.

    Args:
        colour: One of `COLOURS`, or another name that `parse_colour` knows.
        seed: Decides a random colour; None for a different one each time.
    """
    if colour == "both":
        return frozenset((BLACK, WHITE))
    return frozenset((random.Random(seed).choice((BLACK, WHITE)) if colour == "random" else parse_colour(colour),))
