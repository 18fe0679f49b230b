"""What each part of the search is worth: Elo with it against without it, at equal visits.

    python benchmarks/search_table.py g170-b6c96 auto [--visits 100] [--board-size 9] [--games 4000]
                                      [--only value_bias noise_pruning] [--minutes 60] [--show]

A part is a parameter of the search, and a row of the table a match of the network's usual parameters against the same
ones with the part turned off, or, for what is off by default, turned on. Parts whose input a network does not give
(errors, an optimistic policy) are left out for it. The matches are played in blocks of 40 games, Chinese rules, random
openings, either player with Black; the row with the fewest games is always the next. After each block its result is
appended to benchmarks/search_table.jsonl with the fingerprint of the code that played, so that the same command resumes
at any time, on any machine, and the file can be committed. `--show` prints the table without playing.
"""

import argparse
import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from kept_results import fingerprint, whole_lines

from gtp_engine.arena.elo import Tally, elo_difference, elo_interval
from gtp_engine.arena.network_match import NetworkPlayer, play_networks
from gtp_engine.nets.library import find_network, load_network, network_name
from gtp_engine.search.evaluate.choices import network_on
from gtp_engine.search.parameters import default_parameters

RESULTS = Path(__file__).resolve().parent / "search_table.jsonl"
BLOCK = 40
# The value of each parameter that the usual ones are compared with: what turns the part off, or, marked so, on.
PARTS: dict[str, tuple[str, float | str | bool]] = {
    "lower confidence bound": ("choice", "visits"),
    "dynamic c_puct by visits": ("c_puct_log", 0.0),
    "dynamic c_puct by spread": ("c_puct_spread", 0.0),
    "first-play reduction": ("fpu_reduction", 0.0),
    "first-play urgency by visited policy": ("fpu_visited_power", 0.0),
    "score in the utility": ("score_utility", 0.0),
    "dynamic score in the utility": ("dynamic_score_utility", 0.0),
    "better children weigh more": ("better_children", 0.0),
    "noise pruning": ("noise_pruning", 0.0),
    "value bias": ("value_bias", 0.0),
    "uncertainty weighting": ("uncertainty", 0.0),
    "optimistic policy": ("policy_optimism", 0.0),
    "random symmetries": ("symmetry", "none"),
    "average of eight symmetries (on)": ("symmetry", "average"),
    "reuse of the tree": ("reuse_tree", False),
    "root symmetry pruning": ("root_symmetry_pruning", False),
    "graph search": ("graph_search", False),
    "Gumbel root with 16 moves (on)": ("gumbel_moves", 16),
}
ON = " (on)"


@dataclass(frozen=True)
class Row:
    """One match of the table: where it is played, and the part that is compared."""

    network: str
    size: int
    visits: int
    part: str

    def play(self, block: int) -> dict[str, Any]:
        """Plays the block of this number; returns its line of the file, with the result of the side with the part."""
        network = network_on(self.network, self.size, self.size)
        usual = default_parameters(network)
        changed = usual.with_value(*PARTS[self.part])
        pair = (changed, usual) if self.part.endswith(ON) else (usual, changed)
        players = [NetworkPlayer(network, parameters) for parameters in pair]
        settings: dict[str, Any] = {"games": BLOCK, "concurrency": BLOCK, "width": self.size, "visits": self.visits}
        tally = play_networks(*players, seed=block, **settings).tally
        result = {"won": tally.wins, "drawn": tally.draws, "lost": tally.losses, "pairs": tally.pairs}
        return vars(self) | {"network": network_name(Path(network)), "block": block, "code": fingerprint()} | result


def parts_of(network: str, size: int) -> list[str]:
    """Returns the parts that a network has inputs for."""
    config = load_network(find_network(network_on(network, size, size))).config
    missing = {"uncertainty": not config.has_errors, "policy_optimism": not config.has_optimism}
    return [part for part, (name, _) in PARTS.items() if not missing.get(name, False)]


def kept() -> dict[Row, list[dict[str, Any]]]:
    """Returns the blocks that were played, by row."""
    found: dict[Row, list[dict[str, Any]]] = {}
    for line in whole_lines(RESULTS):
        block = json.loads(line)
        row = Row(*(block[name] for name in ("network", "size", "visits", "part")))
        found.setdefault(row, []).append(block)
    return found


def show(blocks: dict[Row, list[dict[str, Any]]]) -> None:
    """Prints the table, the rows of a network, board and number of visits by their Elo."""
    print(f"{'network':22} {'board':>5} {'visits':>6}  {'part':38} {'games':>6}  Elo with it (95 % interval)")

    def tally_of(row: Row) -> Tally:
        counts: Counter[str] = Counter()
        for block in blocks[row]:
            counts.update({name: block[name] for name in ("won", "drawn", "lost")})
        pairs = np.sum([block["pairs"] for block in blocks[row]], axis=0).tolist()
        return Tally(counts["won"], counts["drawn"], counts["lost"], tuple(pairs))

    tallies = {row: tally_of(row) for row in blocks}
    order = sorted(tallies, key=lambda row: (row.network, row.size, row.visits, -tallies[row].score))
    for row in order:
        tally = tallies[row]
        low, high = elo_interval(tally)
        elo = f"{elo_difference(tally.score):+.0f} ({low:+.0f} to {high:+.0f})"
        print(f"{row.network:22} {row.size:5} {row.visits:6}  {row.part:38} {tally.games:6}  {elo}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=["auto"], help="files or names (default: auto)")
    parser.add_argument("--visits", type=int, default=100, help="default: 100")
    parser.add_argument("--board-size", type=int, default=9, help="default: 9")
    parser.add_argument("--games", type=int, default=4000, help="of each row (default: 4000)")
    parser.add_argument("--only", nargs="+", choices=[name for name, _ in PARTS.values()], help="these parameters")
    parser.add_argument("--minutes", type=float, help="stop after the block that is under way then")
    parser.add_argument("--show", action="store_true", help="print the table without playing")
    options = parser.parse_args()
    if options.show:
        show(kept())
        return
    wanted = {
        Row(network_name(Path(network_on(network, options.board_size, options.board_size))), *where): network
        for network in options.networks
        for where in (
            (options.board_size, options.visits, part)
            for part in parts_of(network, options.board_size)
            if options.only is None or PARTS[part][0] in options.only
        )
    }
    end = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
    while time.monotonic() < end:
        blocks = kept()
        row = min(wanted, key=lambda row: len(blocks.get(row, ())))
        done = len(blocks.get(row, ()))
        if done * BLOCK >= options.games:
            break
        result = Row(wanted[row], row.size, row.visits, row.part).play(done)
        with RESULTS.open("a") as file:
            file.write(json.dumps(result) + "\n")
        print(f"{row.network} {row.part}: {result['won']}-{result['lost']}-{result['drawn']}", flush=True)
    show(kept())


if __name__ == "__main__":
    main()
