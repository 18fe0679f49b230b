"""Real games, one a line, where the archives are present: a sample of each is read and replayed."""

import zipfile
from pathlib import Path

import pytest

from gtp_engine.go.coords import BLACK, WHITE
from gtp_engine.go.sgf import read_sgf, read_sgf_games

SAMPLE = 10  # games a member, taken from all over it


@pytest.mark.parametrize("archive", ["pro19", "dan19", "small9"])
def test_games_of_an_archive_read_and_replay(shared: Path, archive: str, tmp_path: Path) -> None:
    path = shared / "games" / f"{archive}.zip"
    if not path.is_file():
        pytest.skip(f"no archive of games at {path}")
    file = tmp_path / "sample.sgfs"
    with zipfile.ZipFile(path) as members:
        for name in members.namelist():
            lines = members.read(name).splitlines()
            sample = lines[:: max(1, len(lines) // SAMPLE)]
            file.write_bytes(b"\n".join(sample))
            games = list(read_sgf_games(file))
            assert len(games) == len(sample)
            for game in games:
                position = game.to_game()
                assert len(position.moves) == len(game.moves) >= 15
                assert read_sgf(game.to_sgf().encode()).to_sgf() == game.to_sgf()
                assert {move.colour for move in game.moves} == {BLACK, WHITE}
