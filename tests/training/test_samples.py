"""Samples on their way to a batch: rows, the order in which they are drawn, and shards.

Inputs are as the search sees them, and targets from the mover's view.
"""

import pickle
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from making import random_game, sample_game

from gtp_engine.base.errors import UserError
from gtp_engine.go import symmetry as symmetries
from gtp_engine.go.coords import BLACK, PASS, WHITE, point_at
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.go.sgf import read_sgf
from gtp_engine.nets.constants import PLANES, SCALARS
from gtp_engine.search.evaluate.features import new_workspace, position_of, write_inputs
from gtp_engine.training.data import rows as columns_
from gtp_engine.training.data.loader import Loader, Samples, Tensors, draws, fixed_batches
from gtp_engine.training.data.rows import ILLEGAL_SETUP, LEGAL, OPPONENT, find_illegal
from gtp_engine.training.data.rows import new_workspace as new_replay_workspace
from gtp_engine.training.data.samples import (
    COLUMNS,
    DRAW,
    NO_RESULT,
    UNKNOWN,
    GameSet,
    SampleGame,
    game_set,
    join,
    pack,
)
from gtp_engine.training.data.shards import ShardError, read_notes, read_shard, write_shard


def batch_of(games: GameSet, symmetry: int = 0, **options: float) -> Tensors:
    samples = Samples(games, **options)
    return samples.batch(np.arange(len(samples)), np.full(len(samples), symmetry))


def test_records_become_samples_or_are_named() -> None:
    record = read_sgf(b"(;SZ[5]KM[0.5]RE[W+R];B[cc];W[bb])", name="a.sgf")
    batch = Samples.from_records([record]).batch([1, 0])
    assert batch.value.tolist() == [[1, 0, 0], [0, 1, 0]]  # White moves, and has won; then Black
    assert batch.policy.argmax(1).tolist() == [6, 12]
    for text, error in ((b"(;SZ[5])", "a.sgf: too few moves"), (b"(;SZ[5];B[cc];W[cc])", "a.sgf: move 2 is illegal")):
        with pytest.raises(UserError, match=error):
            Samples.from_records([record, read_sgf(text, name="a.sgf")])
    for wrong in (record, []):
        with pytest.raises(UserError, match="invalid records"):
            Samples.from_records(wrong)


@pytest.mark.parametrize("winner", [BLACK, WHITE, DRAW, NO_RESULT])
def test_values_at_three_horizons_are_those_of_a_slow_definition(winner: int) -> None:
    """Exponentially falling weights of what the searches found from a position on; the result has all that is left."""
    width, height = 7, 4
    game = random_game(1, width, height, moves=23)
    values = np.random.default_rng(2).uniform(-1, 1, (23, 2))
    batch = batch_of(pack([sample_game(game, winner=winner, values=values)]))
    outcomes = {BLACK: (1, 0, 0), WHITE: (0, 1, 0), DRAW: (0.5, 0.5, 0), NO_RESULT: (0, 0, 1)}
    of_black = [
        np.array([1 + value, 1 - value, 0] if move.colour == BLACK else [1 - value, 1 + value, 0]) / 2
        for move, value in zip(game.moves, values[:, 0], strict=True)
    ]
    of_black.append(np.array(outcomes[winner]))
    for position, move in enumerate(game.moves):
        for horizon, scale in enumerate((0.176, 0.056, 0.016)):  # of KataGo's `addRow` in trainingwrite.cpp
            share = 1 / (1 + scale * width * height)
            expected = of_black[-1]
            for found in reversed(of_black[position:-1]):
                expected = share * found + (1 - share) * expected
            mover = expected if move.colour == BLACK else expected[[1, 0, 2]]
            np.testing.assert_allclose(batch.td_value[position, horizon], mover, atol=1e-3)  # half precision
    assert (batch.weights[:, columns_.TD_VALUE] == 1).all()


def test_without_searches_nothing_is_known_of_values_at_horizons() -> None:
    game = random_game(1, 5, moves=6)
    values, gaps = np.zeros((6, 2)), np.zeros((6, 2))
    gaps[3] = np.nan
    games = sample_game(game, values=gaps), sample_game(game), sample_game(game, winner=UNKNOWN, values=values)
    batch = batch_of(pack(games))
    assert batch.weights[:, columns_.TD_VALUE].tolist() == [0, 0, 0, 0, 1, 1] + 12 * [0]
    assert bool(batch.td_value.isfinite().all())


