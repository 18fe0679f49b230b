"""Groups that live after one move and die after the other, by the ownership of their stones."""

from collections.abc import Iterator

from .facts import GroupChanged
from .variation import Chain, Study, chains_of, distance

# Shares of ownership (0 to 1) from which a group counts as alive, and down to which as dead. These and the other
# thresholds of facts are chosen, not fitted; `benchmarks/reason_accuracy.py` measures what they let through.
ALIVE, DEAD = 0.8, 0.2
# A group that is neither is worth a sentence if its share changes by so much.
LEAST_SHARE_CHANGE = 0.3
LEAST_STONES = 2
# Chains whose stones are no further apart belong to one group: a one-point jump or a diagonal move.
_NEAR = 2


def find_groups(study: Study) -> Iterator[GroupChanged]:
    """Yields the groups, of both colours, that are better for the player after the better move."""
    changed = [chain for chain in chains_of(study.game) if _change(study, chain) >= LEAST_SHARE_CHANGE]
    for group in _join(changed, study.game.width):
        stones = frozenset().union(*(chain.stones for chain in group))
        if len(stones) < LEAST_STONES:
            continue
        colour = group[0].colour
        shares = [_share(study, variation.owned(stones), colour) for variation in (study.better, study.played)]
        line = study.played.line if colour == study.colour else study.better.line
        yield GroupChanged(line, stones, colour, *shares)


def _change(study: Study, chain: Chain) -> float:
    """Returns by how much more of a chain's points the player owns after the better move, as a share (0 to 1)."""
    return (study.better.owned(chain.stones) - study.played.owned(chain.stones)) / 2


def _share(study: Study, owned: float, colour: int) -> float:
    return (1 + owned) / 2 if colour == study.colour else (1 - owned) / 2


def _join(chains: list[Chain], width: int) -> list[list[Chain]]:
    """Returns the chains in groups of one colour, each near another one of its group."""
    groups: list[list[Chain]] = []
    for chain in chains:
        near = [group for group in groups if any(_is_near(chain, other, width) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([chain, *(other for group in near for other in group)])
    return groups


def _is_near(chain: Chain, other: Chain, width: int) -> bool:
    if chain.colour != other.colour:
        return False
    return any(distance(stone, near, width) <= _NEAR for stone in chain.stones for near in other.stones)
