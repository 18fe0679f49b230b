"""Which player of a game a name, a part of a name or a colour means."""

from contextlib import suppress

from ..base.errors import UserError
from ..game.coords import BLACK, WHITE, parse_colour
from ..sgf import GameRecord


def colours_of(record: GameRecord, player: str) -> list[int]:
    """Returns the colours that a text means: an exact name, else a colour, else every name that contains it."""
    wanted = tidy(player).casefold()
    names = {BLACK: tidy(record.black).casefold(), WHITE: tidy(record.white).casefold()}
    same = [colour for colour, name in names.items() if name == wanted]
    if len(same) == 1:
        return same
    with suppress(UserError):
        return [parse_colour(wanted)]
    return [colour for colour, name in names.items() if wanted in name]


def tidy(name: str) -> str:
    """Returns a name without needless spaces."""
    return " ".join(name.split())


def player_colour(record: GameRecord, player: str) -> int:
    """Returns the colour of a player who is given by name, by colour, or by a part of the name, in this order.

    Raises:
        UserError: Neither player has this name, or both do.
    """
    found = colours_of(record, player)
    if len(found) == 1:
        return found[0]
    problem = f"{player!r} may be either player" if found else f"no player {player!r} in this game"
    players = f"Black is {record.black or 'not named'}, White is {record.white or 'not named'}"
    raise UserError(f"{record.source}: {problem}: {players}")
