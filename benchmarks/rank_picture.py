"""Draws what `rank_ladder.py` has measured, for docs/ranks.md.

The upper graphs are the curves of Elo over strength that fit the games, in ranks, for the networks that ranks.toml has
a table for; the lower one shows how far apart neighbouring ranks of the tables are by them, with 95 % intervals.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from rank_curve import Curve
from rank_games import GNUGO
from rank_ladder import ELO_PER_RANK, GNUGO_RANK, NORMAL, Ladder, curve_of, fitted, shipped

from gtp_engine.network.library import bundled_folder
from gtp_engine.play.ranks import RANKS, RANKS_FILE, Rank, read_ranks

LOW, HIGH = 70, 130  # Elo between neighbours, as docs/ranks.md wants it
COLOURS = ("#2f6fb0", "#c2571a", "#3c8d57")
LOOK: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "ranks"}


def ladders() -> list[Ladder]:
    """Returns the ladders of the tables in ranks.toml, smallest board first."""
    tables = read_ranks(bundled_folder() / RANKS_FILE)
    boards = sorted((size, network) for network, sizes in tables.items() for size in sizes)
    return [Ladder(network, size, 1) for size, network in boards]


def draw_curve(policy: Any, searches: Any, ladder: Ladder, curve: Curve, colour: str) -> None:
    """Draws a curve: below a strength of 1 by strength, above by visits."""
    assert curve.anchor is not None
    played = [strength for game in fitted(ladder) for strength in (game.black, game.white) if strength != GNUGO]
    known = (min(played) <= curve.strengths) & (curve.strengths <= np.ceil(max(played)))
    ranks = GNUGO_RANK.number + (curve.elos - curve.anchor) / ELO_PER_RANK
    label = f"{ladder.size}x{ladder.size}, {ladder.name}"
    for axes, part, across in (
        (policy, curve.strengths <= 1, curve.strengths),
        (searches, curve.strengths >= 1, 2 ** (curve.strengths - 1)),
    ):
        shown = part & known
        axes.plot(across[shown], ranks[shown], "o-", color=colour, markersize=3, linewidth=1.2, label=label)


def draw_neighbours(axes: Any, ladder: Ladder, curve: Curve, colour: str, offset: float) -> None:
    """Draws the difference of each rank of the table from the rank below."""
    strengths = shipped(ladder)
    for rank, strength in strengths.items():
        below = strengths.get(Rank(rank.number - 1))
        if below is None:
            continue
        middle, error = curve.difference(strength, below)
        axes.errorbar(
            rank.number + offset, middle, yerr=NORMAL * error, fmt="o", color=colour, markersize=3, linewidth=1
        )


def name_ranks(axis: Any, every: int) -> None:
    """Names the ranks on an axis."""
    ranks = [rank for rank in RANKS if rank.kyu % every == 0 and (rank.kyu or rank.number % 2)]
    axis.set_ticks([rank.number for rank in ranks], [str(rank) for rank in ranks])


def draw(found: Sequence[Ladder], path: Path) -> None:
    """Draws the picture of some ladders."""
    with matplotlib.rc_context(LOOK):
        figure = Figure(figsize=(9, 7.5), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(3, 2))
        upper, lower = parts
        policy, searches = upper.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        neighbours = lower.subplots()
        curves = [(ladder, curve_of(ladder)) for ladder in found]
        measured = [(ladder, curve) for ladder, curve in curves if curve.anchor is not None]
        for number, (ladder, curve) in enumerate(measured):
            colour, offset = COLOURS[number % len(COLOURS)], 0.22 * (number - (len(measured) - 1) / 2)
            draw_curve(policy, searches, ladder, curve, colour)
            draw_neighbours(neighbours, ladder, curve, colour, offset)
        policy.set(xlabel="strength: the policy, ever less blurred", ylabel="rank", xlim=(0, 1))
        searches.set(xlabel="visits of a search", xscale="log")
        visits = [4**number for number in range(6)]
        searches.set_xticks(visits, list(map(str, visits)))
        searches.minorticks_off()
        name_ranks(policy.yaxis, 5)
        policy.axhline(GNUGO_RANK.number, color="#888", linewidth=0.8, linestyle=":")
        policy.annotate("GNU Go", (0.02, GNUGO_RANK.number + 0.3), color="#666")
        policy.set_ylim(RANKS[0].number - 3, RANKS[-1].number + 1)
        policy.legend(loc="lower right", frameon=False)
        for axes in (policy, searches):
            axes.grid(color="#ddd", linewidth=0.6)
        neighbours.axhspan(LOW, HIGH, color="#e8e8e8", zorder=0)
        neighbours.axhline(ELO_PER_RANK, color="#888", linewidth=0.8)
        neighbours.set(xlabel="rank", ylabel="Elo above the rank below", xlim=(RANKS[0].number, RANKS[-1].number + 1))
        name_ranks(neighbours.xaxis, 1)
        neighbours.tick_params(axis="x", labelsize=7)
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="the picture to write, as .svg")
    options = parser.parse_args()
    found = ladders()
    draw(found, options.path)
    for ladder in found:
        ladder.close()


if __name__ == "__main__":
    main()
