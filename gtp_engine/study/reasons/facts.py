"""The facts about a mistake and how they are found; `ladders` finds those about ladders."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...base.languages.texts import Phrase, Value
from ...go.coords import PASS, colour_name, opponent
from ...go.regions import Chain, chain_at, chains_of, find_regions, neighbours
from .variation import Fact, Study, Variation, cell_of, distance, points_at

# How much more the captor owns the captured stones' points in the line that captures them, in ownership (-1 to 1):
# without it sacrifices and exchanges, which change nothing, would count as losses. Below it a stronger network refuted
# most captures of single stones.
LEAST_CAPTURE_CHANGE = 0.8
# Shares of ownership (0 to 1) from which a group counts as alive, and down to which as dead. These and the other
# thresholds of facts are chosen, not fitted; `benchmarks/reason_accuracy.py` measures what they let through.
ALIVE, DEAD = 0.8, 0.2
# A group in between is worth a sentence if its share changes by so much.
LEAST_SHARE_CHANGE = 0.3
# Of a group, and of each of two chains that are joined: single stones are joined and given up all the time.
LEAST_STONES = 2
# Chains whose stones are no further apart belong to one group: a one-point jump or a diagonal move.
_NEAR = 2
# The owner of their points changes by so much (ownership, -1 to 1): chains that live anyway may be apart.
LEAST_CONNECTION_CHANGE = 0.2
# Ownership (-1 to 1) from which a point and its neighbours count as settled, and below which a point is neutral.
SETTLED, NEUTRAL = 0.9, 0.15
# Points that the better move gains in a region, or that a pass costs.
LEAST_GAIN = 2.0
# The least change of each point of a region (ownership, -1 to 1), and of their sum as a share of the loss.
LEAST_POINT_CHANGE, LEAST_GAIN_SHARE = 0.1, 0.4
# Steps from a move from which a region is elsewhere. One that is far from both moves says more about the search than
# about them.
_FAR = 5
# The better move's threat is greater by so many points, and at least twice the other one's: a tempo alone is worth up
# to 14 points in the opening, for every move.
LEAST_THREAT_LEAD, LEAST_THREAT_RATIO = 6.0, 2.0
# The nine parts of the board by row and column, as the texts name them.
_SIDES = (
    ("topLeft", "top", "topRight"),
    ("left", "centre", "right"),
    ("bottomLeft", "bottom", "bottomRight"),
)


def find_early_pass(study: Study) -> Iterator[Fact]:
    """Yields that a pass cost points ("passed")."""
    if study.move == PASS and study.points_loss >= LEAST_GAIN:
        count = {"count": round(study.points_loss)}
        yield Fact("passed", study.better.line, values=count, amounts=(study.points_loss,))


def find_missed_atari(study: Study) -> Iterator[Fact]:
    """Yields the player's chains in atari that the opponent takes right after the move, but not after the better."""
    if len(study.played.line) < 2:
        return
    taken = study.played.removals()[1]
    saved = chains_of(study.better.games[1].board[0])
    for chain in chains_of(study.game.board[0]):
        if chain.colour != study.colour or len(chain.liberties) != 1 or not chain.stones <= taken:
            continue
        is_saved = any(chain.stones <= other.stones and len(other.liberties) > 1 for other in saved)
        if is_saved and study.change(chain.stones) >= LEAST_CAPTURE_CHANGE:
            stones = {"stones": study.stones(chain.stones, study.colour)}
            yield Fact("atari", study.played.line[:2], chain.stones, stones)


def find_groups(study: Study) -> Iterator[Fact]:
    """Yields the groups of both colours that are better for the player after the better move.

    The player's are "weaker" after the move played, or it "dies"; the opponent's are "stronger", or it "lives". The
    amounts are the shares of their points that belong to their colour, 0 to 1.
    """
    changed = [
        chain
        for chain in chains_of(study.game.board[0])
        if study.change(chain.stones) / 2 >= LEAST_SHARE_CHANGE  # of the range from -1 to 1
    ]
    for group in _join(changed, study.game.width):
        stones = frozenset().union(*(chain.stones for chain in group))
        if len(stones) < LEAST_STONES:
            continue
        colour, is_own = group[0].colour, group[0].colour == study.colour
        sign = 1 if is_own else -1
        better, played = ((1 + sign * line.owned(stones)) / 2 for line in (study.better, study.played))
        if is_own:
            name = "dies" if better >= ALIVE and played <= DEAD else "weaker"
        else:
            name = "lives" if better <= DEAD and played >= ALIVE else "stronger"
        values: dict[str, Value] = {
            "owner": Phrase(colour_name(colour)),
            "stones": study.stones(stones, colour),
            "after_better": f"{better:.0%}",
            "after_played": f"{played:.0%}",
        }
        yield Fact(name, study.line_against(colour), stones, values, (better, played))


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


def find_captures(study: Study) -> Iterator[Fact]:
    """Yields the opponent's stones that only the better line takes ("taken"), and the player's only the other takes."""
    for name, capturing, other, colour in (
        ("taken", study.better, study.played, opponent(study.colour)),
        ("lost", study.played, study.better, study.colour),
    ):
        taken = _captured(capturing, colour)
        stones = frozenset(taken.keys() - _captured(other, colour).keys())
        if stones and study.change(stones) >= LEAST_CAPTURE_CHANGE:
            line = capturing.line[: max(taken[point] for point in stones)]
            yield Fact(name, line, stones, {"stones": study.stones(stones, colour)})


def _captured(variation: Variation, colour: int) -> dict[int, int]:
    """Returns the stones of a colour, of those on the board at first, that a line takes: the move's number by point."""
    found: dict[int, int] = {}
    before = variation.games[0]
    for number, points in enumerate(variation.removals(), start=1):
        for point in points:
            if before.stone_at(point) == colour:
                found.setdefault(point, number)
    return found


