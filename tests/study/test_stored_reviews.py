"""Reviews in the database: found as they were, their mistakes as figures and as problems."""

import datetime
import zlib
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from reviews import D4, F6, G7, own_review

from gtp_engine.base.languages.texts import Phrase
from gtp_engine.go.coords import BLACK
from gtp_engine.go.sgf import read_sgf, read_sgf_games
from gtp_engine.study import move_review, stored_reviews
from gtp_engine.study.game_review import Reason
from gtp_engine.study.kept_problems import Card, KeptProblems, Missed
from gtp_engine.study.losses import find_losses, problems_of
from gtp_engine.study.page.page import review_page
from gtp_engine.study.problem_sgf import collection
from gtp_engine.study.problems import key_of, problem_of
from gtp_engine.study.review_data import to_json
from gtp_engine.study.review_sgf import annotated
from gtp_engine.study.stored_reviews import find_review, keep_review, kept_reviews
from gtp_engine.table.database import Change, Database
from gtp_engine.table.game_index import game_key, user_games


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path / "data.db")


def test_a_review_is_found_as_it_was(database: Database) -> None:
    review = own_review()
    keep_review(database, review, is_lesson=False)
    stored = find_review(database, game_key(review.record))
    assert stored is not None and not stored.is_lesson
    found = stored.review
    assert to_json([found]).replace("SGF data", "game.sgf") == to_json([review])
    assert found.reasons == review.reasons and found.moves[1].after.stones is not None
    assert found.moves[0].after is not found.moves[1].before and found.moves[2].before.moves[0].pv == (G7, F6)
    for made in (lambda each: review_page([each]), lambda each: annotated(each).to_sgf()):
        assert made(found).replace("SGF data", "game.sgf") == made(review)
    assert find_review(database, "another game") is None


def test_a_lesson_never_takes_the_place_of_a_review(database: Database) -> None:
    review = own_review()
    for is_lesson, kept in ((True, True), (False, False), (True, False)):
        keep_review(database, review, is_lesson=is_lesson)
        stored = find_review(database, game_key(review.record))
        assert stored is not None and stored.is_lesson is kept


@pytest.mark.parametrize("content", [b"", b"x", b"x\x9c+\xad\x05\x00\x01\xc9\x01\x0b", 7, "text"])
def test_a_review_that_cannot_be_read_is_none(database: Database, content: object) -> None:
    review = own_review()
    keep_review(database, review, is_lesson=False)
    database.change(Change("UPDATE reviews SET content = ?", (content,)))
    assert find_review(database, game_key(review.record)) is None and kept_reviews(database) == {}
    keep_review(database, review, is_lesson=True)
    stored = find_review(database, game_key(review.record))
    assert stored is not None and stored.is_lesson


