"""Chains that one line joins and the other cuts, by the rules."""

from collections.abc import Iterator
from itertools import combinations

from ...game.coords import PASS, opponent
from .facts import Connected
from .variation import Chain, Study, Variation, chain_at, chains_of

# Both chains have so many stones: lone stones are joined and given up all the time.
LEAST_STONES = 2
# The owner of their points changes by so much (ownership, -1 to 1): chains that live anyway may be apart.
LEAST_CONNECTION_CHANGE = 0.2


def find_connections(study: Study) -> Iterator[Connected]:
    """Yields the player's chains that the mistake lets the opponent cut, and the opponent's that it fails to cut."""
    yield from _joined(study, study.colour, study.better, study.played)
    yield from _joined(study, opponent(study.colour), study.played, study.better)


def _joined(study: Study, colour: int, joining: Variation, cutting: Variation) -> Iterator[Connected]:
    """Yields the chains of a colour that one line joins by a move at a point that the other colour takes otherwise."""
    chains = [chain for chain in chains_of(study.game) if chain.colour == colour]
    chains = [chain for chain in chains if len(chain.stones) >= LEAST_STONES]
    found: set[int] = set()
    for first, second in combinations(chains, 2):
        number = _joining_move(first, second, joining)
        if number is None or not _is_cut(first, second, joining.line[number - 1], cutting, opponent(colour)):
            continue
        stones = first.stones | second.stones
        if not found & stones and study.better.owned(stones) - study.played.owned(stones) >= LEAST_CONNECTION_CHANGE:
            found |= stones
            line = study.played.line if colour == study.colour else study.better.line
            yield Connected(line, stones, colour, first.stones, second.stones)


def _joining_move(first: Chain, second: Chain, variation: Variation) -> int | None:
    """Returns the number of the move, from 1, that joins two chains; None if they are apart at the end of the line."""
    if not _are_one(first, second, variation, len(variation.line)):
        return None
    numbers = range(1, len(variation.line) + 1)
    return next(number for number in numbers if _are_one(first, second, variation, number))


def _are_one(first: Chain, second: Chain, variation: Variation, number: int) -> bool:
    chain = chain_at(variation.games[number], min(first.stones))
    return chain is not None and chain.stones >= first.stones | second.stones


def _is_cut(first: Chain, second: Chain, point: int, variation: Variation, cutter: int) -> bool:
    """Whether the cutter holds the joining point at the end of a line, and both chains are on the board, apart."""
    end = variation.end
    if point == PASS or end.stone_at(point) != cutter:
        return False
    parts = [chain_at(end, min(chain.stones)) for chain in (first, second)]
    return None not in parts and parts[0] != parts[1]
