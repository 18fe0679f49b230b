"""The calibration of ranks: the curve, the scale by two programs, games against programs, and a run of all stages; and
the scale among other programs, and games with a handicap."""

import itertools
import shlex
import sys
from pathlib import Path

import handicap_doubling
import lead_worth
import numpy as np
import people_ranks
import player_rating
import pytest
import rank_games
import rank_ladder
import scale
from rank_curve import Curve, Pairing, Scale, fit, scale_of
from rank_games import GNUGO, PACHI, RankGames
from rank_ladder import RANK_OF, Ladder, play_all, show

from gtp_engine.arena.elo import expected_score
from gtp_engine.base.errors import UserError
from gtp_engine.engine.ranks import RANKS, Rank, read_ranks
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game

TINY = str(Path(__file__).parent / "data/networks/tiny.bin.gz")
SCRIPTED = str(Path(__file__).parent / "arena/scripted_engine.py")


def curve_of(strengths: list[float], elos: list[float], programs: dict[float, float], error: float = 0.0) -> Curve:
    values = np.array([*np.diff(elos), *programs.values()])
    return Curve(np.array(strengths), tuple(programs), values, error**2 * np.eye(len(values)))


def test_a_strength_has_the_elo_for_which_it_was_chosen() -> None:
    curve = curve_of([0.8, 1.0, 2.0, 3.0], [0, 100, 100, 300], {})
    for elo in np.linspace(0, 300, 31):
        assert curve.elo(curve.strength_at(elo)) == pytest.approx(elo)
    assert curve.strength_at(100) == 1.0  # the lowest one on a plateau
    assert (curve.strength_at(-5), curve.strength_at(305)) == (0.8, 3.0)


def test_a_curve_follows_the_games_and_never_falls() -> None:
    pairings = [Pairing(1.0, 0.0, 6400, 10000), Pairing(2.0, 1.0, 4500, 10000), Pairing(3.0, 2.0, 7600, 10000)]
    curve = fit([0.0, 1.0, 2.0, 3.0], pairings, [])
    assert curve.elos == pytest.approx([0, 100, 100, 300], abs=5)
    assert (np.diag(curve.covariance) > 0).tolist() == [True, False, True]


def test_the_error_of_a_difference_follows_from_the_number_of_games() -> None:
    games = [Pairing(1.0, 0.0, 256, 400), Pairing(2.0, 1.0, 256, 400)]
    curve = fit([0.0, 1.0, 2.0], games, [])
    one = 400 / np.log(10) / np.sqrt(400 * 0.64 * 0.36)
    assert curve.difference(1.0, 0.0) == pytest.approx((100, one), rel=0.01)
    assert curve.difference(2.0, 0.0) == pytest.approx((200, one * 2**0.5), rel=0.01)
    assert curve.difference(1.5, 0.5) == pytest.approx((100, one / 2**0.5), rel=0.01)


def test_a_curve_is_smooth_where_the_games_allow_it() -> None:
    points = [0.0, 0.1, 0.2, 0.3, 0.4, 1.0]
    won = [200, 160, 190, 160, 200]  # of 250: as two kinds of steps, or all alike with errors of 25 Elo

    def steps(games: float) -> np.ndarray:
        played = [
            Pairing(stronger, weaker, games * points_won, games * 250)
            for (weaker, stronger), points_won in zip(itertools.pairwise(points), won, strict=True)
        ]
        return np.diff(fit(points, played, []).elos)

    few, many = steps(0.1), steps(100)
    assert np.ptp(few[1:4]) < np.ptp(many[1:4]) / 2
    assert many == pytest.approx(400 * np.log10(np.array(won) / (250 - np.array(won))), abs=3)


def test_games_also_tell_about_the_steps_beside_theirs() -> None:
    points = [0.0, 0.3, 0.32, 0.34, 0.36, 1.0]
    near = [Pairing(b, a, 16, 25) for a, b in itertools.pairwise(points)]
    more = [*near, Pairing(0.34, 0.32, 640, 1000)]
    error = fit(points, near, []).difference(0.32, 0.3)[1]
    assert fit(points, more, []).difference(0.32, 0.3)[1] < 0.8 * error


