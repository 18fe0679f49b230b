"""Openings: varied, repeatable, away from the edge, or from game records."""

from itertools import islice
from pathlib import Path

import pytest

from gtp_engine.arena.match_settings import MatchSettings
from gtp_engine.arena.openings import Opening, Openings, choose_openings, random_openings, sgf_openings
from gtp_engine.base.errors import UserError
from gtp_engine.go.coords import BLACK, WHITE, parse_vertex, xy
from gtp_engine.go.game import Move


def drawn(count: int, moves: int = 2, side: int = 9, seed: int = 1) -> list[Opening]:
    return list(islice(random_openings(side, side, moves, seed), count))


def test_random_openings_repeat_by_seed_differ_and_leave_two_lines_free() -> None:
    openings = drawn(50)
    assert openings == drawn(50) != drawn(50, seed=2)
    assert len(set(openings)) == 50
    for opening in openings:
        assert [move.colour for move in opening] == [BLACK, WHITE]
        assert all(2 <= coordinate <= 6 for move in opening for coordinate in xy(move.point, 9))


def test_no_opening_is_another_one_turned() -> None:
    # One stone on the inner 5x5 points has six places up to symmetry.
    placed = [xy(opening[0].point, 9) for opening in drawn(6, moves=1)]
    distances = {tuple(sorted(abs(coordinate - 4) for coordinate in place)) for place in placed}
    assert len(distances) == 6


def test_openings_go_on_when_the_board_has_no_new_ones() -> None:
    assert len(drawn(10, moves=1, side=3)) == 10
    assert drawn(2, moves=0) == [(), ()]


def test_openings_of_a_file_start_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "a.sgf"
    file.write_text("(;SZ[9];B[ee])(;SZ[9];B[cc])")
    choose_openings(MatchSettings(openings=file, width=9, opening_moves=1, games=4))
    assert caplog.messages == []
    openings = choose_openings(MatchSettings(openings=file, width=9, opening_moves=1, games=5))
    assert "2 openings of 1 move for 3 pairs of games: they are repeated" in caplog.text
    first, second = sgf_openings(file, 9, 9, 1)
    assert [openings[number] for number in (2, 1, 0)] == [first, second, first]


def test_openings_are_found_when_they_are_asked_for() -> None:
    openings, expected = Openings(random_openings(9, 9, 2, seed=1)), drawn(6)
    assert [openings[number] for number in (3, 0, 5)] == [expected[3], expected[0], expected[5]]


def test_sgf_openings(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[9];B[ee];W[cc];B[gg])")
    (tmp_path / "b.sgf").write_text("(;GM[1]SZ[9];B[ee];W[cc];B[cg])")  # the same two moves
    (tmp_path / "c.sgf").write_text("(;GM[1]SZ[9]AB[cc];W[ee];B[gg])")  # set-up stones
    (tmp_path / "d.sgf").write_text("(;GM[1]SZ[19];B[pd];W[dd])")  # another size
    (tmp_path / "e.sgf").write_text("(;GM[1]SZ[9];B[ee];W[])")  # a pass
    (tmp_path / "f.sgf").write_text("no record")
    points = [parse_vertex(name, 9, 9) for name in ("E5", "C7")]
    assert sgf_openings(tmp_path, 9, 9, 2) == [(Move(BLACK, points[0]), Move(WHITE, points[1]))]
    assert len(sgf_openings(tmp_path / "a.sgf", 9, 9, 3)) == 1


def test_openings_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.sgf").write_text("(;GM[1]SZ[9];B[ee])")
    with pytest.raises(ValueError, match="no 9x9 game from the empty board with 2 moves"):
        sgf_openings(tmp_path, 9, 9, 2)
    (tmp_path / "b.sgf").write_text("no record")
    with pytest.raises(UserError, match=r"b\.sgf: no 9x9 game .*b\.sgf: no game record found\)$"):
        sgf_openings(tmp_path / "b.sgf", 9, 9, 2)


@pytest.mark.parametrize("bad", ["(;SZ[9];B[ee];W[zz])", "(;SZ[9];B[ee];W[ee])"])  # not read, not played
def test_a_bad_game_leaves_the_others_of_its_file(bad: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, content in (("a.sgf", f"{bad}(;SZ[9];B[ee];W[cc])"), ("a.sgfs", f"(;SZ[9];B[ee];W[cc])\n{bad}\n")):
        (tmp_path / name).write_text(content)
        for source in (tmp_path / name, tmp_path):
            caplog.clear()
            points = [[parse_vertex(vertex, 9, 9) for vertex in ("E5", "C7")]]
            assert [[move.point for move in opening] for opening in sgf_openings(source, 9, 9, 2)] == points
            assert len(caplog.messages) == 1 and caplog.messages[0].startswith(f"no opening from {tmp_path / name}, ")
        (tmp_path / name).unlink()


def test_the_first_bad_game_is_the_reason_if_none_is_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "a.sgf").write_text("(;SZ[19];B[pd];W[dd])(;SZ[9];B[ee];W[ee])(;SZ[9];B[ee];W[zz])")
    with pytest.raises(UserError, match=r"^[^(]*: no 9x9 game .* \(.*a\.sgf, game 2: .*\)$"):
        sgf_openings(tmp_path, 9, 9, 2)
    assert len(caplog.messages) == 1 and "a.sgf, game 3: " in caplog.messages[0]
