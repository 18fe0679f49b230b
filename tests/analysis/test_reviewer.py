"""The review of a game as a Python program asks for it."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gtp_engine.analysis.game_review import GameReview
from gtp_engine.analysis.review_drawing import move_svg
from gtp_engine.analysis.reviewer import review
from gtp_engine.base.errors import UserError
from gtp_engine.game.game import Game
from gtp_engine.play.settings import EngineSettings
from gtp_engine.sgf import GameRecord, SgfError, read_sgf, write_sgf

SETTINGS = EngineSettings("uniform", visits=8, threads=1, seed=1)
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
    assert reviewed.winrates[1:] == [move.winrate for move in reviewed.moves]
    assert reviewed.moves[0].before.visits == 8


def test_records_and_files_are_reviewed_as_games_are(game: Game, reviewed: GameReview, tmp_path: Path) -> None:
    write_sgf(GameRecord.from_game(game), tmp_path / "game.sgf")
    for source in (GameRecord.from_game(game), tmp_path / "game.sgf", str(tmp_path / "game.sgf")):
        assert review(source, SETTINGS).winrates == reviewed.winrates


def test_the_commented_record_can_be_saved(reviewed: GameReview, tmp_path: Path) -> None:
    write_sgf(reviewed.to_record(), tmp_path / "reviewed.sgf")
    again = read_sgf(tmp_path / "reviewed.sgf")
    assert all("Black's win rate" in node.comment for node in again.nodes[1:])


def test_the_worst_mistakes_are_described_and_drawn(reviewed: GameReview) -> None:
    assert repr(reviewed).startswith("<GameReview: 4 moves")
    drawings = re.findall(r"<svg.*?</svg>", reviewed._repr_html_(), re.DOTALL)
    assert len(drawings) == min(3, len(reviewed.mistakes))
    for move in reviewed.moves:
        root = ElementTree.fromstring(move_svg(move))
        stones = [len(g[0]) for g in root.iter() if g.get("class") in ("black", "white")]
        assert stones == [[1, 0], [1, 1], [1, 1], [1, 2]][move.number - 1]


def test_rules_and_komi_override_the_records(game: Game) -> None:
    rollouts = EngineSettings("none", visits=8, threads=1, seed=1)
    own, other = review(game, rollouts), review(game, rollouts, rules="japanese", komi=20)
    assert all(lead > after + 5 for lead, after in zip(own.leads, other.leads, strict=True))


def test_wrong_arguments_are_refused_before_the_search(game: Game, tmp_path: Path) -> None:
    for source, options in (
        (5, {}),
        (game, {"settings": "none"}),
        (game, {"rules": "go"}),
        (game, {"komi": "7"}),
    ):
        with pytest.raises(UserError, match=r"invalid|unknown"):
            review(source, **options)
    with pytest.raises(FileNotFoundError):
        review(tmp_path / "nosuch.sgf")
    (tmp_path / "bad.sgf").write_text("(;SZ[5];B[bb];W[bb])")
    with pytest.raises(SgfError, match="move 2"):
        review(tmp_path / "bad.sgf", SETTINGS)
