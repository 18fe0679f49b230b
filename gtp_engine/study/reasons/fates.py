"""The facts about what becomes of stones: captured, alive, dead, in danger, and who wins a race."""

import threading
from collections.abc import Iterator

from ...base.errors import UserError
from ...base.languages.texts import Value
from ...go.coords import PASS, distance
from ...go.game import Game
from ...go.regions import Chain, chain_at, chains_of
from ...solver.refutations import Outcome
from ...solver.solution import solve
from .variation import CHANGED, DOUBTFUL, HALF_CHANGED, Claim, Fact, Study, play_line

# Ownership (-1 to 1) from which stones live, in both searches if nothing is proved, and down to which they are dead.
# Those that the line captures need not be as surely. Of two groups that one search had dead by 0.60 and 0.64,
# b18c384nbt was less sure (`benchmarks/reason_accuracy.py`).
LIVING, DEAD = 0.6, -0.7
# Stones of a group that is said to live, die or be in danger: single stones are given up all the time.
_LEAST_STONES = 2
# Stones of a group that is said to be in danger by a change below CHANGED. Of groups with more, b18c384nbt denied 4 of
# 7, and none of 13 smaller ones (`benchmarks/reason_accuracy.py`); small networks misjudge them.
_MOST_IN_DANGER = 8
# Chains whose stones are no further apart belong to one group: a one-point jump or a diagonal move.
_NEAR = 2
# Moves of a line, the mistake's included, that end in a capture worth its name: after more of them a group has died.
_SOON = 6
# What is said of the opponent's stones and of the player's, after "taken" and "lost".
_NAMES = (("lives", "stronger", "kills"), ("dies", "weaker", "unsaved"))
# Groups that the solver reads for a mistake, the largest first, and the positions that it reads of each: about 0.1 s.
# A limit of time would not repeat.
_MOST_READ, _POSITIONS, _SECONDS = 3, 20_000, 5.0


def find_fates(study: Study) -> Iterator[Fact]:
    """Yields the groups that change owners, or are safe after one move and in danger after the other.

    The player's are "lost" (captured in the line), or it "dies", or is "weaker" after the move played, or "unsaved" if
    it only may live after the better move. The opponent's are "taken", or it "lives", or is "stronger", or the better
    move "kills" what may live after the move played. A capture from a distance "nets" them, and a point that decides
    the life of a group for both players has its own names, "eyes" and "eye". Of two groups that touch, one wins a
    "race".
    """
    groups = sorted(_changed_groups(study), key=_size, reverse=True)
    read = [(group, _size(group), number < _MOST_READ) for number, group in enumerate(groups)]
    # If it is not certain for the whole group it may be for one of its chains.
    split = (group for group in groups if len(group) > 1)
    read += [([chain], _size(group), False) for group in split for chain in group if study.is_near(chain.stones)]
    facts = [(part, fact) for part, size, is_read in read if (fact := _fate(study, part, size, is_read))]
    for group, fact in facts:
        for other, fate in facts:
            if group[0].colour == study.colour != other[0].colour and _touch(study, group, other):
                yield from _race(study, fact, fate)
    yield from (fact for _, fact in facts)


def _changed_groups(study: Study) -> list[list[Chain]]:
    """Returns the groups that change owners near the better move: chains of one colour, each near another one."""
    chains = [chain for chain in chains_of(study.game.board[0]) if study.change(chain.stones) >= HALF_CHANGED]
    groups: list[list[Chain]] = []
    for chain in chains:
        own = (group for group in groups if group[0].colour == chain.colour)
        near = [group for group in own if _steps_between(group, [chain], study.game.width) <= _NEAR]
        groups = [group for group in groups if group not in near]
        groups.append([chain, *(other for group in near for other in group)])
    return [group for group in groups if any(study.is_near(chain.stones) for chain in group)]


def _size(group: list[Chain]) -> int:
    return sum(len(chain.stones) for chain in group)


def _steps_between(group: list[Chain], other: list[Chain], width: int) -> int:
    """Returns the steps between the nearest stones of two groups, as `distance`."""
    pairs = ((mine, theirs) for chain in group for mine in chain.stones for near in other for theirs in near.stones)
    return min(distance(mine, theirs, width) for mine, theirs in pairs)


def _touch(study: Study, group: list[Chain], other: list[Chain]) -> bool:
    """Whether chains of two groups touch, and the better move is on one of their liberties, or next to one."""
    width = study.game.width
    pairs = ((mine, near) for mine in group for near in other if _steps_between([mine], [near], width) == 1)
    return any(study.is_near(mine.stones | near.stones, steps=_NEAR) for mine, near in pairs)


