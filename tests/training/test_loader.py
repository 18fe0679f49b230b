"""The order of samples: each once an epoch, the same for the same seed, wherever it is taken up."""

import pickle
from itertools import islice

import numpy as np
import pytest
import torch
from making import random_game, sample_game

from gtp_engine.training.data.loader import Loader, Samples, Tensors, draws, fixed_batches
from gtp_engine.training.data.samples import pack


@pytest.mark.parametrize("total", [1, 2, 17, 100])
def test_each_epoch_has_each_sample_once_in_an_order_of_its_own(total: int) -> None:
    numbers, symmetries = (np.concatenate(parts) for parts in zip(*islice(draws(total, 7, seed=5), total), strict=True))
    epochs = numbers.reshape(7, total)
    assert np.all(np.sort(epochs) == np.arange(total))
    if total > 10:
        assert len({epoch.tobytes() for epoch in epochs}) == 7
        assert set(symmetries.tolist()) == set(range(8))


def test_draws_go_on_where_others_were_and_depend_on_the_seed() -> None:
    first = list(islice(draws(100, 16, seed=5), 20))
    for before in (3, 9):
        later = islice(draws(100, 16, seed=5, drawn=16 * before), 5)
        np.testing.assert_array_equal(list(later), first[before : before + 5])
    assert not np.array_equal(next(draws(100, 16, seed=6))[0], first[0][0])


def same(a: Tensors, b: Tensors) -> bool:
    return a.full_board == b.full_board and all(torch.equal(*pair) for pair in zip(a[:-1], b[:-1], strict=True))


def test_a_loader_goes_on_where_another_was() -> None:
    samples = Samples(pack([sample_game(random_game(seed, 5, moves=20)) for seed in range(5)]))
    first = Loader(samples, 16, seed=3, threads=3)
    batches = [next(first) for _ in range(9)]
    second = Loader(samples, 16, seed=3, drawn=4 * 16)
    assert all(same(next(second), batch) for batch in batches[4:])
    assert first.drawn == second.drawn == 9 * 16
    first.close()
    second.close()


def test_samples_travel_to_another_process() -> None:
    games = [sample_game(random_game(seed, 5 + seed, moves=20), weights=np.ones(20)) for seed in range(3)]
    samples = Samples(pack(games), searched_share=0.25)
    there = pickle.loads(pickle.dumps(samples))
    assert all(same(*pair) for pair in zip(*(fixed_batches(each, 30, 1) for each in (there, samples)), strict=True))


def test_no_samples_are_an_error() -> None:
    games = pack([sample_game(random_game(0, 5, moves=5), weights=np.zeros(5))])
    with pytest.raises(ValueError, match="no sample"):
        Loader(Samples(games), 8, seed=0)
