"""Stones in atari, as a beginner is told of them: what can be taken, what can be saved and where, and what is lost."""

from collections.abc import Sequence
from typing import NamedTuple

from ..base.languages.texts import Phrase, Value
from ..engine.rank_play import ways_out
from ..go.coords import BLACK, PASS
from ..go.game import Game
from ..go.ladders import is_safe
from ..go.regions import Chain, chains_of

_MOST_TOLD = 3  # sentences at a time, by judgement; the board marks all


class Atari(NamedTuple):
    """A chain in atari, and the player's move that takes or saves it; PASS if nothing saves it."""

    chain: Chain
    move: int


def find_ataris(game: Game, own: int = BLACK) -> list[Atari]:
    """Returns the chains in atari, those first whose moves take and save most stones; what is lost comes last.

    Args:
        game: The position, as if the player were to move.
        own: The player's colour.
    """
    chains = [chain for chain in chains_of(game.board[0]) if len(chain.liberties) == 1]
    taken = [Atari(chain, min(chain.liberties)) for chain in chains if chain.colour != own]
    taken = [atari for atari in taken if game.is_legal(atari.move, own)]
    saved = [Atari(chain, _way_out(game, chain)) for chain in chains if chain.colour == own]
    found = [*taken, *saved]

    def order(atari: Atari) -> tuple[bool, int, int, int]:
        stones = sum(len(other.chain.stones) for other in found if other.move == atari.move)
        return (atari.move == PASS, -stones, atari.move, -len(atari.chain.stones))

    return sorted(found, key=order)


def _way_out(game: Game, chain: Chain) -> int:
    """Returns the move that takes most stones of those that leave a chain in atari safe; PASS if none does.

    It is safe with two liberties, unless a ladder catches it.
    """
    safe: dict[int, int] = {}
    for point in sorted(ways_out(game.board[0], chain)):
        if game.is_legal(point, chain.colour):
            after = game.after(chain.colour, point)
            if is_safe(after.board[0], min(chain.stones)):
                safe[point] = after.captures(chain.colour)
    return max(safe, key=safe.__getitem__, default=PASS)


def shapes_of(ataris: Sequence[Atari]) -> dict[int, str]:
    """Returns a triangle for each black stone in atari, and a square for each that a move of Black takes."""
    return {point: "triangle" if chain.colour == BLACK else "square" for chain, _ in ataris for point in chain.stones}


def sentences_about(ataris: Sequence[Atari], game: Game) -> list[Phrase]:
    """Returns what Black is told of the first ataris; of stones that are lost only right after they came into atari."""
    said = list[Phrase]()
    for chain, move in ataris:
        name = "steps.canTake" if chain.colour != BLACK else "steps.inAtari" if move != PASS else "steps.lost"
        if name == "steps.lost" and not _is_next_to(game, chain, game.last_point):
            continue
        place, point = game.vertex(max(chain.stones)), game.vertex(move)
        values: dict[str, Value] = {"count": len(chain.stones), "place": place, "move": point}
        said.append(Phrase(name, values))
    return said[:_MOST_TOLD]


def what_to_win(game: Game) -> list[Phrase]:
    """Returns the sentences for a game that the first capture wins: what can be taken comes first."""
    return sentences_about(sorted(find_ataris(game), key=lambda atari: atari.chain.colour == BLACK), game)


def what_to_do(game: Game) -> list[Phrase]:
    """Returns what a beginner, who is Black, is told before a move of a game: the ataris, or that there are none.

    Stones that cannot be taken now, as in a ko, or that have been lost for longer are not named.
    """
    if any(len(chain.liberties) == 1 for chain in chains_of(game.board[0])):
        return sentences_about(find_ataris(game), game) or [Phrase("steps.noneHelped")]
    return [Phrase("steps.noAtari")]


def _is_next_to(game: Game, chain: Chain, point: int) -> bool:
    stride = game.width + 1
    return any(point + step in chain.stones for step in (-stride, -1, 1, stride))
