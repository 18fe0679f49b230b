"""How well a network predicts game records, for its card: those that `gtp_engine learn` holds back to validate with.

    python benchmarks/record_accuracy.py NETWORK GAMES... [--samples 20000]

One game in 20 is held back, the same ones in every run, whatever else was learned from. Top 1 and top 5: how often the
move played is the network's first, or among its first five, over random positions, each under a random symmetry.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from gtp_engine.network.library import find_network, load_network
from gtp_engine.network.model import Model
from gtp_engine.training.data.game_records import Filters
from gtp_engine.training.data.loader import Samples, fixed_batches
from gtp_engine.training.data.sgf_dataset import read_sgf_dataset
from gtp_engine.training.learner import Learner, LearnerSettings
from gtp_engine.training.validation import VALIDATION_SEED, is_held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", help="a file or a name")
    parser.add_argument("games", nargs="+", type=Path, help="SGF files, folders, zips, .sgfs")
    parser.add_argument("--samples", type=int, default=20_000, help="positions (default: 20000)")
    options = parser.parse_args()
    model = Model.from_stored(load_network(find_network(options.network)))
    with TemporaryDirectory() as folder:
        found = read_sgf_dataset(options.games, Path(folder), Filters(), on_error=print, on_progress=show)
    held = found.games.choose(is_held(found.games.games["number"]))
    samples = Samples(held, suicide_areas=model.config.suicide_areas)
    print(f"\n{found.games.game_count:,} games, {held.game_count:,} held back with {len(samples):,} positions")
    batches = fixed_batches(samples, options.samples, VALIDATION_SEED)
    with torch.inference_mode():
        means = Learner(model, LearnerSettings()).evaluate(model.eval(), batches)
    print(f"{min(options.samples, len(samples)):,} positions: " + ", ".join(f"{k} {v:.4f}" for k, v in means.items()))


def show(done: int, portions: int, games: int) -> bool:
    """Logs how far the reading has got; always continues."""
    print(f"\rreading games: {done} of {portions} portions, {games:,} games", end="", flush=True)
    return True


if __name__ == "__main__":
    main()