def test_programs_have_a_place_on_the_curve() -> None:
    path = [Pairing(1.0, 0.0, 640, 1000), Pairing(2.0, 1.0, 640, 1000)]
    others = [Pairing(1.0, GNUGO, 500, 1000), Pairing(PACHI, 1.0, 640, 1000)]
    curve = fit([0.0, 1.0, 2.0], path + others, [GNUGO, PACHI])
    assert [curve.elo(one) for one in (0.0, GNUGO, 2.0, PACHI)] == pytest.approx([0, 100, 200, 200], abs=1)
    one = 400 / np.log(10) / np.sqrt(1000 * 0.64 * 0.36)
    assert curve.difference(PACHI, 1.0) == pytest.approx((100, one), rel=0.01)
    lost = fit([0.0, 1.0, 2.0], [*path, Pairing(1.0, GNUGO, 20, 20)], [GNUGO, PACHI])
    assert lost.programs == (GNUGO,)
    assert -700 < lost.elo(GNUGO) < -300  # all games lost: weaker, but not without bounds


@pytest.mark.parametrize(
    ("pachi", "by_pins", "distance", "off"),
    [(1050, 110, 110, 0.0), (500, 0, 85, -2.5), (1300, 160, 115, 0.978)],
)
def test_two_programs_stretch_the_scale_as_far_as_ranks_allow(
    pachi: float, by_pins: float, distance: float, off: float
) -> None:
    """They come out at their ranks, or equally far from them."""
    scale = scale_of(curve_of([0.0, 1.0], [0, 3000], {GNUGO: 500, PACHI: pachi}, error=20), RANK_OF)
    assert scale.by_pins == pytest.approx((by_pins, 20 * 2**0.5 / 5))
    assert scale.distance == distance
    assert scale.above(pachi, Rank(-2)) == pytest.approx(off, abs=0.001)
    assert scale.above(500, Rank(-7)) == pytest.approx(-off, abs=0.001)


def test_one_program_puts_the_scale_where_it_has_its_rank() -> None:
    assert scale_of(curve_of([0.0, 1.0], [0, 3000], {GNUGO: 500}), RANK_OF) == Scale(100, 1200)


def scripted(*words: str, name: str = "GNU Go") -> dict[float, str]:
    """Returns the command line of a program that plays some moves, then passes."""
    return {GNUGO: shlex.join([sys.executable, SCRIPTED, "--name", name, *words])}


