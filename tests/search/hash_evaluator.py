"""An evaluator of made-up but fixed opinions: what it says of a position follows from the stones' hash and who is to
move, so that a slow reference search can ask for the same."""

import numpy as np

from gtp_engine.evaluate.interface import Outputs


def opinion(stones_hash: int, to_move: int, area: int) -> tuple[np.ndarray, float, float]:
    """Policy float32 [area+1] (illegal moves included), win minus loss, and score, for the side to move."""
    random = np.random.default_rng([stones_hash, to_move])
    policy = random.dirichlet(np.full(area + 1, 0.5)).astype(np.float32)
    return policy, float(np.float32(random.uniform(-1, 1))), float(np.float32(random.normal(0, 5)))


class HashEvaluator:
    """Implements `evaluate.interface.Evaluator`."""

    name = "hash"
    overlap = 1
    largest_board = 25
    plays_out = False
    reads_ladders = False
    takes_profile = False

    def __init__(self, batch_size: int = 1) -> None:
        self.batch_size = batch_size

    def submit(self, boards, indices, symmetries=None, *, ownership=False, optimism=0.0, profile=""):  # type: ignore[no-untyped-def]
        first = boards[indices[0]]
        area = int(first["width"]) * int(first["height"])
        opinions = [opinion(int(boards["hash"][i]), int(boards["to_move"][i]), area) for i in indices]
        policy = np.stack([policy for policy, _, _ in opinions])
        value = np.array([((1 + win) / 2, (1 - win) / 2, 0) for _, win, _ in opinions], np.float32)
        score = np.array([score for _, _, score in opinions], np.float32)
        # Black owns the first point, white the second, whoever is to move.
        signs = np.where(boards["to_move"][indices] == 1, 1, -1)[:, None]
        owned = np.zeros((len(indices), area), np.float32)
        owned[:, :1], owned[:, 1:2] = signs, -signs
        return Outputs(policy, value, score, score, np.zeros(len(indices), np.float32), owned if ownership else None)

    def collect(self, ticket):  # type: ignore[no-untyped-def]
        return ticket

    def clear_cache(self) -> None:
        pass

    def close(self) -> None:
        pass
