"""Rollouts: what they may play, when they end, what they count; priors; and all of it as an evaluator."""

import numpy as np
import pytest
from drawn_positions import DEAD_STONES, FINISHED, drawn, plain_margin, random_position, reference_of

from gtp_engine.base.jit import random_below
from gtp_engine.go.board import MAX_POINTS, play
from gtp_engine.go.coords import BLACK, PASS, WHITE, all_points, index_of_point, point_at, xy
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.search.evaluate import rollouts
from gtp_engine.search.evaluate.rollout_moves import (
    _URGENT,
    is_eye,
    is_urgent_shape,
    liberties_after,
    would_be_in_atari,
    write_priors,
)
from gtp_engine.search.evaluate.rollouts import RolloutEvaluator
from gtp_engine.search.evaluate.row import LEAD, UNKNOWN, WIN, EvaluationRow, amaf_column, row_columns

SIZES = [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19)]


def state(seed: int = 1) -> np.ndarray:
    return np.array([seed], np.uint64)


def candidates() -> np.ndarray:
    return np.zeros(rollouts.MAX_CANDIDATES, np.int16)


def amaf_colours() -> np.ndarray:
    return np.full(MAX_POINTS, 9, np.int8)


def test_an_eye_has_at_most_one_hostile_diagonal_and_none_at_the_edge() -> None:
    game, at = drawn("""
        a X . O X b
        X X . X X X
        . . . . . .
        . X O . O X
        X c X . X d
        X X X . O X
    """)
    eyes = {mark: is_eye(game.board[0], point, BLACK) for mark, point in at.items()}
    assert eyes == {"a": True, "b": True, "c": True, "d": False}
    assert not is_eye(game.board[0], at["a"], WHITE)


@pytest.mark.parametrize("seed", range(4))
def test_liberties_after_a_move_are_those_of_the_slow_board(seed: int) -> None:
    for moves in (10, 40, 70):
        game = random_position(9, 9, moves, seed)
        reference = reference_of(game.board)
        for x, y in reference.points():
            if reference.colour((x, y)):
                continue
            for colour in (BLACK, WHITE):
                after = reference.after((x, y), colour)
                takes = sum(stone == 3 - colour for stone in after.values()) < sum(
                    stone == 3 - colour for stone in reference.stones.values()
                )
                stands = (x, y) in after
                expected = 2 if takes else min(2, len(reference.liberties((x, y), after))) if stands else 0
                assert liberties_after(game.board[0], point_at(x, y, 9), colour) == expected


def test_a_chain_with_two_liberties_would_be_in_atari() -> None:
    game, at = drawn("""
        . . . . .
        . X X O .
        . a X O .
        . O O b .
        . . . . .
    """)
    board = game.board[0]
    head = board["chain"][point_at(1, 1, 5)]
    assert not would_be_in_atari(board, head, at["a"])
    game.play(WHITE, point_at(0, 1, 5))
    game.play(WHITE, point_at(1, 0, 5))
    board = game.board[0]
    assert would_be_in_atari(board, board["chain"][point_at(1, 1, 5)], at["a"])


@pytest.mark.parametrize(
    ("diagram", "urgent"),
    [
        ("X O X / . a . / . . .", True),  # hane
        ("O X O / . a . / . . .", True),  # colours swapped
        (". . X / . a O / . . X", True),  # turned
        ("X O . / O a . / . . .", True),  # cut
        ("X O . / O a O / . . .", False),  # the cutting stone would be taken
        ("X O . / O a . / . O .", False),
        (". X . / . a . / . . .", False),
        (". . . / . a . / . . .", False),
    ],
)
def test_shapes(diagram: str, urgent: bool) -> None:
    rows = [". . . . ."] + [f". {row.strip()} ." for row in diagram.split("/")] + [". . . . ."]
    game, at = drawn("\n".join(rows))
    assert is_urgent_shape(game.board[0], at["a"]) == urgent


def test_shapes_are_symmetric() -> None:
    codes = np.arange(1 << 16)
    places = [(codes >> (2 * place)) & 3 for place in range(8)]

    def code(order: list[int], colours: list[int]) -> np.ndarray:
        return sum(np.array(colours)[places[place]] << (2 * index) for index, place in enumerate(order))

    assert _URGENT[code([2, 4, 7, 1, 6, 0, 3, 5], [0, 1, 2, 3])].tolist() == _URGENT.tolist()  # a quarter turn
    assert _URGENT[code([2, 1, 0, 4, 3, 7, 6, 5], [0, 1, 2, 3])].tolist() == _URGENT.tolist()  # mirrored
    assert _URGENT[code(list(range(8)), [0, 2, 1, 3])].tolist() == _URGENT.tolist()


