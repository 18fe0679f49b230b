"""Stones that are captured in one line and not in the other, or that are left in atari."""

from collections.abc import Iterator

from ...game.coords import opponent
from .facts import AtariMissed, Captured
from .variation import Study, Variation, chains_of

# How much more the captor owns the captured stones' points in the line that captures them, in ownership (-1 to 1):
# without it sacrifices and exchanges, which change nothing, would count as losses. Below it a stronger network refuted
# most captures of single stones.
LEAST_CAPTURE_CHANGE = 0.8


def find_captures(study: Study) -> Iterator[Captured]:
    """Yields the opponent's stones that only the better line takes, and the player's that only the other takes."""
    taken = _captured(study.better, opponent(study.colour)), _captured(study.played, opponent(study.colour))
    yield from _difference(study, *taken, is_played=False)
    lost = _captured(study.played, study.colour), _captured(study.better, study.colour)
    yield from _difference(study, *lost, is_played=True)


def _captured(variation: Variation, colour: int) -> dict[int, int]:
    """Returns the stones of a colour, of those on the board at first, that a line takes: the move's number by point."""
    found: dict[int, int] = {}
    before = variation.games[0]
    for number, points in enumerate(variation.removals(), start=1):
        for point in points:
            if before.stone_at(point) == colour:
                found.setdefault(point, number)
    return found


def _difference(study: Study, taken: dict[int, int], also: dict[int, int], *, is_played: bool) -> Iterator[Captured]:
    stones = frozenset(taken) - frozenset(also)
    if not stones:
        return
    if study.better.owned(stones) - study.played.owned(stones) < LEAST_CAPTURE_CHANGE:
        return
    captor = opponent(study.colour) if is_played else study.colour
    number = max(taken[point] for point in stones)
    variation = study.played if is_played else study.better
    yield Captured(variation.line[:number], stones, captor, number, is_played)


def find_missed_atari(study: Study) -> Iterator[AtariMissed]:
    """Yields the player's chains in atari that the opponent takes right after the move, but not after the better."""
    if len(study.played.line) < 2:
        return
    taken = study.played.removals()[1]
    saved = chains_of(study.better.games[1])
    for chain in chains_of(study.game):
        if chain.colour != study.colour or len(chain.liberties) != 1 or not chain.stones <= taken:
            continue
        is_saved = any(chain.stones <= other.stones and len(other.liberties) > 1 for other in saved)
        if is_saved and study.better.owned(chain.stones) - study.played.owned(chain.stones) >= LEAST_CAPTURE_CHANGE:
            yield AtariMissed(study.played.line[:2], chain.stones)
