"""The clock against a slow, obvious referee that plays whole games of every time system."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtp_engine.engine.clock import NO_LIMIT, Clock, TimeSettings, gtp_settings, named_settings
from gtp_engine.go.coords import BLACK, WHITE


@dataclass
class Referee:
    """The server's clock of one player: raises AssertionError when the flag falls."""

    settings: TimeSettings
    main: float = 0.0
    period: float = 0.0
    count: int = 0

    def __post_init__(self) -> None:
        self.main, self.period, self.count = self.settings.main, self.settings.period, self.settings.count

    def take(self, seconds: float) -> None:
        cap = self.settings.move_cap
        assert cap is None or seconds <= cap, f"{seconds} s for a move, {cap} allowed"
        in_main = min(seconds, self.main)
        self.main -= in_main
        overtime = seconds - in_main
        match self.settings.system:
            case "byoyomi" if self.main == 0:
                self.count -= int(overtime / self.settings.period)
                assert self.count > 0, "all periods are used up"
            case "canadian" if self.main == 0:
                self.period -= overtime
                assert self.period >= 0, "the Canadian period is over"
                self.count -= 1
                if self.count == 0:
                    self.period, self.count = self.settings.period, self.settings.count
            case _:
                assert overtime == 0, "the main time is over"
        self.main += self.settings.increment
        if self.settings.main_cap is not None:
            self.main = min(self.main, self.settings.main_cap)

    def report(self) -> tuple[float, int]:
        """What a server sends before a move: whole seconds."""
        if self.main > 0 or self.settings.system not in ("byoyomi", "canadian"):
            return math.floor(self.main), 0
        return math.floor(self.period), self.count


def play_game(
    clock, referee, moves: int, area: int, *, excess: float, lag: float, reports: bool, parts: Sequence[float] = (1.0,)
) -> float:
    """One side's moves of a whole game, which take these parts of their budgets in turn; the main time that is left."""
    for number, part in zip(range(moves), cycle(parts), strict=False):
        if reports:
            clock.time_left(BLACK, *referee.report())
        budget = clock.budget(BLACK, area, 2 * number)
        assert budget is not None
        clock.charge(BLACK, part * budget + excess, budget)
        referee.take(part * budget + excess + lag)
    return referee.main


SIZES = st.sampled_from([4, 25, 81, 169, 361])
SECONDS = st.floats(1, 3600)


@given(
    main=SECONDS, area=SIZES, strain=st.floats(0, 0.12), delayed=st.booleans(), reports=st.booleans(),
    parts=st.lists(st.floats(0.01, 1), min_size=1),
)  # fmt: skip
@settings(deadline=None)
def test_absolute_time_lasts_for_a_game_that_fills_the_board_one_and_a_half_times(
    main, area, strain, delayed, reports, parts
):
    moves = area * 3 // 4
    overhead = strain * main / moves
    referee = Referee(TimeSettings("absolute", main))
    lag = overhead / 4 if reports and delayed else 0.0
    play_game(Clock(referee.settings), referee, moves, area, excess=overhead, lag=lag, reports=reports, parts=parts)


@given(main=st.floats(0, 600), period=st.floats(1, 60), count=st.integers(1, 5), area=SIZES, lag=st.floats(0, 0.09))
@settings(deadline=None)
def test_byo_yomi_keeps_every_period(main, period, count, area, lag):
    referee = Referee(TimeSettings("byoyomi", main, period, count))
    play_game(Clock(referee.settings), referee, area, area, excess=0.0, lag=lag, reports=True)
    assert referee.count == count


@given(main=st.floats(0, 600), period=st.floats(1, 600), stones=st.integers(1, 25), area=SIZES, strain=st.floats(0, 1))
@settings(deadline=None)
def test_canadian_stones_are_played_in_time(main, period, stones, area, strain):
    referee = Referee(TimeSettings("canadian", main, period, stones))
    excess = strain * min(0.09 * period, 0.9) / stones
    play_game(Clock(referee.settings), referee, area, area, excess=excess, lag=0.0, reports=False)


