"""From what a network says of turned boards to evaluations in move-index order.

Softmax and tanh are made in the same pass, for the search's batches; `network.outputs` says all of it, by torch.
"""

import math

import numpy as np

from ..compiled import njit

NUMBERS = 9  # win, loss, no result; lead, score mean, score stdev; the three of `Outputs.outlook`


@njit
def write_answers(
    said: np.ndarray, rows: np.ndarray, legal: np.ndarray, turns: np.ndarray, turned: np.ndarray, out: np.ndarray
) -> None:
    """Evaluations of the positions `rows` into `out`: policy [area + 1], NUMBERS, ownership [area], float32.

    said: the same of their boards turned, but logits in place of probabilities and of ownership. legal: bool
    [positions, area + 1]; turns: symmetries [positions]; turned: `symmetry.turned_indices` of the eight.
    """
    moves = turned.shape[1]
    for number in range(len(rows)):
        position = rows[number]
        allowed, places = legal[position], turned[turns[position]]
        given, made = said[number], out[number]
        highest = -np.inf
        for move in range(moves):
            if allowed[move]:
                highest = max(highest, given[places[move]])
        total = 0.0
        for move in range(moves):
            value = math.exp(given[places[move]] - highest) if allowed[move] else 0.0
            total += value
            made[move] = value
        for move in range(moves):
            made[move] /= total
        made[moves : moves + NUMBERS] = given[moves : moves + NUMBERS]
        owners = moves + NUMBERS
        for point in range(moves - 1):
            made[owners + point] = math.tanh(given[owners + places[point]])
