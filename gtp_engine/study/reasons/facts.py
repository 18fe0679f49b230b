"""The facts about a mistake, and how they are found in the two lines that show it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from ...base.languages.texts import Phrase
from ...go.coords import PASS, opponent
from ...go.regions import cells_of, chain_at, chains_of, find_regions, neighbours
from ..move_review import whole
from .ko_facts import ko_of
from .variation import (
    CHANGED,
    DOUBTFUL,
    HALF_CHANGED,
    LEAST_TOLD,
    Claim,
    Fact,
    Study,
    Variation,
    points_at,
)

# The least change of each point of a region (ownership, -1 to 1). The thresholds of facts are chosen, not fitted;
# `benchmarks/reason_accuracy.py` measures what they let through.
LEAST_POINT_CHANGE = 0.1
# The points that a region gains at least. Of 23 sentences about regions b18c384nbt denied two, both of 3 points.
_LEAST_GAIN = 4.0
# Of a region's gain: what any other search has to find too, and what makes it one player's territory.
_MOSTLY = 0.7
# Of the gain what every search has to find in the loss: the rest is given back elsewhere.
_KEPT = 0.5
# If less is kept, only the place of the better move is named, and only if the move is worth at least this many points
# more overall, and this share of what it gains there: in the opening of small boards every move has such a place.
LEAST_POINT_LOSS, _TRADED = 3.0, 0.2
REGIONS = ("bigger", "smaller", "region", "elsewhere")  # names of facts
# The least share of a region's gain that lies in the part of the board that is named.
_MAINLY = 0.5
# The better move's threat is greater by so many points, and at least twice the other one's: a tempo alone is worth up
# to 14 points in the opening, for every move.
LEAST_THREAT_LEAD, LEAST_THREAT_RATIO = 6.0, 2.0
# The nine parts of the board by row and column, as the texts name them.
_SIDES = (
    ("topLeft", "top", "topRight"),
    ("left", "centre", "right"),
    ("bottomLeft", "bottom", "bottomRight"),
)


EARLY_PASS = "passed"


def find_early_pass(study: Study) -> Iterator[Fact]:
    """Yields that a pass cost points ("passed")."""
    if study.move == PASS and study.points_loss >= LEAST_TOLD:
        yield Fact(EARLY_PASS, study.better.line, values={"count": whole(study.points_loss)})


def find_missed_atari(study: Study) -> Iterator[Fact]:
    """Yields the player's chains in atari that the opponent takes right after the move, but not after the better.

    A ko that the better move ends is none of them: `find_ko` tells it.
    """
    if len(study.played.line) < 2 or (study.best == study.played.line[1] and ko_of(study.played.games[2]) != PASS):
        return
    taken = study.played.removals()[1]
    saved = chains_of(study.better.games[1].board[0])
    for chain in chains_of(study.game.board[0]):
        if chain.colour != study.colour or len(chain.liberties) != 1 or not chain.stones <= taken:
            continue
        is_saved = any(chain.stones <= other.stones and len(other.liberties) > 1 for other in saved)
        if is_saved and study.change(chain.stones) >= CHANGED:
            stones = {"stones": study.stones(chain.stones, study.colour)}
            claim = Claim(chain.stones, played=-HALF_CHANGED, change=CHANGED)
            yield Fact("atari", study.played.line[:2], chain.stones, stones, claim=claim)


def find_connections(study: Study) -> Iterator[Fact]:
    """Yields the player's chains that the mistake lets the opponent cut, and the opponent's that it fails to cut."""
    yield from _cut(study, study.colour, study.played, study.better)
    yield from _cut(study, opponent(study.colour), study.better, study.played)


def _cut(study: Study, colour: int, cutting: Variation, other: Variation) -> Iterator[Fact]:
    """Yields the chains of a colour that the other colour's first move in a line cuts, and in the other line does not.

    At the end of the cutting line they are apart, and no single move joins them. What the player prevents is a cut at
    a point that its own stone takes in the other line. Chains that the cutting move captures are not cut.
    """
    number = 1 if colour == study.colour else 0  # of the cutting move: it is the opponent's answer, or the player's
    if len(cutting.line) <= number or cutting.line[number] == PASS:
        return
    point, board = cutting.line[number], cutting.games[number].board[0]
    chains = [chain for chain in chains_of(board) if chain.colour == colour and point in chain.liberties]
    known = (study.game, cutting.games[number + 1])  # in which the chains are on the board
    chains = [chain for chain in chains if all(game.stone_at(min(chain.stones)) == colour for game in known)]
    for first, second in combinations(sorted(chains, key=lambda chain: -len(chain.stones)), 2):
        ends = [chain_at(cutting.end.board[0], min(chain.stones)) for chain in (first, second)]
        owner = other.end.stone_at(point)
        if cutting.end.stone_at(point) != opponent(colour) or owner == opponent(colour):
            continue
        if colour == study.colour != owner:
            continue
        if ends[0] == ends[1] or (ends[0] and ends[1] and ends[0].liberties & ends[1].liberties):
            continue
        weaker = max((first, second), key=lambda chain: study.change(chain.stones))
        claim = Claim(weaker.stones, change=CHANGED)
        if claim.holds(study):
            values = {"first": study.stones(first.stones, colour), "second": study.stones(second.stones)}
            name = "cut" if colour == study.colour else "connected"
            yield Fact(name, cutting.line, first.stones | second.stones, values, claim=claim)
            return


def find_filled(study: Study) -> Iterator[Fact]:
    """Yields that the move played fills a point that is settled whether it is played or not.

    The point is the player's "own", the opponent's ("others"), or neutral ("dame").
    """
    if study.move == PASS:
        return
    (cell,) = cells_of((study.move,), study.game.width)
    around = [cell, *neighbours(cell, study.better.ownership.shape)]
    better, played = (np.array([line.ownership[near] for near in around]) for line in (study.better, study.played))
    owners, after = (np.sign(owned) * (np.abs(owned) >= CHANGED) for owned in (better, played))  # 0 is not settled
    points = frozenset((study.move,))
    if np.all(owners == 1) and np.all(after == 1):
        name, claim = "own", Claim(points, better=CHANGED)
    elif np.all(owners == -1) and np.all(after == -1):
        name, claim = "others", Claim(points, played=-CHANGED)
    # After the move played its own stone is on the point, so only the better line shows that it is neutral.
    elif abs(better[0]) <= DOUBTFUL and np.all(owners[1:]) and np.array_equal(owners[1:], after[1:]):
        name, claim = "dame", Claim(points, better=-CHANGED)
    else:
        return
    yield Fact(name, study.played.line[:1], points, claim=claim)


def find_regions_changed(study: Study) -> Iterator[Fact]:
    """Yields where the better move gains most: what it gains there, and that this is the bigger point.

    The first is told if the gain is mostly kept. The player's territory there gets
    "bigger", the opponent's "smaller", or both ("region"); the name is "elsewhere" if it and the better move are far
    from the move played. The amount is the gain. The second ("point") is told if the two moves are in different parts
    of the board.
    """
    change, width = study.better.ownership - study.played.ownership, study.game.width
    mask, gain = _largest_region(change)
    if gain < _LEAST_GAIN:
        return
    points = points_at(mask)
    claim = Claim(points, change=_MOSTLY * gain / len(points), gain=_LEAST_GAIN)
    found: list[Fact] = []
    side = _main_side(change * mask)
    name = _named(study, mask, gain)
    if PASS not in (study.move, study.best) and not study.is_near({*points, study.best}, study.move):
        name, side = "elsewhere", _side(cells_of((study.best,), width)[0], change.shape)  # its place is told
    if study.is_near(points) and side is not None:
        fact = Fact(name, study.better.line, points, {"side": Phrase(side)}, claim=claim._replace(kept=_KEPT))
        found.append(as_seen_by(study, fact))
    if PASS not in (study.best, study.move) and study.is_near(points, study.best):
        side, other = (_side(cell, change.shape) for cell in cells_of((study.best, study.move), width))
        claim = claim._replace(kept=_TRADED, loss=LEAST_POINT_LOSS)
        if side != other:
            found.append(Fact("point", study.better.line, points, {"side": Phrase(side)}, claim=claim))
    yield from (fact for fact in found if fact.holds(study))


def _named(study: Study, mask: np.ndarray, gain: float) -> str:
    """Returns the name of the fact for a region, bool [height, width], by whose territory changes in it."""
    lines = ((study.better, 1), (study.played, -1))
    own = sum(float(np.maximum(line.ownership[mask], 0).sum()) * sign for line, sign in lines) / gain
    return "bigger" if own >= _MOSTLY else "smaller" if own <= 1 - _MOSTLY else "region"


def _largest_region(change: np.ndarray) -> tuple[np.ndarray, float]:
    """Returns the region, bool [height, width], whose points gain most, and the sum of what they gain."""
    regions = [region for region in find_regions((change >= LEAST_POINT_CHANGE).astype(np.int8)) if region.colour]
    sums = [sum(float(change[cell]) for cell in region.cells) for region in regions]
    mask, gain = np.zeros(change.shape, np.bool_), max(sums, default=0.0)
    for cell in regions[sums.index(gain)].cells if regions else ():
        mask[cell] = True
    return mask, gain


def _main_side(gains: np.ndarray) -> str | None:
    """Returns in which of nine parts of the board at least half of some gains lie, float32 [height, width]; or None."""
    sums: defaultdict[str, float] = defaultdict(float)
    for row, column in np.argwhere(gains).tolist():
        sums[_side((row, column), gains.shape)] += float(gains[row, column])
    side = max(sums, key=sums.__getitem__)
    return side if sums[side] >= _MAINLY * sum(sums.values()) else None


def _side(cell: tuple[int, int], shape: tuple[int, ...]) -> str:
    """Returns the text that names the one of nine parts of the board in which a cell lies."""
    row, column = (min(2, int(3 * (place + 0.5) / size)) for place, size in zip(cell, shape, strict=True))
    return f"reason.{_SIDES[row][column]}"


def as_seen_by(study: Study, fact: Fact) -> Fact:
    """Returns a fact with the points that a region brings by a study."""
    if fact.name not in REGIONS:
        return fact
    return replace(fact, values={**fact.values, "count": whole(study.gain(fact.points))})


def find_sente(study: Study) -> Iterator[Fact]:
    """Yields that the better move has to be answered more urgently than the move played."""
    better, played = study.better.gain_if_ignored, study.played.gain_if_ignored
    if better is None or played is None:
        return
    if better >= played + LEAST_THREAT_LEAD and better >= LEAST_THREAT_RATIO * played:
        line = (study.best, PASS, *study.better.threat)
        values = {"count": whole(better), "less": whole(max(0.0, played))}
        yield Fact("sente", line, frozenset((study.best,)), values)