def test_a_random_number_below_a_limit_takes_every_value_alike() -> None:
    numbers = state()
    counts = np.bincount([random_below(numbers, 7) for _ in range(7000)], minlength=7)
    assert len(counts) == 7
    assert counts.min() > 880  # 1000 +- 4 standard deviations


@pytest.mark.parametrize(("width", "height"), SIZES[:4])
def test_random_moves_are_legal_and_never_fill_an_eye(width: int, height: int) -> None:
    numbers = state()
    for seed in range(3):
        game = random_position(width, height, 3, seed)
        board = game.board.copy()
        passes = moves = 0
        while passes < 2 and moves < rollouts.MOVE_CAP_PER_POINT * width * height:
            colour = int(board["to_move"][0])
            point = rollouts.anywhere(board[0], numbers)
            if point != PASS:
                reference = reference_of(board)
                assert point != board["ko_point"][0]
                assert not reference.is_suicide(xy(point, width), colour)
                assert not is_eye(board[0], point, colour)
            passes = passes + 1 if point == PASS else 0
            moves += 1
            play(board[0], point)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_rollout_ends_and_its_count_equals_a_slow_one(width: int, height: int) -> None:
    numbers = state()
    for seed in range(5):
        board = random_position(width, height, 2, seed).board.copy()
        moves = rollouts.play_rollout(board[0], numbers, candidates(), amaf_colours())
        assert 2 <= moves <= rollouts.MOVE_CAP_PER_POINT * width * height
        owned = np.zeros(width * height, np.int32)
        margin = rollouts.count_area(board[0], owned)
        assert margin == owned.sum()
        if moves < rollouts.MOVE_CAP_PER_POINT * width * height:
            assert margin == plain_margin(board)


def test_the_first_colour_at_each_point_is_recorded() -> None:
    game = random_position(9, 9, 4, 1)
    board, colours = game.board.copy(), amaf_colours()
    rollouts.play_rollout(board[0], state(), candidates(), colours)
    for point in all_points(9, 9):
        assert colours[point] in (0, BLACK, WHITE)
        if game.stone_at(point) == 0 and board["stones"][0, point]:
            assert colours[point]  # a stone was played there


def test_rollouts_continue_after_two_passes() -> None:
    game = random_position(9, 9, 4, 1)
    game.play(game.to_move, PASS)
    game.play(game.to_move, PASS)
    board = game.board.copy()
    assert rollouts.play_rollout(board[0], state(), candidates(), amaf_colours()) > 20


