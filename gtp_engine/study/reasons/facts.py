"""The facts about a mistake, and how they are found in the two lines that show it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from ...base.languages.texts import Phrase
from ...go.coords import PASS, opponent
from ...go.game import Game
from ...go.ladders import is_safe
from ...go.regions import Chain, cells_of, chain_at, chains_of, find_regions, neighbours, points_of
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
)

# The least change of each point of a region (ownership, -1 to 1). The thresholds of facts are chosen, not fitted;
# `benchmarks/reason_accuracy.py` measures what they let through.
LEAST_POINT_CHANGE = 0.1
# The points that a region gains at least. Of 23 sentences about regions b18c384nbt denied two, both of 3 points.
_LEAST_GAIN = 4.0
# Of a region's gain: what any other search has to find too, what makes it one player's territory, and what of a side's
# gain lies in the corner that is named.
_MOSTLY = 0.7
# Of the gain what every search has to find in the loss: the rest is given back elsewhere.
_KEPT = 0.5
# If less is kept, only the place of the better move is named, and only if the move is worth at least this many points
# more overall, and this share of what it gains there: in the opening of small boards every move has such a place.
LEAST_POINT_LOSS, _TRADED = 3.0, 0.2
REGIONS = ("bigger", "smaller", "region", "point")  # names of facts
# The least share of a region's gain that lies in the part of the board that is named, or near the bigger point.
_MAINLY = 0.5
# The better move threatens at least this many points more than the other move, and at least twice as many. The other
# move threatens no more than any move does by gaining a tempo, which is worth up to 14 points in the opening.
LEAST_THREAT_LEAD, LEAST_THREAT_RATIO, _MOST_TEMPO = 6.0, 2.0, 14.0
# The texts that name the nine parts of the board, by row and column.
_CENTRE = "reason.centre"
_SIDES = (
    ("reason.topLeft", "reason.top", "reason.topRight"),
    ("reason.left", _CENTRE, "reason.right"),
    ("reason.bottomLeft", "reason.bottom", "reason.bottomRight"),
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

    No move joins them right after the cutting one, nor at the end of its line, where they are apart. What the player
    prevents is a cut at a point that its own stone takes in the other line. Chains that the cutting move captures are
    not cut.
    """
    number = 1 if colour == study.colour else 0  # of the cutting move: it is the opponent's answer, or the player's
    point = cutting.line[number] if len(cutting.line) > number else PASS
    if point == PASS or not study.is_near((point,)):
        return
    board = cutting.games[number].board[0]
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
        if _can_join(known[1], first, second):
            continue
        weaker = max((first, second), key=lambda chain: study.change(chain.stones))
        claim = Claim(weaker.stones, change=CHANGED)
        if claim.holds(study):
            values = {"first": study.stones(first.stones, colour), "second": study.stones(second.stones)}
            name = "cut" if colour == study.colour else "connected"
            yield Fact(name, cutting.line, first.stones | second.stones, values, claim=claim)
            return


def _can_join(game: Game, first: Chain, second: Chain) -> bool:
    """Whether the owner of two chains, who is to move, can join them so that not even a ladder catches them."""
    chains = [chain_at(game.board[0], min(chain.stones)) for chain in (first, second)]
    shared = frozenset.intersection(*(chain.liberties for chain in chains if chain is not None))
    moves = filter(game.is_legal, shared)
    return any(is_safe(game.after(first.colour, move).board[0], move) for move in moves)


def find_filled(study: Study) -> Iterator[Fact]:
    """Yields that the move played fills a point that is settled whether it is played or not.

    The point is the player's "own", the opponent's ("others"), or neutral ("dame"). A point is not settled if the move
    captures, or if the better line plays there, too.
    """
    if study.move == PASS:
        return
    (cell,) = cells_of((study.move,), study.game.width)
    around = [cell, *neighbours(cell, study.better.ownership.shape)]
    better, played = (np.array([line.ownership[near] for near in around]) for line in (study.better, study.played))
    owners, after = (np.sign(owned) * (np.abs(owned) >= CHANGED) for owned in (better, played))  # 0 is not settled
    points = frozenset((study.move,))
    is_useless = study.move not in study.better.line and not study.played.removals()[0]
    if is_useless and np.all(owners == 1) and np.all(after == 1):
        name, claim = "own", Claim(points, better=CHANGED)
    elif is_useless and np.all(owners == -1) and np.all(after == -1):
        name, claim = "others", Claim(points, played=-CHANGED)
    # After the move played its own stone is on the point, so only the better line shows that it is neutral.
    elif abs(better[0]) <= DOUBTFUL and np.all(owners[1:]) and np.array_equal(owners[1:], after[1:]):
        name, claim = "dame", Claim(points, better=-CHANGED)
    else:
        return
    yield Fact(name, study.played.line[:1], points, claim=claim)