def test_reviews_of_other_versions_are_read_once_to_know_whether_they_open(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first versions marked nothing; `other` is the form of one that read what this one cannot read."""
    review, read = own_review(), Mock(wraps=find_review)
    monkeypatch.setattr(stored_reviews, "find_review", read)
    key = game_key(review.record)
    keep_review(database, review, is_lesson=False)
    assert kept_reviews(database) == {key: "review"} and not read.called
    ((packed,),) = database.rows("SELECT content FROM reviews")
    bare, other = packed[9:], zlib.compress(b"[1]")
    for content, opens in ((bare, True), (b"0f0f0f0f-" + bare, True), (other, False), (b"0f0f0f0f+" + other, False)):
        database.change(Change("UPDATE reviews SET content = ?", (content,)))
        read.reset_mock()
        for _ in range(2):
            assert kept_reviews(database) == ({key: "review"} if opens else {})
            assert (find_review(database, key) is not None) is opens
        assert read.call_count == 1
        ((marked,),) = database.rows("SELECT content FROM reviews")
        assert marked[9:] == (bare if opens else other)


def test_what_was_found_out_about_kept_reviews_stays_if_the_program_ends_meanwhile(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    for komi in (6.5, 7.5):
        review = own_review()
        review.record.komi = komi
        keep_review(database, review, is_lesson=False)
    database.change(Change("UPDATE reviews SET content = substr(content, 10)"))  # as the first versions kept them
    monkeypatch.setattr(stored_reviews, "find_review", Mock(side_effect=(None, KeyboardInterrupt)))
    with pytest.raises(KeyboardInterrupt):
        kept_reviews(database)
    monkeypatch.undo()
    assert len(kept_reviews(database)) == 1


def test_a_reason_that_only_another_version_knows_is_left_out(database: Database) -> None:
    review = own_review()
    told = (Reason(Phrase("reason.gone", {}), (), frozenset()), *review.reasons[1])
    keep_review(database, replace(review, reasons={**review.reasons, 1: told}), is_lesson=False)
    stored = find_review(database, game_key(review.record))
    assert stored is not None and stored.review.reasons == review.reasons


def test_what_costs_points_is_added_up_for_the_users_own_moves(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_losses(database).games == 0
    keep_review(database, own_review(), is_lesson=False)
    keep_review(database, own_review(), is_lesson=False)  # a second review counts once
    losses = find_losses(database)
    assert (losses.games, losses.points, losses.phases) == (1, 11.0, []), "9x9 has no phases"
    assert losses.kinds == [("wasted", 7.0, 1), ("cut", 4.0, 1)]
    monkeypatch.setattr(move_review, "_LEAST_WITH_PHASES", 9)
    keep_review(database, own_review(), is_lesson=False)
    assert find_losses(database).phases == [("OPENING", "phase.opening", 11.0)]
    keep_review(database, own_review(black="Ann"), is_lesson=False)  # the same moves, but somebody else's
    assert find_losses(database).games == 0


@pytest.mark.usefixtures("phases_on_9x9")
def test_mistakes_become_problems(database: Database) -> None:
    keep_review(database, own_review(), is_lesson=False)
    assert [card.missed and card.missed.played for card in problems_of(database, "", "")] == ["F6", "E5"]
    assert problems_of(database, "ENDGAME", "") == []
    (card,) = problems_of(database, "OPENING", "cut")
    assert card.missed == Missed("E5", 4.0, ("D4", "F6"), "", 1, "2026-11-28") and card.name == ""
    (later,) = problems_of(database, "", "wasted")
    problem = problem_of(read_sgf(later.sgf.encode()), later.missed)
    assert [problem.game.vertex(move.point) for move in problem.game.moves] == ["E5", "D4"]
    assert problem.game.to_move == BLACK


def test_problems_are_given_away_with_the_group_and_the_right_line() -> None:
    sgf = "(;SZ[7]AB[ea][eb][ec][dc][cc][bc][ac]AW[da][db][cb][bb][ab];B[ad];W[dd])"
    own = Card("", sgf, Missed("A7", 12.0, ("B7", "A6"), "D7", 3, "2026-11-28"))
    given = collection([own, Card("1 2", "(;SZ[9]AW[aa]PL[W]C[theirs])")], "en")
    first, second = read_sgf_games(given.encode())
    assert second.root.comment == "theirs"
    assert first.root.comment == "Black to move · In the game A7 lost about 12 points: play better."
    shapes = first.marks(first.root).shapes
    assert {problem_of(first).game.vertex(point) for point in shapes} == {"A6", "B6", "C6", "D6", "D7"}
    assert [node.properties.keys() & {"TE", "BM"} for node in first.root.children] == [{"TE"}, {"BM"}]
    mine = problem_of(read_sgf(sgf.encode()), own.missed)
    assert key_of(problem_of(first).game) == key_of(mine.game)
    assert problem_of(first).missed == Missed("A7", 12.0, ("B7", "A6"), "D7")
    assert problem_of(second).missed is None


@pytest.mark.parametrize("line", [("B7", "A6"), ()])
def test_a_problem_given_away_tells_the_mistake(line: tuple[str, ...]) -> None:
    missed = Missed("A7", 2.5, line)
    given = collection([Card("", "(;SZ[7]AB[cc]AW[ee];B[ce];W[ec])", missed)], "ar")
    assert problem_of(read_sgf(given.encode())).missed == missed
    assert problem_of(read_sgf(given.replace("LOST[2.5]", "LOST[x]").encode())).missed is None


def test_a_problem_comes_again_after_twice_as_many_days(database: Database) -> None:
    day, kept = datetime.date(2026, 11, 25), KeptProblems(database)
    assert Card("solved at once").answered(True, day) == Card("solved at once", solved=1)
    card, waited = Card("one").answered(False, day), []
    for _ in range(5):
        due = datetime.date.fromisoformat(card.due)
        waited.append((due - day).days)
        assert card.answered(True, due - datetime.timedelta(1)) == replace(card, solved=card.solved + 1)
        card, day = card.answered(True, due), due
    assert waited == [1, 2, 4, 8, 16]
    assert card.answered(False, day).days == 1
    kept.keep("a", card)
    kept.keep("b", Card("two", missed=Missed("C3", 1.0, ("D4", "pass")), days=1, due="2020-01-01"))
    assert kept.card("a") == card and kept.card("c") is None
    assert [each.name for each in kept.coming()] == ["two", "one"] and [each.name for each in kept.due(day)] == ["two"]
    kept.forget("b")
    assert kept.card("b") is None


def test_the_users_games_are_those_played_and_those_reviewed(database: Database, tmp_path: Path) -> None:
    review, folder = own_review(), tmp_path / "games"
    folder.mkdir()
    (folder / "mine.sgf").write_text(review.record.to_sgf())
    (folder / "other.sgf").write_text("(;SZ[9]PB[Ann];B[ee])")  # not played here
    (folder / "broken.sgf").write_text("(;")
    keep_review(database, review, is_lesson=True)
    theirs = own_review(black="Ann")
    theirs.record.add(theirs.record.main_line[-1], move=theirs.record.moves[0]._replace(point=D4 + 1))
    keep_review(database, theirs, is_lesson=False)
    reviews = kept_reviews(database)
    mine, reviewed = sorted(user_games(database, folder, reviews), key=lambda game: not game.name)
    assert (mine.name, mine.review, mine.facts.own, mine.facts.opponent) == ("mine", "lesson", BLACK, "12k")
    assert (reviewed.name, reviewed.review, reviewed.facts.own) == ("", "review", 0)
    assert not mine.facts.is_unfinished and mine.facts.result == "W+2.5" and mine.facts.moves == 3
    (folder / "mine.sgf").write_text(review.record.to_sgf().replace("W+2.5", "B+10.5"))
    assert "B+10.5" in {game.facts.result for game in user_games(database, folder, reviews)}  # the file has changed
    (folder / "mine.sgf").unlink()
    found = user_games(database, folder, {reviewed.facts.key: "review"})
    assert [(game.name, game.review) for game in found] == [("", "review"), ("", "")]  # its review is still there
    assert len(database.rows("SELECT path FROM games")) == 2