@given(
    main=st.floats(2, 600), increment=st.floats(0.1, 60), area=SIZES, strain=st.floats(0, 0.5), reports=st.booleans(),
    cap=st.none() | st.floats(1, 4), move_cap=st.none() | st.floats(1, 100),
)  # fmt: skip
@settings(deadline=None)
def test_fischer_time_never_runs_out(main, increment, area, strain, reports, cap, move_cap):
    main_cap = None if cap is None else cap * main
    time = TimeSettings("fischer-capped", main, increment=increment, main_cap=main_cap, move_cap=move_cap)
    referee = Referee(time)
    excess = strain * min(increment, 0.09 * main, 0.09 * (move_cap or math.inf), 0.9)
    play_game(Clock(time), referee, area, area, excess=excess, lag=0.0, reports=reports)


@pytest.mark.parametrize("parts", [(1.0,), (0.5,), (1.0, 0.5)])
@pytest.mark.parametrize(("main", "area", "lag"), [(600, 361, 0.05), (60, 81, 0.03), (1800, 361, 0.1)])
def test_a_lag_that_nothing_shows_costs_no_long_game(main, area, lag, parts):
    time = TimeSettings("absolute", main)
    play_game(Clock(time), Referee(time), area * 3 // 4, area, excess=0.0, lag=lag, reports=False, parts=parts)


@pytest.mark.parametrize("parts", [(1.0,), (0.5,), (1.0, 0.5)])
@pytest.mark.parametrize("main", [10, 30, 60])
def test_reports_that_are_rounded_up_cost_no_game(main, parts):
    class RoundingUp(Referee):
        def report(self) -> tuple[float, int]:
            return math.ceil(self.main), 0

    time = TimeSettings("absolute", main)
    play_game(Clock(time), RoundingUp(time), 81, 81, excess=0.0, lag=0.0, reports=True, parts=parts)


def test_late_moves_get_time():
    clock = Clock(TimeSettings("absolute", 600))
    for number in range(150):
        budget = clock.budget(BLACK, 361, 2 * number)
        clock.charge(BLACK, budget, budget)
    assert budget > 0.25


@pytest.mark.parametrize(("main", "increment"), [(60, 1), (60, 2), (300, 2), (60, 5)])
def test_fischer_time_has_room_for_one_late_move(main, increment):
    time = TimeSettings("fischer", main, increment=increment)
    clock, referee = Clock(time), Referee(time)
    for number in range(60):
        clock.time_left(BLACK, *referee.report())
        budget = clock.budget(BLACK, 81, 2 * number)
        excess = 1.6 if number == 40 else 0.1
        clock.charge(BLACK, budget + excess, budget)
        referee.take(budget + excess)


@pytest.mark.parametrize("moves", [[550.0], [54.5] * 10])
def test_what_long_moves_leave_is_shared_out_anew(moves):
    clock = Clock(TimeSettings("absolute", 600))
    for seconds in moves:
        clock.charge(BLACK, seconds, None)
    assert clock.budget(BLACK, 361, 2 * len(moves)) > 0.3


def test_a_clock_that_somebody_else_has_used_is_shared_out_anew():
    clock, fresh = Clock(TimeSettings("absolute", 600)), Clock(TimeSettings("absolute", 60))
    for seconds in (600, 60):
        clock.time_left(BLACK, seconds, 0)
    fresh.time_left(BLACK, 60, 0)
    assert clock.budget(BLACK, 361, 100) == fresh.budget(BLACK, 361, 100) > 0.5


def test_ten_seconds_for_a_whole_small_game_are_used_and_never_overrun():
    time = TimeSettings("absolute", 10)
    normal = play_game(Clock(time), Referee(time), 30, 81, excess=0.02, lag=0.0, reports=False)
    assert 0.5 < normal < 3
    long = play_game(Clock(time), Referee(time), 81, 81, excess=0.02, lag=0.0, reports=False)
    assert long > 0.2


def test_the_time_that_moves_leave_is_spent_on_others():
    """Every other move takes half of its budget: with equal shares 8.2 seconds would be left in the end."""
    time = TimeSettings("absolute", 60)
    usual, early = (
        play_game(Clock(time), Referee(time), 30, 81, excess=0.0, lag=0.0, reports=False, parts=parts)
        for parts in ((1.0,), (0.5, 1.0))
    )
    assert usual == pytest.approx(6.29, abs=0.05) and early == pytest.approx(6.32, abs=0.05)


def test_a_move_that_somebody_else_plays_on_the_clock_is_no_lag():
    clock, left = Clock(TimeSettings("absolute", 600.0)), 600.0
    budgets = []
    for number in range(10):
        clock.time_left(BLACK, left, 0)
        budgets.append(clock.budget(BLACK, 361, 2 * number))
        clock.charge(BLACK, budgets[-1], budgets[-1])
        left -= budgets[-1] + (70.0 if number == 4 else 0.0)
    assert min(budgets[5:]) > 0.8 * budgets[0]


def test_time_is_left_with_a_longer_lag_than_is_set_aside():
    time = TimeSettings("absolute", 600.0)
    assert play_game(Clock(time), Referee(time), 150, 361, excess=0.0, lag=2.5, reports=True) >= 0


LATE = [0.02, 0.09, 0.02, 0.01, 0.18, 0.02, 0.03, 0.25, 0.02, 0.02, 0.33, 0.02]  # seconds, of a machine that gets busy


@pytest.mark.parametrize("time", [TimeSettings("byoyomi", 0, 1, 1), TimeSettings("canadian", 0, 1, 1)])
def test_a_busy_machine_keeps_more_in_reserve(time):
    clock, referee = Clock(time), Referee(time)
    for number, late in enumerate(4 * LATE):
        budget = clock.budget(BLACK, 81, 2 * number)
        clock.charge(BLACK, budget + late, budget)
        referee.take(budget + late)


def test_a_lag_that_only_the_reports_show_is_learned():
    time = TimeSettings("absolute", 60)
    assert play_game(Clock(time), Referee(time), 81, 81, excess=0.0, lag=0.25, reports=True) >= 0


@pytest.mark.parametrize("again", ["settings", "game"])
def test_a_lag_is_kept_by_controllers_that_send_everything_before_each_move(again):
    """gtp2ogs, for one, clears the board and replays the game; a report above the count is of another game."""
    time = TimeSettings("absolute", 600)
    clock, left = Clock(time), 600.0
    for number in range(20):
        if again == "settings":
            clock.settings = TimeSettings("absolute", 600)
        else:
            clock.restart()
        clock.time_left(BLACK, left, 0)
        learned = clock.budget(BLACK, 361, 2 * number)
        clock.charge(BLACK, 2.0, 2.0)
        left -= 2.5
    fresh = Clock(time)
    fresh.time_left(BLACK, left + 2.5, 0)
    assert learned < fresh.budget(BLACK, 361, 38) - 0.3
    clock.restart()
    clock.time_left(BLACK, 600, 0)
    assert clock.budget(BLACK, 361, 0) == Clock(time).budget(BLACK, 361, 0)


def test_an_increment_is_used():
    time = TimeSettings("fischer", 60, increment=10)
    clock, referee = Clock(time), Referee(time)
    play_game(clock, referee, 150, 361, excess=0.0, lag=0.0, reports=False)
    assert clock.budget(BLACK, 361, 300) == pytest.approx(10, abs=1)


def test_time_above_a_fischer_cap_is_not_left_to_be_cut_off():
    clock = Clock(TimeSettings("fischer-capped", 100, increment=20, main_cap=100))
    assert clock.budget(BLACK, 361, 0) >= 20
    clock = Clock(TimeSettings("fischer-capped", 100, increment=20, main_cap=100, move_cap=15))
    assert clock.budget(BLACK, 361, 0) == pytest.approx(14)


def test_seconds_a_move_leave_a_tenth_or_a_second():
    assert Clock(gtp_settings(0, 5, 1)).budget(BLACK, 361, 0) == pytest.approx(4.5)
    assert Clock(gtp_settings(0, 30, 1)).budget(WHITE, 361, 100) == pytest.approx(29)


@pytest.mark.parametrize(
    ("numbers", "settings"),
    [
        ((0, 1, 0), NO_LIMIT),
        ((0, 0, 0), NO_LIMIT),
        ((600, 30, 0), NO_LIMIT),
        ((600, 0, 0), TimeSettings("absolute", 600)),
        ((600, 0, 5), TimeSettings("absolute", 600)),
        ((600, 300, 25), TimeSettings("canadian", 600, 300, 25)),
    ],
)
def test_gtp_settings(numbers, settings):
    clock = Clock(gtp_settings(*numbers))
    assert clock.settings == settings
    assert (clock.budget(BLACK, 361, 0) is None) == (clock.remaining(BLACK) is None) == (settings == NO_LIMIT)


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("none", NO_LIMIT),
        ("absolute 600", TimeSettings("absolute", 600)),
        ("byoyomi 600 30 5", TimeSettings("byoyomi", 600, 30, 5)),
        ("byoyomi 600 0 0", TimeSettings("absolute", 600)),
        ("canadian 600 300 25", TimeSettings("canadian", 600, 300, 25)),
        ("fischer 60.5 10", TimeSettings("fischer", 60.5, increment=10)),
        ("fischer-capped 60 10 120 -1", TimeSettings("fischer-capped", 60, increment=10, main_cap=120)),
    ],
)
def test_named_settings(words, settings):
    assert named_settings(words.split()) == settings


