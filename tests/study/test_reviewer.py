"""The review of a game as a Python program asks for it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from drawn_positions import game_of
from reviews import D4, E5, F6, G7, loss

from gtp_engine.base.errors import UserError
from gtp_engine.base.languages.texts import Phrase
from gtp_engine.engine.engine import Engine
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE, parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf, write_sgf
from gtp_engine.search.evaluate.evaluator import Evaluator
from gtp_engine.search.evaluate.factory import make_evaluator
from gtp_engine.search.evaluate.rollouts import UniformEvaluator
from gtp_engine.search.request import Limits
from gtp_engine.study import reviewer
from gtp_engine.study.budget import later_work
from gtp_engine.study.game_review import GameReview, Reason
from gtp_engine.study.move_review import LISTED, MoveReview
from gtp_engine.study.reasons.variation import LEAST_TOLD
from gtp_engine.study.review_sgf import annotated
from gtp_engine.study.reviewer import Reviewer, ReviewTask, review

SETTINGS = EngineSettings("uniform", visits=8, threads=1, seed=1)
TINY = str(Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz")
NAMES = "C3 D4 pass B2"


@pytest.fixture(scope="module")
def game() -> Game:
    game = Game(5, komi=0.5)
    for name in NAMES.split():
        game.play(game.to_move, name)
    return game


@pytest.fixture(scope="module")
def reviewed(game: Game) -> GameReview:
    return review(game, SETTINGS)


def test_every_move_is_reviewed(game: Game, reviewed: GameReview) -> None:
    assert [move.move for move in reviewed.moves] == game.moves
    assert len(reviewed.winrates) == len(reviewed.leads) == 5
    assert reviewed.moves[0].before.visits == 8


def test_records_and_files_are_reviewed_as_games_are(game: Game, reviewed: GameReview, tmp_path: Path) -> None:
    write_sgf(GameRecord.from_game(game), tmp_path / "game.sgf")
    for source in (GameRecord.from_game(game), tmp_path / "game.sgf", str(tmp_path / "game.sgf")):
        assert review(source, SETTINGS).winrates == reviewed.winrates


def test_the_commented_record_can_be_saved(reviewed: GameReview, tmp_path: Path) -> None:
    write_sgf(annotated(reviewed, comment_all=True), tmp_path / "reviewed.sgf")
    again = read_sgf(tmp_path / "reviewed.sgf")
    assert all("Black's win rate" in node.comment for node in again.main_line[1:])


def test_the_worst_mistakes_are_described_and_drawn(reviewed: GameReview) -> None:
    assert repr(reviewed).startswith("<GameReview: 4 moves")
    drawings = re.findall(r"<svg.*?</svg>", reviewed._repr_html_(), re.DOTALL)
    assert len(drawings) == min(3, len(reviewed.mistakes))
    for move in reviewed.moves:
        root = ElementTree.fromstring(move.to_svg())
        stones = [len(g.findall(".//{*}circle")) for g in root.iter() if g.get("class") in ("black", "white")]
        assert stones == [[1, 0], [1, 1], [1, 1], [1, 2]][move.number - 1]


def test_rules_and_komi_override_the_records(game: Game) -> None:
    rollouts = EngineSettings("none", visits=8, threads=1, seed=1)
    own, other = review(game, rollouts), review(game, rollouts, rules="japanese", komi=20)
    pairs = zip(own.moves, other.moves, strict=True)
    assert all(move.lead > after.lead + 5 for move, after in pairs)


def test_reasons_are_sought_for_the_mistakes_that_the_second_look_confirms() -> None:
    played = Game(5, komi=0.5)
    for name in ["C3", "D3", "C2", "D2", "A1", "C1", "A2", "B1", "C4", "D4", "pass", "C5"]:
        played.play(played.to_move, name)
    done = review(played, EngineSettings("none", visits=100, threads=1, seed=1))
    assert done.mistakes and all(mistake.worst.is_checked for mistake in done.mistakes)
    told = {mistake.worst.number for mistake in done.mistakes if mistake.worst.points_loss >= LEAST_TOLD}
    assert told and done.reasons.keys() >= told
    assert all(not reasons for number, reasons in done.reasons.items() if done.moves[number - 1].cost.lead < 0.5)
    assert done.reasons[11][0].text.startswith("It is too early to pass")


def test_a_review_grows_from_step_to_step(game: Game, reviewed: GameReview) -> None:
    reviewer = Reviewer(SETTINGS)
    steps = [*reviewer.steps(ReviewTask(GameRecord.from_game(game), range(2, 5), WHITE))]
    reviewer.close()
    assert list(dict.fromkeys(step.stage for step in steps)) == ["moves", "again", "reasons", "done"]
    assert [(step.done, step.total, len(step.review.moves)) for step in steps[:4]] == [(n, 3, n) for n in range(4)]
    assert not steps[3].review.is_checked and steps[-1].review.is_checked
    assert steps[-1].review.reasons.keys() >= {mistake.worst.number for mistake in steps[-1].review.mistakes}
    assert steps[-1].review.moves[0].move == game.moves[1] and steps[-1].review.player == WHITE


@pytest.mark.parametrize("seconds", [(0.1, 8.0), (8.0, 0.1)])
def test_the_forecast_is_that_of_the_faster_measurement(
    game: Game, seconds: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    measured, run_search = iter(seconds), reviewer.run_search
    monkeypatch.setattr(
        reviewer, "run_search", lambda *search: replace(run_search(*search), new_visits=100, seconds=next(measured))
    )
    first = next(Reviewer(SETTINGS).steps(ReviewTask(GameRecord.from_game(game))))
    assert first.expected == pytest.approx((5 + sum(later_work(5, LISTED))) * 8 / 1000, rel=0.01)


def test_a_review_ends_at_a_move_that_cannot_be_played_or_when_it_is_stopped() -> None:
    reviewer = Reviewer(SETTINGS)
    *_, last = reviewer.steps(ReviewTask(read_sgf(b"(;SZ[5];B[bb];W[bb];B[cc])")))
    assert (last.stage, len(last.review.moves)) == ("done", 1) and "move 2: illegal move" in last.error
    steps = reviewer.steps(ReviewTask(read_sgf(b"(;SZ[5];B[bb];W[cc])")))
    while next(steps).done == 0:
        pass
    reviewer.stopped = True
    *_, last = steps
    reviewer.close()
    assert (last.stage, last.error, last.review.is_checked) == ("stopped", "", False)
    assert last.review.conditions.notices[-1].name == "reviewStopped"


class ClosingEvaluator(UniformEvaluator):
    """An evaluator that knows whether it is closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


