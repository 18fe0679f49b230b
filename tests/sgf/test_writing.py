"""Writing records, to texts and files."""

import errno
import os
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtp_engine.go.coords import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.game import Game, Move
from gtp_engine.go.rules import Rules
from gtp_engine.go.sgf import GameRecord, read_sgf, write_sgf

SIZES = st.integers(1, 52)
# SGF keeps no control characters, and makes every blank one a space.
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"), max_size=20)
LINES = st.lists(TEXTS, max_size=3).map("\n".join)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    width, height = draw(SIZES), draw(SIZES)
    point = st.builds(lambda x, y: (y + 1) * (width + 1) + x + 1, st.integers(0, width - 1), st.integers(0, height - 1))
    colour = st.sampled_from((BLACK, WHITE))

    record = GameRecord(
        width,
        height,
        komi=draw(st.none() | st.integers(-4000, 4000).map(lambda quarters: quarters / 4)),
        handicap=draw(st.integers(0, 9)),
        time_limit=draw(st.none() | st.integers(0, 10**6).map(lambda tenths: tenths / 10)),
        **{
            name: draw(TEXTS) for name in ("rules", "black", "white", "black_rank", "result", "overtime", "application")
        },
    )
    node = record.root
    for number in range(draw(st.integers(1, 5))):
        setup = draw(st.dictionaries(point, st.sampled_from((BLACK, WHITE, EMPTY)), max_size=5))
        turn = draw(st.sampled_from(({}, {"PL": [b"B"]}, {"PL": [b"W"]})))
        properties = record.stone_values(Move(stone, at) for at, stone in setup.items()) | turn
        if number == 0:
            record.change(node, node.properties | properties)
        else:
            node = record.add(node, properties, move=draw(st.none() | st.builds(Move, colour, point | st.just(PASS))))
        node.comment = draw(LINES)
    return record


def facts(record: GameRecord) -> list[object]:
    names = ("komi", "handicap", "time_limit", "rules", "black", "white", "black_rank", "result", "overtime")
    nodes = [(node.move, node.setup, node.to_move, node.comment) for node in record]
    return [record.width, record.height, record.application, nodes, *(getattr(record, name) for name in names)]


@settings(deadline=None)
@given(records())
def test_what_is_written_reads_the_same(record: GameRecord) -> None:
    assert facts(read_sgf(record.to_sgf().encode())) == facts(record)


@pytest.mark.parametrize(
    ("komi", "text"),
    [
        (7.5, "7.5"),
        (-7, "-7"),
        (150, "150"),
        (7.25, "7.250"),
        (-0.75, "-0.750"),
        (200, "200.0"),
        (-1000, "-1000.0"),
        (210, "210"),
        (225.25, "225.250"),
        (0.125, "0.125"),
    ],
)
def test_a_komi_is_not_mistaken_for_hundredths_or_zi(komi: float, text: str) -> None:
    written = GameRecord.from_game(Game(9, komi=komi)).to_sgf()
    assert f"KM[{text}]" in written
    assert read_sgf(written.encode()).komi == komi


def test_rules_without_a_name_are_written_by_their_parts() -> None:
    rules = Rules("POSITIONAL", "TERRITORY", suicide=True)
    assert read_sgf(GameRecord.from_game(Game(9, rules=rules)).to_sgf().encode()).to_game().rules == rules


def test_file_is_written_whole_and_overwritten_unless_that_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    write_sgf(GameRecord(black="A"), file)
    with pytest.raises(FileExistsError, match=r"game\.sgf"):
        write_sgf(GameRecord(black="B"), file, overwrite=False)
    assert read_sgf(file).black == "A"
    write_sgf(GameRecord(black="B"), file)
    assert read_sgf(file).black == "B"
    assert os.listdir(tmp_path) == ["game.sgf"]


def test_failures_of_the_disk_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match=r"No space left on device: '.*game\.sgf'"):
        write_sgf(GameRecord(), tmp_path / "game.sgf")
    assert os.listdir(tmp_path) == []


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nosuch/game\.sgf"):
        write_sgf(GameRecord(), tmp_path / "nosuch" / "game.sgf")


def test_only_records_are_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"invalid record .*: expected a GameRecord"):
        write_sgf(Game(9), tmp_path / "game.sgf")  # type: ignore[arg-type]