@pytest.mark.parametrize(
    "words, message",
    [
        ([], "invalid time system ''"),
        (["sudden", "5"], "invalid time system 'sudden': expected none, absolute, "),
        (["absolute"], "absolute takes 1 numbers, not 0"),
        (["absolute", "soon"], "invalid time 'soon'"),
        (["absolute", "nan"], "invalid time 'nan'"),
        (["absolute", "-1"], "invalid time -1.0"),
        (["byoyomi", "600", "30", "2.5"], "invalid count '2.5'"),
    ],
)
def test_malformed_settings_are_refused(words, message):
    with pytest.raises(ValueError, match=message):
        named_settings(words)


def test_nothing_left_means_to_move_at_once():
    clock = Clock()
    clock.time_left(BLACK, 0, 0)
    assert clock.budget(BLACK, 81, 0) == 0.0
    assert clock.budget(WHITE, 81, 0) is None  # White's clock was never set
    clock.settings = gtp_settings(60, 0, 0)
    clock.time_left(WHITE, -3, 0)
    assert clock.budget(WHITE, 81, 0) == 0.0


def test_the_overtime_follows_an_exhausted_main_time():
    clock = Clock(named_settings(["byoyomi", "600", "30", "5"]))
    clock.time_left(BLACK, 0, 0)
    assert clock.budget(BLACK, 361, 0) == pytest.approx(29)
    clock.time_left(BLACK, 12, 1)
    assert clock.budget(BLACK, 361, 0) == pytest.approx(11)
    clock.charge(BLACK, 11)
    assert clock.remaining(BLACK) == (30, 1)