def test_the_evaluator_of_boards_too_large_for_the_network_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    rollouts = ClosingEvaluator(8)

    def make(*network: str, **options: Any) -> Evaluator:
        return make_evaluator(*network, **options) if network else rollouts

    monkeypatch.setattr("gtp_engine.engine.worker.make_evaluator", make)
    reviewer = Reviewer(EngineSettings(TINY, visits=2, threads=1, seed=1))
    *_, last = reviewer.steps(ReviewTask(read_sgf(b"(;SZ[21];B[aa])")))
    assert len(last.review.moves) == 1
    assert not rollouts.is_closed
    reviewer.close()
    assert rollouts.is_closed


def test_wrong_arguments_are_refused_before_the_search(game: Game, tmp_path: Path) -> None:
    for source, options in (
        (5, {}),
        (game, {"settings": "none"}),
        (game, {"rules": "go"}),
        (game, {"komi": "7"}),
        (game, {"settings": EngineSettings("uniform", visits=1)}),
    ):
        with pytest.raises(UserError, match=r"invalid|unknown"):
            review(source, **options)
    with pytest.raises(FileNotFoundError):
        review(tmp_path / "nosuch.sgf")
    with pytest.raises(SgfError, match=r"^game record: there are no moves to review$"):
        review(Game(5), SETTINGS)
    (tmp_path / "bad.sgf").write_text("(;SZ[5];B[bb];W[bb])")
    with pytest.raises(SgfError, match="move 2"):
        review(tmp_path / "bad.sgf", SETTINGS)