def find_connections(study: Study) -> Iterator[Fact]:
    """Yields the player's chains that the mistake lets the opponent cut, and the opponent's that it fails to cut."""
    yield from _joined(study, study.colour, study.better, study.played)
    yield from _joined(study, opponent(study.colour), study.played, study.better)


def _joined(study: Study, colour: int, joining: Variation, cutting: Variation) -> Iterator[Fact]:
    """Yields the chains of a colour that one line joins by a move at a point that the other colour takes otherwise."""
    chains = [chain for chain in chains_of(study.game.board[0]) if chain.colour == colour]
    chains = [chain for chain in chains if len(chain.stones) >= LEAST_STONES]
    found: set[int] = set()
    for first, second in combinations(chains, 2):
        number = _joining_move(first, second, joining)
        if number is None or not _is_cut(first, second, joining.line[number - 1], cutting, opponent(colour)):
            continue
        stones = first.stones | second.stones
        if not found & stones and study.change(stones) >= LEAST_CONNECTION_CHANGE:
            found |= stones
            values = {"first": study.stones(first.stones, colour), "second": study.stones(second.stones)}
            name = "cut" if colour == study.colour else "connected"
            yield Fact(name, study.line_against(colour), stones, values)


def _joining_move(first: Chain, second: Chain, variation: Variation) -> int | None:
    """Returns the number of the move, from 1, that joins two chains; None if they are apart at the end of the line."""

    def are_one(number: int) -> bool:
        chain = chain_at(variation.games[number].board[0], min(first.stones))
        return chain is not None and chain.stones >= first.stones | second.stones

    last = len(variation.line)
    return next(filter(are_one, range(1, last + 1))) if are_one(last) else None


def _is_cut(first: Chain, second: Chain, point: int, variation: Variation, cutter: int) -> bool:
    """Whether the cutter holds the joining point at the end of a line, and both chains are on the board, apart."""
    end = variation.end
    if point == PASS or end.stone_at(point) != cutter:
        return False
    parts = [chain_at(end.board[0], min(chain.stones)) for chain in (first, second)]
    return None not in parts and parts[0] != parts[1]


def find_filled(study: Study) -> Iterator[Fact]:
    """Yields that the move played fills a point that is settled whether it is played or not.

    The point is the player's "own", the opponent's ("others"), or neutral ("dame").
    """
    if study.move == PASS:
        return
    cell = cell_of(study.move, study.game.width)
    around = [cell, *neighbours(cell, study.better.ownership.shape)]
    better, played = (np.array([line.ownership[near] for near in around]) for line in (study.better, study.played))
    owners, after = (np.sign(owned) * (np.abs(owned) >= SETTLED) for owned in (better, played))  # 0 is not settled
    if np.all(owners == 1) and np.all(after == 1):
        name = "own"
    elif np.all(owners == -1) and np.all(after == -1):
        name = "others"
    # After the move played its own stone is on the point, so only the better line shows that it is neutral.
    elif abs(better[0]) <= NEUTRAL and np.all(owners[1:]) and np.array_equal(owners[1:], after[1:]):
        name = "dame"
    else:
        return
    yield Fact(name, study.played.line[:1], frozenset((study.move,)))


def find_regions_changed(study: Study) -> Iterator[Fact]:
    """Yields the region in which the better move gains most, if that is a good part of the loss.

    Its name is "elsewhere" if it is far from the move played, else "region"; the amount is the gain.
    """
    change = study.better.ownership - study.played.ownership
    regions = [region for region in find_regions((change >= LEAST_POINT_CHANGE).astype(np.int8)) if region.colour]
    sums = [sum(float(change[cell]) for cell in region.cells) for region in regions]
    if not sums or max(sums) < max(LEAST_GAIN, LEAST_GAIN_SHARE * study.points_loss):
        return
    mask = np.zeros(change.shape, np.bool_)
    for cell in regions[int(np.argmax(sums))].cells:
        mask[cell] = True
    points, width = points_at(mask), study.game.width
    steps = [
        _FAR if move == PASS else min(distance(move, point, width) for point in points)
        for move in (study.best, study.move)
    ]
    if min(steps) < _FAR:
        is_elsewhere = steps[0] < _FAR <= steps[1] and study.move != PASS
        values: dict[str, Value] = {"side": _side(change, mask), "count": round(max(sums))}
        yield Fact("elsewhere" if is_elsewhere else "region", study.better.line, points, values, (max(sums),))


def _side(change: np.ndarray, mask: np.ndarray) -> Phrase:
    """Returns in which of nine parts of the board a region lies, by the mean of its cells weighted by their change."""
    middle = np.average(np.argwhere(mask), axis=0, weights=change[mask])
    row, column = (min(2, int(3 * (place + 0.5) / size)) for place, size in zip(middle, mask.shape, strict=True))
    return Phrase(f"reason.{_SIDES[row][column]}")


def find_sente(study: Study) -> Iterator[Fact]:
    """Yields that the better move has to be answered more urgently than the move played.

    The amounts are the points that the player gains with each of them if the opponent passes.
    """
    better, played = study.better.gain_if_ignored, study.played.gain_if_ignored
    if better is None or played is None:
        return
    if better >= played + LEAST_THREAT_LEAD and better >= LEAST_THREAT_RATIO * played:
        line, played = (study.best, PASS, *study.better.threat), max(0.0, played)
        values = {"count": round(better), "less": round(played)}
        yield Fact("sente", line, frozenset((study.best,)), values, (better, played))
