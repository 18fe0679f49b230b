"""The order of samples: each once an epoch, the same for the same seed, wherever it is taken up."""

import io

import numpy as np
import pytest
import torch
from making import random_game, sample_game

from gtp_engine.network.config import parse_config
from gtp_engine.network.model import Model
from gtp_engine.training.data.loader import Loader, Samples, Tensors, drawn_samples, shuffled
from gtp_engine.training.data.samples import pack
from gtp_engine.training.follower import _Task
from gtp_engine.training.learner import Learner
from gtp_engine.training.settings import LearnerSettings, LossWeights


@pytest.mark.parametrize("total", [1, 2, 3, 17, 64, 1000])
def test_an_epoch_has_each_sample_once(total: int) -> None:
    places = np.arange(total, dtype=np.uint64)
    orders = [shuffled(places, total, seed) for seed in range(3)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(total))
    if total > 10:
        assert not np.array_equal(orders[0], orders[1])
        assert abs(np.corrcoef(places.astype(float), orders[0])[0, 1]) < 0.8


def test_draws_go_on_from_epoch_to_epoch() -> None:
    numbers, symmetries = drawn_samples(0, 300, 100, seed=5)
    for epoch in range(3):
        assert sorted(numbers[100 * epoch : 100 * epoch + 100].tolist()) == list(range(100))
    assert not np.array_equal(numbers[:100], numbers[100:200])
    assert set(symmetries.tolist()) == set(range(8))
    later = drawn_samples(130, 20, 100, seed=5)
    np.testing.assert_array_equal(later[0], numbers[130:150])
    np.testing.assert_array_equal(later[1], symmetries[130:150])


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


def test_a_task_of_training_processes_travels_as_tensors_and_plain_data() -> None:
    games = [sample_game(random_game(seed, 5 + seed, moves=20), weights=np.ones(20)) for seed in range(3)]
    samples = Samples(pack(games), searched_share=0.25)
    model = Model(parse_config("b1c8")).initialise()
    learner = Learner(model, LearnerSettings(losses=LossWeights(value=0.5)))
    task = _Task("cpu", model.config, learner.settings, learner.state(), samples, 8, 1, 16, 2)
    file = io.BytesIO()
    torch.save(task.to_data(), file)
    file.seek(0)
    there = _Task.from_data(torch.load(file, weights_only=True))
    assert (there.config, there.settings, there.drawn) == (task.config, task.settings, 16)
    numbers, symmetries = drawn_samples(0, 30, len(samples), 1)
    assert same(there.samples.batch(numbers, symmetries), samples.batch(numbers, symmetries))
    assert there.samples.games.sources == samples.games.sources
    learner.load_state(there.state)


def test_no_samples_are_an_error() -> None:
    games = pack([sample_game(random_game(0, 5, moves=5), weights=np.zeros(5))])
    with pytest.raises(ValueError, match="no sample"):
        Loader(Samples(games), 8, seed=0)