def test_time_left_counts_stones_or_periods():
    clock = Clock(gtp_settings(600, 300, 25))
    clock.time_left(BLACK, 100, 10)
    assert clock.budget(BLACK, 361, 200) == pytest.approx(9.9)
    clock.charge(BLACK, 10)
    assert clock.remaining(BLACK) == (90, 9)
    assert clock.remaining(WHITE) == (600, 0)


@pytest.mark.parametrize("words", [["canadian", "1780", "20", "1"], ["byoyomi", "1780", "20", "5"]])
def test_a_report_of_more_than_a_period_is_main_time(words):
    """Leela Zero took all of it for one move: leela-zero/leela-zero#2105, online-go/gtp2ogs#106."""
    clock = Clock(named_settings(words))
    clock.time_left(BLACK, 1917, 1)
    assert clock.remaining(BLACK) == (1897, 0)
    assert 19 < clock.budget(BLACK, 361, 0) < 60
    clock.time_left(BLACK, 20, 1)
    assert clock.remaining(BLACK) == (20, 1)


@pytest.mark.parametrize("words", [["absolute", "600"], ["fischer", "600", "10"]])
def test_a_count_without_overtime_does_not_end_the_main_time(words):
    clock = Clock(named_settings(words))
    clock.time_left(BLACK, 20, 7)
    assert clock.remaining(BLACK) == (20, 0)
    assert clock.settings.after(clock.remaining(BLACK), 5) == (15, 0)


