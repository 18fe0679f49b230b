"""Writing records, to texts and files."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from move_names import moves, points

from gtp_engine.game.coords import BLACK, PASS, WHITE
from gtp_engine.game.game import Game, Move
from gtp_engine.game.rules import Rules
from gtp_engine.sgf import GameRecord, RecordNode, read_sgf, write_sgf

SIZES = st.integers(1, 52)
# SGF keeps no control characters, and makes every blank one a space.
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="\ufeff"), max_size=20)
LINES = st.lists(TEXTS, max_size=3).map("\n".join)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    width, height = draw(SIZES), draw(SIZES)
    point = st.builds(lambda x, y: (y + 1) * (width + 1) + x + 1, st.integers(0, width - 1), st.integers(0, height - 1))
    colour = st.sampled_from((BLACK, WHITE))

    def node(move: st.SearchStrategy[Move | None]) -> RecordNode:
        stones = draw(st.lists(point, unique=True, max_size=5))
        first, second = sorted((draw(st.integers(0, 5)), draw(st.integers(0, 5))))
        return RecordNode(
            draw(move),
            tuple(stones[:first]),
            tuple(stones[first:second]),
            tuple(stones[second:]),
            draw(st.none() | colour),
            draw(LINES),
        )

    move = st.builds(Move, colour, point | st.just(PASS))
    return GameRecord(
        width,
        height,
        komi=draw(st.none() | st.integers(-4000, 4000).map(lambda quarters: quarters / 4)),
        handicap=draw(st.integers(0, 9)),
        time_limit=draw(st.none() | st.integers(0, 10**6).map(lambda tenths: tenths / 10)),
        texts=draw(st.dictionaries(st.sampled_from(("EV", "PC", "GN")), TEXTS.filter(bool))),
        nodes=[node(st.none()), *(node(st.none() | move) for _ in range(draw(st.integers(0, 4))))],
        **{
            name: draw(TEXTS) for name in ("rules", "black", "white", "black_rank", "result", "overtime", "application")
        },
    )


@settings(deadline=None)
@given(records())
def test_what_is_written_reads_the_same(record: GameRecord) -> None:
    assert read_sgf(record.to_sgf().encode()) == record


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_failures_of_the_disk_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> int:
        with open("/dev/full", "wb", buffering=0) as file:
            return file.write(data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*game\.sgf'"):
        write_sgf(GameRecord(), tmp_path / "game.sgf")
    assert os.listdir(tmp_path) == []


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nosuch/game\.sgf"):
        write_sgf(GameRecord(), tmp_path / "nosuch" / "game.sgf")


def test_only_records_are_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"invalid record .*: expected a GameRecord"):
        write_sgf(Game(9), tmp_path / "game.sgf")  # type: ignore[arg-type]


def test_annotations_and_variations_are_written() -> None:
    best = (RecordNode(Move(WHITE, points("C3")[0]), annotations={"TE": "1"}), RecordNode(Move(BLACK, points("D4")[0])))
    other = (RecordNode(Move(WHITE, points("G7")[0])),)
    nodes = [
        RecordNode(annotations={"V": "0.50"}),
        RecordNode(Move(BLACK, points("E5")[0]), annotations={"N": "a [good] one"}),
        RecordNode(Move(WHITE, points("A1")[0]), comment="bad", annotations={"DO": ""}, variations=(best, other)),
        RecordNode(Move(BLACK, points("B2")[0]), variations=(other,)),
        RecordNode(Move(WHITE, PASS)),
    ]
    text = GameRecord(9, 9, nodes=nodes).to_sgf().replace("\n", "")
    start = r"(;FF[4]CA[UTF-8]GM[1]SZ[9]V[0.50];B[ee]N[a [good\] one]"
    main = "(;C[bad]DO[]W[ai](;B[bh];W[])(;W[gc]))"
    assert text == f"{start}{main}(;TE[1]W[cg];B[df])(;W[gc]))"
    record = read_sgf(text.encode())
    assert moves(record) == "Bee Wai Bbh W"
    assert moves(read_sgf(text.encode(), variation=[1])) == "Bee Wcg Bdf"
