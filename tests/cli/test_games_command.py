"""`gtp_engine games`: the list, the figures, and the file for another computer."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from reviews import own_review

from gtp_engine.clients.cli import main
from gtp_engine.engine.ranks import Rank
from gtp_engine.study.stored_reviews import keep_review
from gtp_engine.table.database import Database
from gtp_engine.table.player_rating import KeptRating, first_rating


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's games."""
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GTP_ENGINE_GAMES", str(tmp_path / "games"))
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "games").mkdir()
    return tmp_path / "games"


def run(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["games", *map(str, arguments)], prog_name="gtp_engine")
    assert done.exit_code == code, done.output
    return done.output


def test_games_are_listed_with_results_reviews_and_figures(folder: Path) -> None:
    assert run() == "you have not played or reviewed a game yet\n"
    review = own_review()
    (folder / "mine.sgf").write_text(review.record.to_sgf())
    (folder / "more.sgf").write_text(review.record.to_sgf().replace("RE[W+2.5]", "").replace(";B[fd]", ""))
    keep_review(Database(), review, is_lesson=True)
    KeptRating(Database()).keep(first_rating(Rank(-11)).after(Rank(-11), 1.0))
    lines = run().splitlines()
    rows = {line.split()[-1]: line.split() for line in lines[1:3]}
    assert rows["mine"][1:] == ["9x9", "engine,", "12", "kyu", "3", "W+2.5", "lesson", "mine"]
    assert rows["more"][-2] == "unfinished"
    assert "on the engine's scale you are about 10k by 1 game, give or take 5 ranks" in lines
    assert lines[-4] == "points lost by mistakes in 1 reviewed game: 11.0"
    assert lines[-3] == "by the kind of mistake, where the reason is known:"
    assert [line.split() for line in lines[-2:]] == [
        ["moves", "without", "value", "7.0", "1", "mistake"],
        ["cuts", "4.0", "1", "mistake"],
    ]


def test_results_are_taken_to_another_computer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_review(Database(), own_review(), is_lesson=False)
    file = tmp_path / "mine.db"
    assert run("--export", file) == ""
    assert run("--export", file, code=1) == f"Error: {file} already exists; add --force to overwrite it\n"
    run("--export", file, "--force")
    monkeypatch.setenv("GTP_ENGINE_DATA", str(tmp_path / "elsewhere"))
    run("--import", file)
    assert "review" in run() and Database().path.parent == tmp_path / "elsewhere"
    (tmp_path / "text.db").write_text("text")
    assert "nothing was imported: " in run("--import", tmp_path / "text.db", code=1)


def test_a_database_of_another_kind_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gtp_engine.db").write_text("text " * 99)
    assert "Error: results and reviews are not saved: " in run(code=1)
