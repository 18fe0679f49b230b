"""Which player of a game a name, a part of a name or a colour means."""

from collections.abc import Sequence
from contextlib import suppress

from ..base.errors import UserError
from ..go.coords import BLACK, WHITE, parse_colour
from ..go.sgf import GameRecord


def colours_of(record: GameRecord, player: str, *, parts: bool = True) -> list[int]:
    """Returns the colours that a text means: an exact name, else a colour, else every name that contains it.

    Args:
        record: The game.
        player: The text.
        parts: Whether it may be a part of a name.
    """
    wanted = name_key(player)
    names = {BLACK: name_key(record.black), WHITE: name_key(record.white)}
    same = [colour for colour, name in names.items() if name == wanted]
    if len(same) == 1:
        return same
    with suppress(UserError):
        return [parse_colour(wanted)]
    return [colour for colour, name in names.items() if wanted in name] if parts else same


def may_be_part(records: Sequence[GameRecord], player: str) -> bool:
    """Whether a text may mean a part of a name in several games: it is nobody's name in them, and no colour."""
    return not any(colours_of(record, player, parts=False) for record in records)


def tidy(name: str) -> str:
    """Returns a name without needless spaces."""
    return " ".join(name.split())


def name_key(name: str) -> str:
    """Returns what two spellings of a name have in common that differ in case and needless spaces."""
    return tidy(name).casefold()


def player_colour(record: GameRecord, player: str, *, parts: bool = True) -> int:
    """Returns the colour of a player who is given by name, by colour, or by a part of the name, in this order.

    Args:
        record: The game.
        player: The text.
        parts: Whether it may be a part of a name.

    Raises:
        UserError: Neither player has this name, or both do.
    """
    found = colours_of(record, player, parts=parts)
    if len(found) == 1:
        return found[0]
    problem = f"{player!r} may be either player" if found else f"no player {player!r} in this game"
    players = f"Black is {record.black or 'not named'}, White is {record.white or 'not named'}"
    raise UserError(f"{record.source}: {problem}: {players}")