def test_surprising_positions_are_samples_more_often() -> None:
    """Half of a game's samples are uniform; the other half is in proportion to surprise, whose mean is 0.4 / 3."""
    game = random_game(1, 5, moves=4)
    known = {"weights": np.array([1, 1, 0, 1]), "surprises": np.array([0, 0.1, 0, 0.3])}
    games = pack([sample_game(game, **known), sample_game(game)])
    # 0.5, 0.875 and 1.625 times: the sums 0.5, 1.375 and 3 are rounded.
    assert games.samples(0.5).tolist() == [0, 3, 3, 4, 5, 6, 7]
    assert games.samples().tolist() == [0, 1, 3, 4, 5, 6, 7]
    assert pack([sample_game(game)]).samples(0.5).tolist() == [0, 1, 2, 3]
    samples = pickle.loads(pickle.dumps(Samples(games, surprise_share=0.5)))
    assert samples.positions.tolist() == [0, 3, 3, 4, 5, 6, 7]
    assert samples.batch([1, 2]).weights[:, columns_.POLICY].tolist() == [1, 1]


def test_over_many_games_each_position_is_as_often_a_sample_as_its_surprise_asks() -> None:
    game, random = random_game(1, 5, moves=8), np.random.default_rng(3)
    surprises = random.exponential(0.2, (500, 8))
    weights = random.choice([0.25, 1.0], (500, 8))  # those of decided games count less in both halves
    games = pack([sample_game(game, weights=w, surprises=s) for w, s in zip(weights, surprises, strict=True)])
    counts = np.bincount(games.samples(0.5), minlength=4000).reshape(500, 8)
    means = (weights * surprises).sum(1) / weights.sum(1)
    expected = 0.5 + 0.5 * surprises / means[:, None]
    assert (np.abs(counts - expected) < 1 + 1e-2).all()
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 9)):
        chosen = (low <= surprises) & (surprises < high)
        assert counts[chosen].mean() == pytest.approx(expected[chosen].mean(), rel=0.05)
    assert (weights * counts).sum() == pytest.approx(weights.sum(), rel=0.03)


