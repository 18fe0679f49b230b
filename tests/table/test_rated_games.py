"""Games that count for the rating of the person who plays: the opponent, handicap stones, and what counts."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gtp_engine.engine.engine import Engine
from gtp_engine.engine.ranks import Rank
from gtp_engine.engine.settings import EngineSettings
from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.game import Game, initial_game
from gtp_engine.table.database import Database
from gtp_engine.table.played_game import PlayedGame
from gtp_engine.table.player_rating import KeptRating, PlayerRating
from gtp_engine.table.rated_games import RatedGames

RATING = PlayerRating(-1200.0, 70.0)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(EngineSettings(threads=1), width=9) as engine:
        yield engine


@pytest.fixture
def games(engine: Engine, tmp_path: Path) -> RatedGames:
    file = KeptRating(Database(tmp_path / "rating.db"))
    file.keep(RATING)
    return RatedGames(PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path), file)


def begin(games: RatedGames, game: Game, human: int = BLACK) -> PlayedGame:
    games.begin(game, frozenset((human,)))
    return games._played


def end(played: PlayedGame, moves: int, loser: int) -> None:
    """Ends a game after so many moves, in rows that capture nothing."""
    points = [f"{column}{row}" for row in (2, 4, 6) for column in "ABCDEFGHJ"]
    for name in points[:moves]:
        played.engine.play(played.game.to_move, name)
    played.resign(loser)


@pytest.mark.parametrize(("human", "loser", "sign"), [(BLACK, WHITE, 1), (BLACK, BLACK, -1), (WHITE, BLACK, 1)])
def test_a_result_counts_once_and_the_opponent_follows(games: RatedGames, human: int, loser: int, sign: int) -> None:
    played = begin(games, Game(9), human)
    assert played.engine.settings.rank == Rank(-12)
    end(played, 12, loser)
    assert played.file.path is not None and "13k" in played.file.path.name
    assert games.count() and not games.count()
    rating = KeptRating(games.file._database).rating
    assert rating is not None and rating.games == 1 and (rating.rating - RATING.rating) * sign > 0
    games.file.keep(replace(rating, rating=-500.0))
    assert begin(games, Game(9)).engine.settings.rank == Rank(-5) and games.counts


def test_what_says_nothing_about_the_rank_does_not_count(games: RatedGames) -> None:
    end(begin(games, Game(9)), 4, BLACK)  # given up at once
    assert not games.count()
    for game in (Game(9, komi=50), initial_game(9, 9, handicap=4, komi=None, rules="chinese")):
        end(begin(games, game), 12, BLACK)
        assert not games.count()
    assert games.file.rating == RATING


def test_a_game_whose_ranks_were_not_measured_does_not_count(games: RatedGames) -> None:
    for size in (21, 5, 15):  # rollouts play on the first two
        begin(games, Game(size))
        assert not games.counts and not games.is_measured
    begin(games, Game(9))
    assert games.counts and games.is_measured


def test_games_that_were_begun_otherwise_do_not_count(games: RatedGames) -> None:
    played = begin(games, Game(9))
    played.begin(Game(9), frozenset())  # of two programs, and of two people
    end(played, 12, BLACK)
    assert not games.count()
    played = begin(games, Game(9))
    played.begin(played.position(played.tree.root), played.humans)
    end(played, 12, BLACK)
    assert not games.count() and games.file.rating == RATING


def test_two_programs_count_their_games_in_one_rating(games: RatedGames, engine: Engine, tmp_path: Path) -> None:
    played = PlayedGame(engine, humans=frozenset((BLACK,)), folder=tmp_path)
    other = RatedGames(played, KeptRating(games.file._database))
    games.file.keep(replace(RATING, rating=-1100.0))
    assert begin(other, Game(9)).engine.settings.rank == Rank(-11)
    end(other._played, 12, BLACK)
    games.file.keep(replace(RATING, rating=-1000.0, games=5))
    games.file.keep(None)  # full strength is that program's choice
    assert other.count() and other.file.rating is not None and other.file.rating.games == 6
    found = KeptRating(games.file._database)
    assert found.rating == other.file.rating and found.is_asked
    games.file.follow()
    assert games.file.rating == found.rating


def test_a_position_stays_if_stones_were_given(games: RatedGames) -> None:
    games.file.keep(replace(RATING, rating=-2800.0))
    played = begin(games, Game(19))
    for vertex in ("C3", "R3"):
        played.engine.play(played.game.to_move, vertex)
    position = played.game.copy()
    assert begin(games, position).game.moves == position.moves and not games.counts
    assert begin(games, Game(19)).handicap == 4
    played = begin(games, initial_game(13, 13, handicap=4, komi=None, rules="chinese"))
    assert played.handicap == 0 and games.counts  # on another board nothing is given


def test_a_player_below_the_weakest_rank_takes_stones_on_19x19(games: RatedGames) -> None:
    games.file.keep(replace(RATING, rating=-2800.0))
    played = begin(games, Game(19))
    assert (played.engine.settings.rank, played.handicap, played.game.komi) == (Rank(-24), 4, 0.5) and games.counts
    games.file.keep(replace(RATING, rating=-2700.0))  # the same game again, with the stones of now
    played = begin(games, played.position(played.tree.root))
    assert played.handicap == 3 and games.counts
    games.file.keep(replace(RATING, rating=-1000.0))
    played = begin(games, played.position(played.tree.root))
    assert (played.handicap, played.game.komi) == (0, 7.5)
    games.file.keep(replace(RATING, rating=-2800.0))
    assert begin(games, Game(9)).handicap == 0  # what a stone is worth there has not been measured