@pytest.fixture
def few_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps games in a folder of its own; the path has few points."""
    monkeypatch.setattr(rank_games, "WORK", tmp_path)
    monkeypatch.setattr(rank_ladder, "POLICY", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))


@pytest.mark.parametrize("words", [["resign"], ["a1", "a1"], ["--refuse", "play"]])
@pytest.mark.usefixtures("few_points")
def test_a_program_loses_by_resigning_and_by_its_faults(words: list[str]) -> None:
    games = RankGames(TINY, 5, 1, scripted(*words))
    games.play(Game(5, komi=50), 0.0, GNUGO)  # by the count White would win
    games.close()
    assert [(game.black, game.white, game.points) for game in games.games] == [(0.0, GNUGO, 1.0)]


@pytest.mark.usefixtures("few_points")
def test_another_program_than_the_expected_one_is_named() -> None:
    games = RankGames(TINY, 5, 1, scripted(name="A platform game"))
    with pytest.raises(UserError, match=r"scripted_engine\.py .* is A platform game, not GNU Go"):
        games.play(Game(5), 0.0, GNUGO)
    games.close()


class Simulated(Ladder):
    """Whose games nobody plays: the results are drawn from known strengths, up to a number of games."""

    last = 10**6

    def _play_out(self, game: Game, players: dict[int, float]) -> int:
        if len(self.games) == self.last:
            raise KeyboardInterrupt
        draw = np.random.default_rng(len(self.games)).random()
        return BLACK if draw < expected_score(true_elo(players[BLACK]) - true_elo(players[WHITE])) else WHITE


def true_elo(player: float) -> float:
    """Returns the Elo of a player: on the path up to 1 the policy, then searches; Pachi is 800 above GNU Go."""
    return {GNUGO: 1100.0, PACHI: 1900.0}.get(player, 2000 * min(1, player) + 200 * max(0, player - 1))


def simulated(size: int, games: int, last: int = 10**6) -> Simulated:
    Simulated.last = last
    return Simulated(TINY, size, 1, {GNUGO: "", PACHI: ""}, games, 512)


@pytest.mark.usefixtures("few_points")
def test_all_stages_resume_after_an_interruption(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        play_all([simulated(9, 20, last=29)])  # with one of four games against the program
    first = simulated(9, 20)
    first.file.write_text(first.file.read_text() + '{"black": 0.5, "wh')  # killed while it wrote
    resumed = simulated(9, 20)
    assert resumed.games == first.games
    assert len(resumed.games) == 29
    capsys.readouterr()
    play_all([resumed])
    assert capsys.readouterr().out.startswith("9x9, programs: 1 of 4 games; in all 29 of ")
    assert all(stage.over for stage in resumed.stages())
    again = simulated(9, 20)
    play_all([again])
    assert again.games == resumed.games
    assert capsys.readouterr().out == f"in all {len(again.games):,} of {len(again.games):,} games\n"
    show([again])
    tables = (tmp_path / "ranks tiny.toml").read_text(), (tmp_path / "ranks tiny.md").read_text()
    said = capsys.readouterr().out
    assert all(text in said for text in tables)
    calibrated = again.calibrated()
    assert calibrated
    assert read_ranks(tmp_path / "ranks tiny.toml") == {"tiny": {9: calibrated.strengths}}
    assert "GNU Go alone fixes the scale: it is 8k by 4 games" in tables[1]


@pytest.mark.usefixtures("few_points")
def test_a_table_has_the_strengths_behind_the_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_ladder, "PACHI_BOARD", 9)  # where games begin faster
    monkeypatch.setattr(rank_ladder, "FIRST_SHARE", 1)  # as many games against programs as between neighbours
    ladder = simulated(9, 100)
    for place in range(3):
        ladder.stages()[place].play()
    calibrated = ladder.calibrated()
    assert calibrated
    assert calibrated.scale.by_pins == pytest.approx((160, 12), abs=30)
    assert calibrated.scale.distance == 115
    steps = np.diff([true_elo(strength) for strength in calibrated.strengths.values()])
    assert steps == pytest.approx(115, abs=60)
    assert abs(steps.mean() - 115) < 10


@pytest.mark.parametrize("answer", player_rating.ANSWERS)
def test_an_opponent_that_follows_the_results_soon_has_the_players_rank(answer: str) -> None:
    found = {true: player_rating.simulate(true, player_rating.ANSWERS[answer], 200) for true in RANKS}
    assert [true for true, outcome in found.items() if not 0.4 <= outcome.later <= 0.6] == []
    assert [true for true, outcome in found.items() if outcome.near < 0.9] == []


def people(count: int, mistakes: float) -> people_ranks.Sample:
    """Players of 30k to 5d in turn, two games each, whose figures are lines over their ratings, with some chance."""
    random, sides = np.random.default_rng(1), []
    for number in range(count):
        rank = -30 + 35 * (number // 2) // (count // 2)
        rating = people_ranks.rating_of(rank) + random.normal(0, mistakes, 2)
        ratios, changes = np.full(60, np.exp(0.8 * rating[0] - 4)), np.exp(2 - 0.5 * rating[1])
        leads = changes * (np.arange(60) % 2)
        sides.append(people_ranks.Side(f"player {number // 2}", number // 4, rank, ratios, leads, np.ones(60)))
    return people_ranks.Sample(sides)


def test_the_fit_of_peoples_ranks_does_not_pull_the_ends_of_the_scale_to_its_middle() -> None:
    choice = people_ranks.Choice(0.0001, "changes", 20.0, "rating", True)
    exact = people(80, 0)
    assert people_ranks.left_out_estimates(choice, exact, exact.all) == pytest.approx(exact.ranks, abs=1e-6)
    sample = people(400, 0.5)
    errors = people_ranks.left_out_estimates(choice, sample, sample.all) - sample.ranks
    means = {name: errors[sample.groups == name].mean() for name in people_ranks.GROUPS}
    assert np.abs(errors).mean() > 3 and all(abs(mean) < 1 for mean in means.values()), means


def test_a_player_is_left_out_with_the_games_of_the_opponents() -> None:
    sample = people(8, 0)
    folds = list(sample.folds(sample.all))
    assert [(own.tolist().index(True), int(others.sum())) for own, others in folds] == [(0, 4), (2, 4), (4, 4), (6, 4)]
    assert all(not set(sample.games[own]) & set(sample.games[others]) for own, others in folds)


def test_the_scale_follows_its_games_from_the_anchor_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scale, "RESULTS", tmp_path / "scale.jsonl")
    elo = {player: 100.0 * (index - 1) for index, player in enumerate(scale.PLAYERS)}
    games: dict[tuple[scale.Player, scale.Player], list[float]] = {}
    here = list(scale.PLAYERS)
    for pair in itertools.pairwise(here):
        assert scale.next_pair(here, games) == pair  # neighbours meet first
        won = round(1000 * expected_score(elo[pair[0]] - elo[pair[1]]))
        games[pair] = [1.0] * won + [0.0] * (1000 - won)
    curve = scale.fitted(games)
    assert [curve.elo(scale.number(player)) for player in here] == pytest.approx(list(elo.values()), abs=10)
    far = here[0], here[1]
    games[far] = [1.0, 0.0] * 4
    assert scale.next_pair(here, games) == far  # the difference that is known least


def test_games_of_the_scale_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(scale, "RESULTS", tmp_path / "scale.jsonl")
    words = {0: ["resign"] * 20, 10: []}
    monkeypatch.setattr(scale, "gnugo", lambda level: shlex.join([sys.executable, SCRIPTED, *words[level]]))
    monkeypatch.setattr(sys, "argv", ["scale.py", "--games", "8", "--pachi", "no such program"])
    monkeypatch.setattr(scale, "find_network", lambda name: (_ for _ in ()).throw(UserError("not here")))
    scale.main()
    assert scale.kept(9) == {(("GNU Go", 0), ("GNU Go", 10)): [0.0] * 8}
    assert scale.kept(19) == {}
    assert "GNU Go level 10                                8       8  +0 (+0 to +0)" in capsys.readouterr().out


def test_games_with_a_handicap_are_played_with_and_without_the_advantage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"RESULTS": tmp_path / "games.jsonl", "SIZE": 9, "VISITS": 2}.items():
        monkeypatch.setattr(handicap_doubling, name, value)
    monkeypatch.setattr(sys, "argv", ["handicap_doubling.py", TINY, "--games", "1"])
    used = set()
    monkeypatch.setattr(
        handicap_doubling, "white_doublings", lambda game, per_point, last: used.add((per_point, last is None)) or 1.0
    )
    for _ in range(2):  # the second run has nothing left to play
        handicap_doubling.main()
        assert {cell: len(points) for cell, points in handicap_doubling.kept("tiny").items()} == dict.fromkeys(
            itertools.product((3, 5, 9), (0.0, 0.045)), 1
        )
    assert used == {(0.045, True), (0.045, False)}
    assert "9 stones: " in capsys.readouterr().out


def test_what_a_lead_is_worth_is_fitted_to_results() -> None:
    """Results drawn by known values lead back to them."""
    chance = np.random.default_rng(1)
    ranks, leads = chance.uniform(-30, 5, 4000), chance.normal(0, 40, 4000)
    rows = np.stack([ranks, np.ones(4000), leads, np.zeros(4000)], axis=1)
    upsets = lead_worth._upsets(rows, np.array([14.0, 0.05, 0.1]))
    rows[:, 3] = (leads > 0) != (chance.random(4000) < upsets)
    found = lead_worth.fit([rows])
    assert found == pytest.approx([14.0, 0.05, 0.1], abs=0.02, rel=0.2)
    assert len(list(lead_worth.calibration(rows, found))) == 5
