"""The facts about a mistake, and how they are found in the two lines that show it."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from ...base.languages.texts import Phrase, Value
from ...go.coords import PASS, colour_name, index_of_point, opponent
from ...go.game import Game
from ...go.ladders import find_ladders, new_workspace
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
# Moves after which a ladder that is played out counts as endless: twice the diagonal of the largest board, there and
# back, is less.
_LONGEST_LADDER = 200
# The shortest ladder worth its name: fewer moves are a net or a plain atari, which the captures tell.
_SHORTEST_LADDER = 5
# Who owns the stones after the ladder's first move has to agree with the reader (ownership, -1 to 1), as the reader
# sees no net, no snapback and no sacrifice.
_AGREED = 0.3
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


# Ladders, by the compiled reader; the line of a ladder is played out to its end.


def find_ladder_facts(study: Study) -> Iterator[Fact]:
    """Yields the ladders that speak for the better move or against the one played.

    The better move "catches" the opponent's stones, or the player's are "caught" after the move played; or that one is
    an atari from which the stones "escape", or "runs" with stones that the ladder catches all the same.
    """
    working = [*_caught_by(study, study.better, "catches", study.colour)]
    if len(study.played.line) > 1:
        working += _caught_by(study, study.played, "caught", opponent(study.colour), start=1)
    for ladder in working:
        if study.change(ladder.points) >= LEAST_CAPTURE_CHANGE:
            yield ladder
    yield from _failed_attack(study)
    yield from _failed_run(study)


def _fact(study: Study, name: str, line: tuple[int, ...], chain: Chain) -> Fact:
    return Fact(name, line, chain.stones, {"stones": study.stones(chain.stones, chain.colour)})


def _read(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Returns the stones that ladders catch and the working moves, bool [area] in move-index order."""
    caught, working = np.zeros((2, game.area), np.bool_)
    # New memory each time: reviews on several threads must not share it, and it costs little beside a reading.
    find_ladders(game.board[0], new_workspace(), caught, working)
    return caught, working


def _index(game: Game, point: int) -> int:
    return index_of_point(point, game.width, game.height)


def _caught_by(study: Study, variation: Variation, name: str, attacker: int, start: int = 0) -> Iterator[Fact]:
    """Yields the chains that the move number `start` of a line (from 0) catches, with the ladder played out."""
    game, move = variation.games[start], variation.line[start]
    if move == PASS or game.to_move != attacker:
        return
    caught, working = _read(game)
    if not working[_index(game, move)]:
        return
    for chain in chains_of(game.board[0]):
        is_attacked = chain.colour != attacker and move in chain.liberties and len(chain.liberties) == 2
        stone = min(chain.stones)
        if is_attacked and caught[_index(game, stone)] and _is_agreed(variation, chain, attacker == study.colour):
            line = _ladder_line(game, move, stone)
            if len(line) >= _SHORTEST_LADDER:
                yield _fact(study, name, (*variation.line[:start], *line), chain)


def _is_agreed(variation: Variation, chain: Chain, own: bool) -> bool:
    """Whether the stones belong to the player of the line's first move, or not to it, by the search too."""
    return variation.owned(chain.stones) * (1 if own else -1) >= _AGREED


def _ladder_line(game: Game, move: int, stone: int) -> tuple[int, ...]:
    """Returns the moves of a ladder from the attacker's first one to the capture; empty if it is not caught so.

    The defender extends as long as there is a move that does so, and then passes.
    """
    game = game.copy()
    line = [move]
    game.play(game.to_move, move)
    while len(line) < _LONGEST_LADDER:
        chain = chain_at(game.board[0], stone)
        if chain is None:
            return tuple(line)
        reply = _defence(game, chain) if game.to_move == chain.colour else _attack(game, chain)
        if reply is None or not game.is_legal(reply):
            return ()
        line.append(reply)
        game.play(game.to_move, reply)
    return ()


def _defence(game: Game, chain: Chain) -> int:
    """Returns the move that extends a chain in atari; a pass if there is none."""
    if len(chain.liberties) > 1:
        return PASS
    (liberty,) = chain.liberties
    return liberty if game.is_legal(liberty) else PASS


def _attack(game: Game, chain: Chain) -> int | None:
    """Returns the move that captures a chain or continues the ladder; None if there is none."""
    if len(chain.liberties) == 1:
        return min(chain.liberties)
    working = _read(game)[1]
    return next((point for point in sorted(chain.liberties) if working[_index(game, point)]), None)


def _failed_attack(study: Study) -> Iterator[Fact]:
    """Yields the opponent's chain that the move played puts in atari, and that runs away in the line."""
    after, line = study.played.games[1], study.played.line
    if len(line) < 2 or line[1] == PASS:
        return
    caught = _read(after)[0]
    for chain in chains_of(after.board[0]):
        if chain.colour == study.colour or chain.liberties != {line[1]} or caught[_index(after, min(chain.stones))]:
            continue
        before = chain_at(study.game.board[0], min(chain.stones))
        run = chain_at(study.played.games[2].board[0], line[1])
        if before is None or len(before.liberties) != 2 or run is None or len(run.liberties) != 2:
            continue
        if _is_agreed(study.played, chain, own=False):
            yield _fact(study, "escapes", line, chain)


def _failed_run(study: Study) -> Iterator[Fact]:
    """Yields the player's chain in atari that the move played extends, although the ladder catches it."""
    after, move = study.played.games[1], study.move
    for chain in chains_of(study.game.board[0]):
        if move == PASS or chain.colour != study.colour or chain.liberties != {move}:
            continue
        run = chain_at(after.board[0], min(chain.stones))
        if run is None or len(run.liberties) != 2 or not _is_agreed(study.played, run, own=False):
            continue
        working = _read(after)[1]
        for attack in sorted(run.liberties):
            line = _ladder_line(after, attack, move) if working[_index(after, attack)] else ()
            if len(line) >= _SHORTEST_LADDER:
                yield _fact(study, "runs", (move, *line), run)
                break