def test_an_atari_is_answered() -> None:
    game, _ = drawn("""
        . . . . . . .
        . . . O . . .
        . . O X . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    game.play(WHITE, point_at(4, 2, 7))
    board = game.board
    numbers = state()
    answers = {int(rollouts._answer(board[0], numbers, candidates())) for _ in range(20)}
    assert answers == {point_at(3, 3, 7)}


def test_the_chain_that_moved_into_atari_is_taken() -> None:
    game, at = drawn("""
        . X . . .
        X . b . .
        . X . . .
        . . . . .
        . . . . .
    """)
    game.play(WHITE, point_at(1, 1, 5))
    numbers = state()
    assert {int(rollouts._answer(game.board[0], numbers, candidates())) for _ in range(20)} == {at["b"]}


def test_the_offset_has_komi_bonus_and_button() -> None:
    game, _ = drawn(FINISHED, komi=6.5)
    assert rollouts.score_offset(game.board[0]) == -6.5
    aga = random_position(9, 9, 0, 0, komi=0.5)
    aga.set_rules(RULESETS["chinese"])
    aga.place_handicap(all_points(9, 9)[:3])
    assert rollouts.score_offset(aga.board[0]) == -0.5 - 3
    button = random_position(9, 9, 0, 0, komi=6.0)
    button.set_rules(RULESETS["aga-button"])
    button.play(BLACK, PASS)
    assert rollouts.score_offset(button.board[0]) == -5.5


def test_territory_is_area_less_the_stones_put_down() -> None:
    japanese = RULESETS["japanese"]
    game, _ = drawn(FINISHED, rules=japanese)
    game.play(BLACK, PASS)
    game.play(WHITE, PASS)
    # Two eyes each: nothing to choose between them.
    assert 9 + rollouts.score_offset(game.board[0]) == 0
    # A dead white stone: black has two points of territory and a prisoner, white two points.
    taken, _ = drawn(
        """
        . X O X X
        X X . X X
        X X X X X
        O O O O O
        . O . O O
    """,
        rules=japanese,
    )
    taken.play(BLACK, point_at(2, 1, 5))
    taken.play(WHITE, PASS)
    taken.play(BLACK, PASS)
    black, white = 13, 9
    assert rollouts.score_offset(taken.board[0]) == -(black - white)


def test_a_needless_move_at_home_costs_a_point_of_territory_and_none_of_area() -> None:
    diagram = """
        . X . X X O . O .
        . X X X X O O O .
    """
    for rules, cost in (("japanese", 1.0), ("chinese", 0.0)):
        offsets = []
        for point in (PASS, point_at(0, 1, 9)):
            game, _ = drawn(diagram, rules=RULESETS[rules])
            game.play(BLACK, point)
            game.play(WHITE, PASS)
            game.play(BLACK, PASS)
            offsets.append(rollouts.score_offset(game.board[0]))
        assert offsets[0] - offsets[1] == cost


def rows_of(game: Game, *, rollouts: int = 200, seed: int = 1, threads: int = 1, copies: int = 1) -> np.ndarray:
    """The rows of `copies` evaluations of one position."""
    evaluator = RolloutEvaluator(threads=threads, seed=seed, rollouts=rollouts)
    boards = np.repeat(game.board, copies)
    rows = evaluator.collect(evaluator.submit(boards, np.arange(copies)))
    evaluator.close()
    return rows


def evaluate(game: Game, *, rollouts: int = 200) -> EvaluationRow:
    return EvaluationRow(rows_of(game, rollouts=rollouts)[0], game.area)


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19)])
def test_outputs_have_the_promised_form(width: int, height: int) -> None:
    area = width * height
    rows = rows_of(random_position(width, height, 3, 1), rollouts=4, copies=3)
    assert rows.shape == (3, row_columns(area, amaf=True)) and rows.flags.c_contiguous
    for row in rows:
        found = EvaluationRow(row, area)
        assert found.policy.shape == (area + 1,)
        assert found.policy.sum() == pytest.approx(1, abs=1e-5)
        assert found.value.shape == (3,)
        assert found.value.sum() == pytest.approx(1)
        assert found.ownership.shape == (area,)
        assert abs(found.ownership).max() <= 1
        assert (found.short_term_errors == UNKNOWN).all()
    assert rows.dtype == np.float32


def test_a_finished_game_from_both_sides() -> None:
    black, _ = drawn(FINISHED, BLACK, komi=6.5)
    white, _ = drawn(FINISHED, WHITE, komi=6.5)
    for game, sign in ((black, 1), (white, -1)):
        found = evaluate(game)
        assert found.value.tolist() == ([1, 0, 0] if sign == 1 else [0, 1, 0])
        assert found.lead == found.score_mean == sign * 2.5
        assert found.score_stdev == 0
        assert (found.ownership.reshape(9, 9)[:, :5] == sign).all()
        assert (found.ownership.reshape(9, 9)[:, 5:] == -sign).all()


def test_amaf_statistics_are_shares_of_the_rollouts_and_their_results() -> None:
    found = evaluate(random_position(9, 9, 6, 1), rollouts=50).row[amaf_column(81) :].reshape(2, 2, 81)
    share, won = found[:, 0], found[:, 1]
    assert (share >= 0).all()
    assert (share.sum(0) <= 1 + 1e-5).all()  # one player at most is the first at a point
    assert (abs(won) <= share + 1e-5).all()
    assert share.sum() > 40


def test_a_draw_is_half_a_win() -> None:
    game, _ = drawn(FINISHED, komi=9)
    assert evaluate(game).value.tolist() == [0.5, 0.5, 0]


def test_a_won_position_is_won_nearly_always_whoever_moves() -> None:
    for to_move in (BLACK, WHITE):
        game, _ = drawn(DEAD_STONES, to_move, komi=-10)
        found = evaluate(game, rollouts=400)
        assert found.value[0 if to_move == BLACK else 1] > 0.75


def test_dead_stones_are_owned_by_who_surrounds_them() -> None:
    game, _ = drawn(DEAD_STONES)
    owned = evaluate(game, rollouts=400).ownership.reshape(9, 9)
    assert owned[1, 1] > 0.4  # white's stone in black's corner
    assert owned[3, 1] > 0.6  # black's wall
    assert owned[3, 7] < -0.5


def test_a_seed_repeats_and_threads_change_nothing() -> None:
    game = random_position(9, 9, 10, 1)
    first, again, other = (rows_of(game, rollouts=20, seed=seed, copies=16) for seed in (1, 1, 2))
    threaded = rows_of(game, rollouts=20, seed=1, copies=16, threads=3)
    for found in (again, threaded):
        assert (found == first).all()
    assert (other[:, WIN:LEAD] != first[:, WIN:LEAD]).any()
    assert (first[0, WIN:LEAD] != first[1, WIN:LEAD]).any()  # each row has random numbers of its own


def test_two_batches_in_flight() -> None:
    evaluator = RolloutEvaluator(threads=2, seed=1, rollouts=20)
    games = [random_position(9, 9, moves, 1) for moves in (2, 8)]
    boards = [np.repeat(game.board, 16) for game in games]
    tickets = [evaluator.submit(board, np.arange(16)) for board in boards]
    values = [evaluator.collect(ticket)[:, WIN:LEAD].copy() for ticket in tickets]
    evaluator.close()
    alone = RolloutEvaluator(seed=1, rollouts=20)
    for board, value in zip(boards, values, strict=True):
        assert (alone.collect(alone.submit(board, np.arange(16)))[:, WIN:LEAD] == value).all()


def test_only_the_named_positions_are_judged() -> None:
    finished, _ = drawn(FINISHED, komi=0.5)
    boards = np.concatenate([Game(9).board, finished.board, Game(9).board])
    evaluator = RolloutEvaluator(seed=1)
    found = evaluator.collect(evaluator.submit(boards, np.array([1])))
    assert found[:, LEAD].tolist() == [8.5]


def test_the_side_to_move_is_better_off() -> None:
    leads = [rows_of(Game(9, komi=0), rollouts=50, copies=40, seed=seed)[:, LEAD].mean() for seed in (1, 2)]
    assert min(leads) > 0


def priors(game: Game) -> np.ndarray:
    """float32 [area+1]."""
    policy = np.full(game.area + 1, np.nan, np.float32)
    write_priors(game.board[0], policy)
    return policy


def prior(game: Game, point: int) -> float:
    return float(priors(game)[index_of_point(point, game.width, game.height)])


@pytest.mark.parametrize(("width", "height"), [(2, 2), (5, 3), (9, 9), (7, 11), (19, 19), (25, 25)])
def test_they_sum_to_one_and_are_zero_where_a_move_is_illegal(width: int, height: int) -> None:
    japanese = RULESETS["japanese"]  # simple ko, no suicide
    for seed in range(3):
        for moves in (0, width, width * height):
            game = random_position(width, height, moves, seed)
            game.set_rules(japanese)
            policy = priors(game)
            assert policy.sum() == pytest.approx(1, abs=1e-5)
            assert ((policy > 0) == game.legal_moves()).all()


def test_the_first_move_is_not_on_the_edge() -> None:
    policy = priors(Game(9))[:-1].reshape(9, 9)
    assert policy[2:-2, 2:-2].sum() > 0.9
    assert policy[0].sum() < 0.01


def test_a_capture_and_an_escape_come_first() -> None:
    game, at = drawn("""
        . . . . . . .
        . O O . . . .
        . X X O . . .
        . O a . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    game.play(WHITE, point_at(0, 2, 7))
    assert prior(game, at["a"]) == priors(game).max()
    game.to_move = WHITE
    assert prior(game, at["a"]) == priors(game).max()


def test_self_atari_and_filling_eyes_come_last() -> None:
    game, at = drawn("""
        a X . . . . .
        X X . . . . .
        . . . O . . .
        . . . . . . .
        . . . . O O .
        . . . . O . O
        . . b . . O .
    """)
    policy = priors(game)
    assert prior(game, at["a"]) < 0.2 * prior(game, at["b"])
    assert prior(game, point_at(5, 5, 7)) == 0.0  # suicide
    assert policy.argmax() != index_of_point(at["a"], 7, 7)


def test_they_follow_the_last_move() -> None:
    game = Game(19)
    game.play(BLACK, point_at(3, 3, 19))
    game.play(WHITE, point_at(15, 15, 19))
    assert prior(game, point_at(15, 13, 19)) > prior(game, point_at(3, 13, 19))


def test_a_pass_is_for_the_end() -> None:
    assert prior(Game(9), PASS) < 0.01
    finished, _ = drawn(FINISHED)
    assert prior(finished, PASS) >= 0.5
    answered = Game(9)
    answered.play(BLACK, PASS)
    assert prior(answered, PASS) == pytest.approx(0.2)