def find_regions_changed(study: Study) -> Iterator[Fact]:
    """Yields where the better move gains most: what it gains there, and that this is the bigger point.

    The first is told of the part of the board where most of it lies, if the lines play near it and it is mostly kept.
    The player's territory there gets "bigger", the opponent's "smaller", or both ("region"). The second ("point") is
    told if half of the gain lies near the better move, and the two moves are in different parts of the board.
    """
    points = next(iter(gaining_parts(study)), frozenset[int]())
    if study.gain(points) < _LEAST_GAIN:
        return
    found: list[Fact] = []
    if (named := _mainly_in(study, points)) and study.is_near(points, *study.played.line, *study.better.line):
        side, inside = named
        claim = _gaining(study, inside)._replace(kept=_KEPT)
        fact = Fact(_named(study, inside), study.better.line, inside, {"side": Phrase(side)}, claim=claim)
        found.append(as_seen_by(study, fact))
    near = frozenset(point for point in points if study.is_near((point,)))
    if PASS not in (study.best, study.move) and study.gain(near) >= _MAINLY * study.gain(points):
        (row, column), other = (_ninth(study, move) for move in (study.best, study.move))
        claim = _gaining(study, points)._replace(kept=_TRADED, loss=LEAST_POINT_LOSS)
        if (row, column) != other:
            values = {"side": Phrase(_SIDES[row][column])}
            found.append(Fact("point", study.better.line, points, values, claim=claim))
    yield from (fact for fact in found if fact.holds(study))


def _mainly_in(study: Study, points: frozenset[int]) -> tuple[str, frozenset[int]] | None:
    """Returns the text that names the part of the board where some points gain most, and those of them that lie there.

    A side of the board has its corners, too, but if most of it lies in one of them that is named. None if no part has
    half of the gain.
    """
    parts = defaultdict[str, frozenset[int]](frozenset)
    for point in sorted(points):
        row, column = _ninth(study, point)
        for name in dict.fromkeys((_SIDES[row][column], _SIDES[row][1], _SIDES[1][column])):
            if name != _CENTRE or row == column == 1:
                parts[name] |= {point}
    most = max(map(study.gain, parts.values()))
    if most < _MAINLY * study.gain(points):
        return None
    enough = (part for part in parts.items() if study.gain(part[1]) >= _MOSTLY * most)
    return min(enough, key=lambda part: len(part[1]))  # a corner comes before its sides


def _gaining(study: Study, points: frozenset[int]) -> Claim:
    return Claim(points, change=_MOSTLY * study.change(points), gain=_LEAST_GAIN)


def _named(study: Study, points: frozenset[int]) -> str:
    """Returns the name of the fact for a region, by whose territory changes in it."""
    cells = cells_of(points, study.game.width)
    lines = ((study.better, 1), (study.played, -1))
    own = sum(max(float(line.ownership[cell]), 0.0) * sign for line, sign in lines for cell in cells)
    share = own / study.gain(points)
    return "bigger" if share >= _MOSTLY else "smaller" if share <= 1 - _MOSTLY else "region"


def gaining_parts(study: Study) -> list[frozenset[int]]:
    """Returns the connected parts of the board whose points gain by the better move, the one that gains most first."""
    change = study.better.ownership - study.played.ownership
    regions = [region for region in find_regions((change >= LEAST_POINT_CHANGE).astype(np.int8)) if region.colour]
    return sorted((frozenset(points_of(region.cells, study.game.width)) for region in regions), key=study.gain)[::-1]


def _ninth(study: Study, point: int) -> tuple[int, int]:
    """Returns in which of nine parts of the board a point lies, as the row and the column of `_SIDES`."""
    (cell,), shape = cells_of((point,), study.game.width), study.better.ownership.shape
    row, column = (min(2, int(3 * (place + 0.5) / size)) for place, size in zip(cell, shape, strict=True))
    return row, column


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
    if played <= _MOST_TEMPO and better >= played + LEAST_THREAT_LEAD and better >= LEAST_THREAT_RATIO * played:
        line = (study.best, PASS, *study.better.threat)
        values = {"count": whole(better), "less": whole(max(0.0, played))}
        yield Fact("sente", line, frozenset((study.best,)), values)