def test_a_report_alone_is_the_clock():
    clock = Clock()
    clock.time_left(BLACK, 20, 7)
    assert clock.remaining(BLACK) == (20, 7)
    clock.time_left(BLACK, 20, 0)
    assert clock.remaining(BLACK) == (20, 0)


def test_any_number_of_periods_is_spent_at_once():
    system = TimeSettings("byoyomi", 0, 1e-300, 10**300)
    assert system.after(system.full, 1e9) == (0, 0)
    system = TimeSettings("byoyomi", 10, 0.001, 10**9)
    assert system.after(system.full, 10 + 1e9) == (0, 0)
    assert system.after(system.full, 10.0015) == (pytest.approx(0.0005), 10**9 - 1)


def test_one_slow_start_does_not_count_for_the_whole_game():
    clock = Clock(gtp_settings(0, 10, 1))
    for seconds in (40, 9.1, 9.1):
        clock.charge(BLACK, seconds, 9)
    assert clock.budget(BLACK, 81, 6) == pytest.approx(8.9)


def test_repeated_settings_and_impossible_reports():
    clock = Clock(gtp_settings(60, 0, 0))
    with pytest.raises(ValueError, match="invalid time left"):
        clock.time_left(BLACK, math.nan, 0)
    with pytest.raises(ValueError, match="invalid count -1"):
        clock.time_left(BLACK, 10, -1)
    clock.settings = gtp_settings(60, 0, 0)
    assert clock.remaining(BLACK) == (60, 0)


SYSTEMS = st.one_of(
    st.builds(TimeSettings, st.just("absolute"), st.integers(1, 60)),
    st.builds(TimeSettings, st.just("byoyomi"), st.integers(0, 60), st.integers(1, 20), st.integers(1, 4)),
    st.builds(TimeSettings, st.just("canadian"), st.integers(0, 60), st.integers(1, 60), st.integers(1, 4)),
    st.builds(TimeSettings, st.just("fischer"), st.integers(1, 60), increment=st.integers(0, 9)),
)


@given(system=SYSTEMS, moves=st.lists(st.integers(0, 30), max_size=12))
@settings(deadline=None)
def test_the_time_left_in_the_middle_of_a_move_ends_when_the_flag_falls(system, moves):
    clock, referee = Clock(system), Referee(system)
    for whole in moves:
        seconds = whole + 0.37  # which no sum of a few moves makes whole: referees differ about the last instant
        left = system.after(clock.remaining(BLACK), seconds)
        try:
            referee.take(seconds)
        except AssertionError:
            assert left[0] == 0
            return
        assert left[0] > 0
        clock.charge(BLACK, seconds)
        after = clock.remaining(BLACK)
        assert after == (pytest.approx(referee.main), 0) or after == (pytest.approx(referee.period), referee.count)
        clock.time_left(BLACK, *after)  # as a game is resumed
        assert clock.remaining(BLACK) == after
