"""How far networks are from a teacher on the labels that are held back, board size by board size.

Policy: Kullback-Leibler divergence in nats. Win rate (0 to 1), lead (points) and ownership (-1 to 1, a mean over
the points): means of absolute differences. The slope tells by how many points the teacher's lead grows with each point
of the network's, by least squares: 1 is right, above 1 the network underrates leads. Compare networks on the same
labels only.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gtp_engine.nets.config import NetworkConfig
from gtp_engine.nets.library import find_network, load_network
from gtp_engine.nets.model import Model
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.training.data import rows
from gtp_engine.training.data.game_records import is_held
from gtp_engine.training.data.loader import VALIDATION_SEED, Samples, Tensors, fixed_batches
from gtp_engine.training.data.samples import GameSet
from gtp_engine.training.distillation.labels import read_labels
from gtp_engine.training.learner import Learner
from gtp_engine.training.losses import Loss, distances
from gtp_engine.training.run_settings import LearnSettings

COLUMNS = ("off_policy", "off_winrate", "off_lead", "slope", "off_ownership")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, help="folder of labels")
    parser.add_argument("networks", nargs="+", help="files or names")
    parser.add_argument("--positions", type=int, default=4096, help="of each size (default: 4096)")
    parser.add_argument("--threads", type=int, default=1, help="default: 1")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    labels = read_labels(options.labels, print)
    labels = labels.choose(is_held(labels.games["number"]))
    sides = np.maximum(labels.games["width"], labels.games["height"])
    for name in options.networks:
        path = find_network(name)
        learner = Learner(Model.from_stored(load_network(path)), LearnSettings(precision="float32"))
        print(
            f"{path.name}\n{'board':>8}{'positions':>11}"
            + "".join(f"{column.removeprefix('off_'):>11}" for column in COLUMNS)
        )
        for side in np.unique(sides).tolist():
            print(f"{side:>8}" + measured(learner, labels.choose(sides == side), options.positions), flush=True)


def measured(learner: Learner, labels: GameSet, most: int) -> str:
    """Returns the number of positions, the four distances, and the slope of the lead."""
    model = learner.model.eval()
    samples = Samples(labels, suicide_areas=model.config.suicide_areas)
    found = learner.evaluate(model, fixed_batches(samples, most, VALIDATION_SEED), distances_and_leads)
    found["slope"] = (found["xy"] - found["x"] * found["y"]) / (found["xx"] - found["x"] ** 2)
    return f"{min(most, len(samples)):>11,}" + "".join(f"{found[column]:>11.3f}" for column in COLUMNS)


def distances_and_leads(raw: RawOutputs[Tensor], batch: Tensors, config: NetworkConfig) -> dict[str, Loss]:
    """Returns the distances, and what their means need for the slope: x is the network's lead, y the teacher's."""
    x, y = raw.scores[:, 2].float() * config.multipliers.lead, batch.lead
    leads = {"x": x, "y": y, "xx": x * x, "xy": x * y}
    weight = batch.weights[:, rows.LEAD]
    return distances(raw, batch, config) | {name: Loss(values, weight) for name, values in leads.items()}


if __name__ == "__main__":
    main()
