"""What the games of ranks come to, as text for `weights/ranks.toml` and benchmarks/ranks.md."""

import itertools
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rank_curve import ELO_PER_RANK, Curve, Scale
from rank_games import PROGRAMS

from gtp_engine.arena.elo import Z95, Tally, elo_difference, elo_interval
from gtp_engine.engine.ranks import RANKS, Rank, Strength

_WIDTH = 130  # of lines of benchmarks/ranks.md
HALF_WIDTH = 30.0  # Elo by which the distance of neighbours may be off


@dataclass(frozen=True)
class Calibrated:
    """What the games on one board have come to.

    Attributes:
        network: The network's name.
        size: The board's size.
        games: The number of games that make the curve.
        curve: The curve that fits them.
        scale: The scale of ranks on it.
        programs: The rank of each program that has played, and its number of games.
        checks: What verified the table by the games before: the kind of pairs, by how many ranks one player should be
            stronger, and the results.
    """

    network: str
    size: int
    games: int
    curve: Curve
    scale: Scale
    programs: Mapping[float, tuple[Rank, int]]
    checks: Sequence[tuple[str, int, Sequence[Tally]]]

    @property
    def strengths(self) -> dict[Rank, float]:
        """The strength of each rank that the path reaches."""
        return strengths_of(self.curve, self.scale)


def strengths_of(curve: Curve, scale: Scale) -> dict[Rank, float]:
    """Returns the strength of each rank that the path reaches."""
    reached = [rank for rank in RANKS if 0 < scale.elo(rank) <= curve.elos[-1]]
    return {rank: round(curve.strength_at(scale.elo(rank)), 4) for rank in reached}


def half_widths(curve: Curve, strengths: Mapping[Rank, float]) -> dict[tuple[Rank, Rank], float]:
    """Returns half of the 95 % interval of the difference between neighbouring ranks, in Elo."""
    return {
        (one, other): Z95 * curve.difference(strengths[other], strengths[one])[1]
        for one, other in itertools.pairwise(strengths)
    }


def in_words(tally: Tally) -> str:
    """Returns the score and the Elo difference, with its interval."""
    low, high = elo_interval(tally)
    return f"{tally.games} games, {tally.score:.1%}, Elo {elo_difference(tally.score):+.0f} ({low:+.0f} to {high:+.0f})"


def toml_section(network: str, size: int, strengths: Mapping[Rank, float], measured: str = "") -> str:
    """Returns the section of a board in ranks.toml."""
    name = network if re.fullmatch(r"[A-Za-z0-9_-]+", network) else f'"{network}"'
    lines = [f"[{name}.{size}x{size}]", f'measured = "{measured}"']
    return "\n".join([*lines, *(f"{rank} = {strength:g}" for rank, strength in strengths.items()), ""])


def toml(boards: Sequence[Calibrated]) -> str:
    """Returns what ranks.toml tells of a network."""
    sections = []
    for board in boards:
        by = [f"{rank} by {games} against {PROGRAMS[one]}" for one, (rank, games) in board.programs.items()]
        measured = f"{board.games} games; {', '.join(by)}"
        sections.append(toml_section(board.network, board.size, board.strengths, measured))
    return "\n".join(sections)


def markdown(boards: Sequence[Calibrated]) -> str:
    """Returns what benchmarks/ranks.md tells of a network: where the scale lies, the ranks, and what verified them."""
    texts = [f"**{board.size}x{board.size}**, {board.games} games. {scale_text(board)}" for board in boards]
    columns = [f" strength on {board.size}x{board.size} | visits | ±" for board in boards]
    rows = ["| rank |" + " |".join(columns) + " |", "|---" * (1 + 3 * len(boards)) + "|"]
    reached = [rank for rank in RANKS if any(rank in board.strengths for board in boards)]
    cells = [_cells(board) for board in boards]
    rows += [f"| {rank} | " + " | ".join(one[rank] for one in cells) + " |" for rank in reached]
    checks = [
        f"{kind} on {board.size}x{board.size}: {_verified(board.scale.distance * ranks, tallies)}"
        for board in boards
        for kind, ranks, tallies in board.checks
        if any(tally.games for tally in tallies)
    ]
    return "\n\n".join([*_wrapped(texts), "\n".join(rows), *_wrapped(checks)]) + "\n"


def _wrapped(texts: Sequence[str]) -> list[str]:
    return [textwrap.fill(text, _WIDTH, break_on_hyphens=False) for text in texts]


def _verified(expected: float, tallies: Sequence[Tally]) -> str:
    """Returns the results of pairs whose expected distance is this number of Elo."""
    played = [tally for tally in tallies if tally.games]
    together = Tally(*(sum(getattr(tally, part) for tally in played) for part in ("wins", "draws", "losses")))
    right = sum(low <= expected <= high for low, high in map(elo_interval, played))
    near = sum(abs(elo_difference(tally.score) - expected) <= HALF_WIDTH for tally in played)
    return (
        f"{in_words(together)}. Of {len(played)} pairs {near} are within {HALF_WIDTH:.0f} Elo of {expected:.0f}, "
        f"and the intervals of {right} have it."
    )


def _cells(board: Calibrated) -> dict[Rank, str]:
    """Returns the cells of each rank: the strength, the visits, and how sure the step from the rank below is."""
    strengths = board.strengths
    widths = {other: f"{width:.0f}" for (_, other), width in half_widths(board.curve, strengths).items()}
    return {
        rank: f"{strengths[rank]:.3f} | {Strength(strengths[rank]).visits()} | {widths.get(rank, '')}"
        if rank in strengths
        else " | | "
        for rank in RANKS
    }


def scale_text(board: Calibrated) -> str:
    """Returns what fixes the scale, where each program lands on it, and the distance of neighbours."""
    curve, scale = board.curve, board.scale
    if scale.by_pins is None:
        (one, (rank, games)), *_ = board.programs.items()
        error = Z95 * curve.difference(one, curve.strength_at(curve.elo(one)))[1]
        return (
            f"{PROGRAMS[one]} alone fixes the scale: it is {rank} by {games} games, within {error:.0f} Elo. "
            f"Neighbouring ranks are {scale.distance:.0f} Elo apart in games between players with this network."
        )
    distance, error = scale.by_pins[0], Z95 * scale.by_pins[1]
    fits = abs(distance - ELO_PER_RANK) - HALF_WIDTH <= error
    lands = " and ".join(
        f"{PROGRAMS[one]} at {scale.above(curve.elo(one), rank):+.1f} ranks from {rank} ({games} games)"
        for one, (rank, games) in board.programs.items()
    )
    return (
        f"The two programs would come out at their ranks if neighbours were {distance:.0f} Elo apart "
        f"({distance - error:.0f} to {distance + error:.0f}) in games between players with this network: that "
        f"{'agrees' if fits else 'disagrees'} with {ELO_PER_RANK:.0f} ± {HALF_WIDTH:.0f}. "
        f"They are {scale.distance:.0f} apart, which puts {lands}."
    )