def _race(study: Study, lost: Fact, taken: Fact) -> Iterator[Fact]:
    """Yields that a race between two groups is lost by the move played, and won by the better one, but not at once."""
    claim = Claim(lost.points | taken.points, LIVING, -LIVING)
    if taken.points <= study.better.removals()[0]:
        return
    if claim.holds(study) and all(Claim(fact.points, LIVING, -LIVING).holds(study) for fact in (lost, taken)):
        values = {"first": lost.values["stones"], "second": taken.values["stones"]}
        yield Fact("race", lost.line, claim.points, values, claim=claim)


def _fate(study: Study, group: list[Chain], size: int, is_read: bool) -> Fact | None:
    """Returns what becomes of a group, or of a part of one, after the two moves; None if not certain, or much alike.

    Args:
        study: The mistake.
        group: The chains.
        size: The stones of the whole group.
        is_read: Whether the solver reads it.
    """
    colour, largest = group[0].colour, max(group, key=lambda chain: len(chain.stones))
    is_own = colour == study.colour
    losing = study.played if is_own else study.better
    proof = capture_line(losing.games[1], largest) if is_read else None
    line, captured, dead = losing.line, -LIVING, DEAD
    if proof is not None:
        line, group = (line[0], *proof), [largest]
        captured = dead = -DOUBTFUL
    parts = tuple(chain.stones for chain in group)
    stones = frozenset().union(*parts)
    if stones & frozenset().union(*(study.better if is_own else study.played).removals()):
        return None  # they are captured after either move
    if is_own and _has_atari(study.better.games[1], group):
        return None
    line, is_captured = _until_captured(study, line, largest)
    names = ("lost" if is_own else "taken", *_NAMES[is_own])
    change = HALF_CHANGED if size <= _MOST_IN_DANGER else CHANGED
    # As the owner of the group sees it: at least after the move that is better for him, at most after the other.
    kinds = ((LIVING, captured, None), (LIVING, dead, None), (LIVING, HALF_CHANGED, change), (None, DEAD, CHANGED))
    seen = kinds if is_own else [(-lost, safe and -safe, least) for safe, lost, least in kinds]
    claims = [Claim(stones, better, played, least, parts=parts) for better, played, least in seen]
    is_group = len(stones) >= _LEAST_STONES
    is_on_board = not stones & frozenset().union(*losing.removals()[:2])
    possible = (is_captured and len(line) <= _SOON, is_group, is_group and is_on_board, is_group)
    fates = zip(names, claims, possible, strict=True)
    found = next(((name, claim) for name, claim, is_so in fates if is_so and claim.holds(study)), None)
    if found is None:
        return None
    name, claim = found
    values: dict[str, Value] = {"stones": study.stones(stones, colour)}
    is_beside = study.best not in largest.liberties and study.is_near(largest.liberties, study.best, steps=1)
    if name == "taken" and proof is not None and len(largest.liberties) > 1 and is_beside:
        name = "nets"
    elif name in ("dies", "lives") and study.best in line[:2] and study.played.line[1:2] == (study.best,) != (PASS,):
        name = "eyes" if is_own else "eye"
    return Fact(name, line, stones, values, claim=claim)


def _has_atari(game: Game, group: list[Chain]) -> bool:
    """Whether the player to move can capture one of these chains at once, no matter who ends up with the points."""
    chains = (chain_at(game.board[0], min(chain.stones)) for chain in group)
    last = (next(iter(chain.liberties)) for chain in chains if chain is not None and len(chain.liberties) == 1)
    return any(game.is_legal(point, game.to_move) for point in last)


def _until_captured(study: Study, line: tuple[int, ...], chain: Chain) -> tuple[tuple[int, ...], bool]:
    """Returns a line up to the capture of a chain, and whether there is one."""
    stone = min(chain.stones)
    for number, game in enumerate(play_line(study.game, study.colour, line)):
        if game.stone_at(stone) != chain.colour:
            return line[:number], True
    return line, False


def capture_line(game: Game, chain: Chain) -> tuple[int, ...] | None:
    """Returns the moves that capture a chain whatever its owner plays, from a position; None if that is not proved.

    The line is the one of longest resistance that the solver found.
    """
    stone, enough = min(chain.stones), threading.Event()
    if game.stone_at(stone) != chain.colour:
        return ()

    def count(positions: int) -> None:
        if positions > _POSITIONS:
            enough.set()

    try:
        solution = solve(game, [stone], first=game.to_move, seconds=_SECONDS, stop=enough, report=count)
    except UserError:  # too large
        return None
    answer = solution.answers[game.to_move]
    return answer.line if answer.outcome is Outcome.DIES else None
