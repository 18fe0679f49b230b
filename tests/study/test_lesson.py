"""The lesson after a game and the reasons for its last moves, by a small network and in a few seconds."""

from collections.abc import Iterator

import pytest

from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK
from gtp_engine.go.game import Game
from gtp_engine.go.sgf import GameRecord, read_sgf
from gtp_engine.study import budget, lesson
from gtp_engine.study.game_review import GameReview
from gtp_engine.study.known_reports import KnownReports, position_key
from gtp_engine.study.lesson import MISTAKES, GameStudy, about_moves, after_game, worst_mistakes
from gtp_engine.study.reviewer import ReviewTask

SETTINGS = EngineSettings("b6c64-19x19", threads=1, rank="15k", visits=1)  # which are not those of a lesson


def played(moves: str) -> Game:
    game = Game(9)
    for name in moves.split():
        game.play(game.to_move, name)
    return game


def about(game: Game) -> ReviewTask:
    return ReviewTask(GameRecord.from_game(game))


def lesson_about(game: Game) -> GameStudy:
    return after_game(ReviewTask(GameRecord.from_game(game), player=BLACK), SETTINGS)


@pytest.fixture(scope="module", autouse=True)
def the_least_visits() -> Iterator[None]:
    """No time, so that the least visits are made: as many on a busy machine as on a quiet one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "FLOOR", 24)
        patch.setattr(lesson, "_WHY_SECONDS", 0.01)
        patch.setattr(lesson, "_SHARE", 0.001)
        yield


@pytest.fixture(scope="module")
def atari() -> Game:
    """Black gives four stones away, and White takes them."""
    return played("E5 E3 E4 D4 F4 F3 D5 C5 G4 G3 H4 H3 J1 D6 E6 F5 A9 D3")


def test_what_cost_a_player_most_is_told_with_reasons(atari: Game) -> None:
    review = lesson_about(atari).start().result()
    mistakes = worst_mistakes(review)
    weights = [mistake.worst.importance for mistake in mistakes]
    assert 0 < len(mistakes) <= MISTAKES and weights == sorted(weights, reverse=True)
    assert all(mistake.worst.is_checked and mistake.worst.move.colour == BLACK for mistake in mistakes)
    assert any(review.reasons[mistake.worst.number] for mistake in mistakes)
    assert not review.ranks and review.record.to_game(12).moves == atari.moves[:12]


@pytest.fixture(scope="module")
def known() -> KnownReports:
    return KnownReports()


@pytest.fixture(scope="module")
def last_moves(atari: Game, known: KnownReports) -> GameReview:
    return about_moves(about(atari), SETTINGS, known).start().result()


def test_the_last_moves_are_explained_whether_they_are_mistakes_or_not(last_moves: GameReview) -> None:
    assert [move.number for move in last_moves.moves] == [17, 18]
    assert worst_mistakes(last_moves)[0].worst.number == 17
    assert last_moves.reasons[17]


def test_any_move_is_explained_alone_and_as_with_the_last_ones(
    atari: Game, last_moves: GameReview, known: KnownReports
) -> None:
    earlier = about_moves(about(atari), SETTINGS, known, 17).start().result()
    assert [move.number for move in earlier.moves] == [17]
    assert worst_mistakes(earlier)[0].worst.points_loss == worst_mistakes(last_moves)[0].worst.points_loss
    assert earlier.reasons[17] == last_moves.reasons[17]
    assert [move.number for move in about_moves(about(atari), SETTINGS, known, 9).start().result().moves] == [9]


def test_a_mistake_has_the_same_figure_and_reasons_in_why_and_lesson(
    atari: Game, last_moves: GameReview, known: KnownReports
) -> None:
    task = ReviewTask(GameRecord.from_game(atari), range(17, 19), BLACK)
    lesson = after_game(task, SETTINGS, known).start().result()
    again, told = (each.mistakes[0].worst for each in (lesson, last_moves))
    assert (again.number, again.is_checked) == (17, True)
    assert (again.points_loss, again.better_line) == (told.points_loss, told.better_line)
    assert lesson.reasons[17] == last_moves.reasons[17]


def test_a_review_has_no_figures_from_fewer_visits_than_it_says_also_after_a_lesson(
    atari: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, task = KnownReports(), ReviewTask(GameRecord.from_game(atari), range(17, 19), BLACK)

    def looked(visits: int, shared: KnownReports) -> tuple[GameReview, list[int]]:
        monkeypatch.setattr(budget, "FLOOR", visits)
        found = GameStudy(task, SETTINGS, seconds=0.01, known=shared).start().result()
        reports = (report for move in found.moves for report in (move.before, move.after))
        return found, [report.visits for report in reports if report.ownership is not None]

    lesson, short = looked(4, known)
    review, longer = looked(64, known)
    assert min(short) == lesson.conditions.again == 32 and min(longer) == review.conditions.again == 512
    _, same = looked(4, known)
    assert same == longer, "what the review has found is told from then on"


def test_what_a_good_move_does_is_told_by_what_a_pass_would_cost() -> None:
    saving = about_moves(about(played("E5 E6 D6 D5 F6 A1 E7")), SETTINGS).start().result()
    assert all(mistake.worst.number == 6 for mistake in worst_mistakes(saving))
    texts = [reason.text for reason in saving.reasons[7]]
    assert texts and not any("too early" in text for text in texts)


def test_moves_are_counted_from_the_beginning_of_the_record_and_prisoners_too() -> None:
    """After stones have been set up a game has only the moves since then."""
    record = read_sgf(b"(;SZ[5]RU[Japanese]KM[0.5];B[ab];W[aa];B[ba];W[dd];AB[cc];B[cd];W[dc];B[ae];W[cb])")
    assert [len(record.to_game().moves), record.to_game().captures(BLACK)] == [4, 1]
    known = KnownReports()
    seventh = about_moves(ReviewTask(record), SETTINGS, known, 7).start().result()
    assert [move.vertex(move.move.point) for move in seventh.moves] == ["A1"]
    last = about_moves(ReviewTask(record), SETTINGS, known).start().result()
    assert [move.number for move in last.moves] == [7, 8]
    without = GameRecord.from_game(record.to_game())  # the prisoner is lost
    assert position_key(without.to_game()) != position_key(record.to_game())


def test_a_lesson_that_is_stopped_tells_nothing(atari: Game) -> None:
    stopped = lesson_about(atari)
    stopped.stop()
    review = stopped.start().result()
    assert not review.is_checked and worst_mistakes(review) == []