# White's two stones in the corner are dead, though it takes four moves to capture them.
AGREED = """
    . X . X O . O . .
    X X X X O O . O .
    . X . X O . O O O
    X . X X O O . O .
    . X . X O . O O O
    X X X X O O O . O
    . . X X O . O O .
    . O O X O . O . O
    . . . X O . O O .
"""


@pytest.mark.parametrize(
    ("rules", "passes", "dead"),
    [("chinese", 2, {"B2", "C2"}), ("aga", 3, {"B2", "C2"}), ("tromp-taylor", 2, set())],
)
def test_passes_that_end_a_game_are_no_mistakes_and_the_last_values_are_the_count(
    rules: str, passes: int, dead: set[str]
) -> None:
    game = game_of(AGREED, rules, komi=7.0)
    for _ in range(passes):
        game.play(game.to_move, "pass")
    found = review(game, EngineSettings("b4c32-9x9", visits=60, threads=1, seed=1))
    assert set(found.leads[2:]) == {game.score(dead).points}
    assert not any(move.points_loss for move in found.moves)
    assert found.mistakes == []


def test_an_analysis_values_a_pass_by_the_count_without_dead_stones() -> None:
    game = game_of(AGREED, komi=-12.0, to_move=WHITE)  # Black wins only without them
    game.play(WHITE, "pass")
    with Engine(EngineSettings("b4c32-9x9", threads=1, seed=1)) as engine:
        engine.load(game)
        report = engine.analyze(engine.request(limits=Limits(visits=100))).result()
    passing = next(move for move in report.moves if move.vertex == "pass")
    assert passing.lead == game.score({"B2", "C2"}).points > 0 > game.score().points
    assert report.winrate > 0.9


def test_mistakes_that_turn_out_to_be_the_same_ladder_make_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = [
        loss(1, BLACK, D4, E5, 8.0, 0.2),
        loss(2, WHITE, F6, F6, 0.0),
        loss(3, BLACK, G7, D4, 5.0, 0.2),
        loss(4, WHITE, E5, F6, 2.0, 0.1),
    ]
    looks = iter([[replace(move, is_checked=move.number != 4) for move in moves], None])
    asked, stone = list[list[int]](), parse_vertex("C3", 9, 9)

    def look_again(*arguments: Any) -> Iterator[list[MoveReview]]:
        known = next(looks) or [replace(move, is_checked=True) for move in arguments[2]]
        asked.append([move.number for move in known if move.is_checked])
        yield known

    def explain(_: object, __: object, move: MoveReview) -> tuple[Reason, ...]:
        name, stones = ("caught", {stone}) if move.move.colour == BLACK else ("runs", {stone})
        return (Reason(Phrase(f"reason.{name}"), (), frozenset(stones)),)

    monkeypatch.setattr(reviewer, "review_moves", lambda *_: iter(moves))
    monkeypatch.setattr(reviewer, "look_again", look_again)
    monkeypatch.setattr(reviewer, "explain", explain)
    short = Reviewer(SETTINGS)
    *_, last = short.steps(ReviewTask(read_sgf(b"(;SZ[9];B[df];W[fd];B[gc];W[ee])"), most=2))
    short.close()
    assert asked == [[1, 2, 3], [1, 2, 3, 4]]
    assert [(mistake.span, mistake.worst.number) for mistake in last.review.mistakes] == [("1-3", 1), ("4", 4)]
    assert [move.ladder for move in last.review.moves] == [{stone}, set(), {stone}, set()], "running is another mistake"
    assert [*last.review.reasons] == [1, 3, 4]