def inputs_on_the_way(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Planes [moves, height, width, 22] and scalars before each move, played once more through `Game`."""
    again = Game(game.width, game.height, rules=game.rules, komi=game.komi)
    planes = np.empty((len(game.moves), game.height, game.width, PLANES), np.uint8)
    scalars = np.empty((len(game.moves), SCALARS), np.float32)
    w = new_workspace()
    for number, move in enumerate(game.moves):
        again.to_move = move.colour
        write_inputs(position_of(again, w)[0], 0, False, w, planes[number], scalars[number])
        again.play(*move)
    return planes, scalars


def check_inputs(game: Game) -> None:
    """Checks that the inputs are those of the search."""
    planes, scalars = inputs_on_the_way(game)
    batch = batch_of(pack([sample_game(game)]))
    np.testing.assert_array_equal(batch.planes.permute(0, 2, 3, 1), planes)
    np.testing.assert_array_equal(batch.scalars, scalars)


@pytest.mark.parametrize("rules", ["tromp-taylor", "japanese", "chinese", "aga-button"])
@pytest.mark.parametrize(("width", "height"), [(5, 5), (7, 4)])
def test_inputs_are_those_of_the_search(rules: str, width: int, height: int) -> None:
    for seed in range(4):
        check_inputs(random_game(seed, width, height, moves=70, rules=rules))


def test_a_move_out_of_turn_begins_a_new_history() -> None:
    game = random_game(3, 5, moves=20)
    for _ in range(3):
        colour = 3 - game.to_move
        game.play(colour, next(p for p in range(7, 36) if game.is_legal(p, colour)))
    check_inputs(game)


def test_a_player_who_moves_twice_gives_no_reply() -> None:
    game = Game(9)
    for colour, vertex in ((BLACK, "C7"), (BLACK, "G3"), (WHITE, "C3"), (BLACK, "G7")):
        game.play(colour, vertex)
    batch = batch_of(pack([sample_game(game)]))
    assert batch.weights[:, OPPONENT].tolist() == [0, 1, 1, 0] and not batch.opponent[0].any()


def test_handicap_stones_and_their_bonus() -> None:
    game = Game(9, rules=RULESETS["chinese"], komi=0.5)
    game.place_handicap([point_at(2, 2, 9), point_at(6, 6, 9)])
    game.play(WHITE, point_at(4, 4, 9))
    batch = batch_of(pack([sample_game(game)]))
    assert batch.planes[0, 2].nonzero().tolist() == [[2, 2], [6, 6]]  # the opponent's
    assert batch.scalars[0, 5] == 2.5 / 20


@pytest.mark.parametrize("symmetry", range(8))
def test_everything_turns_together(symmetry: int) -> None:
    ownership = np.random.default_rng(1).integers(-1, 2, 49).astype(np.int8)
    games = pack([sample_game(random_game(7, 7, moves=30), ownership=ownership)])
    straight, turned = batch_of(games), batch_of(games, symmetry)

    def back(tensor: object) -> np.ndarray:
        inverse = {5: 6, 6: 5}.get(symmetry, symmetry)  # the two quarter turns are each other's
        return symmetries.apply(np.asarray(tensor).reshape(30, -1, 7, 7), inverse)

    np.testing.assert_array_equal(back(turned.planes), straight.planes)
    np.testing.assert_array_equal(turned.scalars, straight.scalars)
    for name in ("policy", "opponent"):
        row, other = getattr(straight, name), getattr(turned, name)
        np.testing.assert_array_equal(back(other[:, :-1]), row[:, :-1].reshape(30, 1, 7, 7))
        np.testing.assert_array_equal(other[:, -1], row[:, -1])
    np.testing.assert_array_equal(back(turned.ownership), straight.ownership.reshape(30, 1, 7, 7))


@pytest.mark.parametrize("symmetry", range(8))
def test_a_small_board_lies_alike_in_planes_and_targets(symmetry: int) -> None:
    games = pack(
        [sample_game(random_game(1, 5, moves=20), ownership=np.ones(25, np.int8)), sample_game(random_game(2))]
    )
    batch = batch_of(games, symmetry)
    assert not batch.full_board
    on_board = batch.planes[:20, 0].flatten(1)
    assert on_board.sum(1).tolist() == [25] * 20
    np.testing.assert_array_equal(batch.ownership[:20].abs(), on_board)
    assert (batch.policy[:20, :-1] * (1 - on_board)).sum() == 0
    before = batch.planes[:19, 1:3].sum(1).flatten(1)  # points where a stone is played were empty
    assert (batch.policy[:19, :-1] * before).sum() == 0
    last = batch.planes[1:20, 9].flatten(1)  # the last move, as the next position shows it
    np.testing.assert_array_equal(batch.policy[:19, :-1], last)


def test_result_and_ownership_are_the_movers() -> None:
    ownership = np.array([1, -1, 0, 0, 1, 0, 0, 0, -1], np.int8)
    game = random_game(0, 3, moves=4)
    batch = batch_of(pack([sample_game(game, winner=WHITE, margin=-2.5, ownership=ownership)]))
    assert [move.colour for move in game.moves] == [BLACK, WHITE, BLACK, WHITE]
    assert batch.value.tolist() == [[0, 1, 0], [1, 0, 0]] * 2
    assert batch.score.tolist() == batch.lead.tolist() == [-2.5, 2.5] * 2
    np.testing.assert_array_equal(batch.ownership[0], ownership)
    np.testing.assert_array_equal(batch.ownership[1], -ownership)
    weights = batch.weights[:, : columns_.OWNERSHIP + 1]
    assert weights.tolist() == [[1] * 6] * 3 + [[1, 0, 1, 1, 1, 1]]  # nobody answers the last move


@pytest.mark.parametrize(
    ("winner", "value", "weight"), [(DRAW, [0.5, 0.5, 0], 1), (NO_RESULT, [0, 0, 1], 1), (UNKNOWN, [0, 0, 0], 0)]
)
def test_games_without_a_winner(winner: int, value: list[float], weight: float) -> None:
    batch = batch_of(pack([sample_game(random_game(0, 3, moves=2), winner=winner, margin=float("nan"))]))
    assert batch.value.tolist() == [value] * 2
    assert batch.weights[:, columns_.VALUE].tolist() == [weight] * 2
    assert not batch.weights[:, [columns_.SCORE, columns_.LEAD, columns_.OWNERSHIP]].any()


def test_searched_policies_values_and_weights() -> None:
    game = random_game(5, 3, moves=4)
    policies = [None, (np.array([0, 9]), np.array([3.0, 1.0])), None, None]
    values = np.array([[0.5, 3], [np.nan, np.nan], [-1, -2], [0, 0]])
    sample = sample_game(game, weights=np.array([1, 0.5, 0, 1]), policies=policies, values=values)
    batch = batch_of(pack([sample]), searched_share=0.5)
    assert batch.size == 3  # one position has no weight
    expected = [0.75, 0, 0, 0, 0, 0, 0, 0, 0, 0.25]
    np.testing.assert_allclose(batch.policy[1], expected, atol=1e-4)
    np.testing.assert_allclose(batch.opponent[0], expected, atol=1e-4)
    # The reply to the second move was not searched in full, and the last position has none.
    assert batch.weights[:, columns_.OPPONENT].tolist() == [1, 0, 0]
    assert not batch.opponent[1:].any()
    np.testing.assert_allclose(batch.value, [[0.875, 0.125, 0], [0, 1, 0], [0.25, 0.75, 0]])
    assert batch.lead.tolist() == [3, -5, 0]
    assert batch.weights[:, columns_.POLICY].tolist() == [1, 0.5, 1]


def test_illegal_games_are_found() -> None:
    good = sample_game(random_game(1, 5, moves=10))
    occupied = good.moves.copy()
    occupied[6] = occupied[4]
    stone = np.array([0, 0x8001, 0x8005], np.uint16)  # black in the corner, taken by two white stones

    def changed(**fields: object) -> SampleGame:
        return SampleGame(**(vars(good) | fields))  # type: ignore[arg-type]

    twice = changed(setup=np.array([3, 3], np.uint16))
    games = pack([good, changed(moves=occupied), changed(setup=stone), twice])
    w = new_replay_workspace()
    assert [find_illegal(games, number, w) for number in range(4)] == [LEGAL, 6, ILLEGAL_SETUP, ILLEGAL_SETUP]


def test_passes_end_up_last() -> None:
    game = Game(3)
    game.play(BLACK, PASS)
    assert batch_of(pack([sample_game(game)])).policy[0].tolist() == [0] * 9 + [1]


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


def searched(seed: int) -> GameSet:
    game = random_game(seed, 5, moves=12)
    policies = [None if number % 3 else (np.array([number, 25]), np.array([0.3, 0.7])) for number in range(12)]
    values = np.linspace(-1, 1, 24).reshape(12, 2)
    weights = np.arange(12) % 2
    ownership = np.ones(25, np.int8)
    extra = {"policies": policies, "values": values, "weights": weights, "ownership": ownership}
    return pack([sample_game(game, seed, **extra)])


def recorded(seed: int) -> GameSet:
    return pack([sample_game(random_game(seed, 7, 4, moves=9), seed)])


def assert_equal(a: GameSet, b: GameSet) -> None:
    for one, other in zip(a, b, strict=True):
        np.testing.assert_array_equal(one, other)


def test_round_trip(tmp_path: Path) -> None:
    games = join([searched(1), recorded(2), searched(3)])
    write_shard(games, tmp_path / "a.shard", {"portion": "x"})
    assert_equal(read_shard(tmp_path / "a.shard"), games)
    assert read_notes(tmp_path / "a.shard") == {"portion": "x"}
    assert [file.name for file in tmp_path.iterdir()] == ["a.shard"]


@pytest.mark.parametrize("games", [searched(1), recorded(2), join([searched(1), recorded(2)]), pack([])])
def test_a_set_travels_to_another_process_as_it_is_stored(games: GameSet) -> None:
    pickled = pickle.dumps(games)
    there = pickle.loads(pickled)
    assert_equal(there, games)
    assert all(column.flags.writeable for column in there), "compiled code would be compiled again"
    stored = sum(column.size * COLUMNS[name].stored.itemsize for name, column in games.columns().items())
    assert len(pickled) < stored + 400


def test_choosing_undoes_joining() -> None:
    parts = [searched(1), recorded(2), searched(3)]
    games = join(parts)
    for number in (0, 2):
        chosen = games.choose(np.arange(3) == number)
        assert_equal(chosen, join([games.choose(np.zeros(3, np.bool_)), parts[number]]))


def test_a_changed_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    path, games = tmp_path / "a.shard", recorded(1)
    write_shard(games, path)
    good, noticed = path.read_bytes(), 0
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 4]) + good[place + 1 :])
        try:
            assert_equal(read_shard(path), games)  # the byte is part of a date, for example
        except ShardError as error:
            assert str(error).startswith((f"{path}: a damaged shard (", f"{path}: not a shard, or cut short"))
            noticed += 1
    assert noticed > len(good) / 2
    for length in range(0, len(good), 7):
        path.write_bytes(good[:length])
        for read in (read_shard, read_notes):
            with pytest.raises(ShardError, match="not a shard, or cut short"):
                read(path)


def test_other_files_are_no_shards(tmp_path: Path) -> None:
    path, games = tmp_path / "a.shard", recorded(1)
    for content in (b"", b"no shard", pickle.dumps({}), b"\x93NUMPY"):
        path.write_bytes(content)
        with pytest.raises(ShardError, match=r"a\.shard: not a shard, or cut short$"):
            read_shard(path)
    with open(path, "wb") as file:
        np.savez(file, **games.columns())
    with pytest.raises(ShardError, match=r"a\.shard: a damaged shard \(an archive of something else\)$"):
        read_shard(path)


def test_columns_that_do_not_fit_are_refused() -> None:
    games = recorded(1)
    off_board = games.moves.copy()
    off_board[0] = 29
    with pytest.raises(ValueError, match="a move off the board"):
        game_set(**(games.columns() | {"moves": off_board})).check()
    with pytest.raises(ValueError, match="moves has 8 entries, expected 9"):
        game_set(**(games.columns() | {"moves": games.moves[1:]})).check()
