"""Real and made SGF files that break readers: each must read as the collection's index says, or be refused cleanly."""

import json
from pathlib import Path
from typing import Any

import pytest

from gtp_engine.go.coords import BLACK, PASS, WHITE, colour_letter, sgf_point
from gtp_engine.go.game import Move
from gtp_engine.go.sgf import GameRecord, SgfError, read_sgf
from gtp_engine.go.sgf.other_formats import SUFFIXES
from gtp_engine.go.sgf.syntax import parse_games

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "sgf-edge"
INDEX = FOLDER / "index.json"
# Those in formats other than SGF were to be refused when the index was made.
FOUND = json.loads(INDEX.read_text()) if INDEX.is_file() else []
ENTRIES = [entry for entry in FOUND if not entry["file"].endswith(SUFFIXES)]
# What the index leaves out: KO[黒6目半], which it does not know as a komi.
MORE = {"sgf-nihon-kiin.sgf": {"komi_value": 6.5}}

pytestmark = pytest.mark.skipif(not ENTRIES, reason="the collection of SGF files (../shared/sgf-edge) is not here")


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["file"] for entry in ENTRIES])
def test_file_reads_as_the_index_says(entry: dict[str, Any]) -> None:
    path = FOLDER / "files" / entry["file"]
    try:
        record = read_sgf(path)
    except SgfError as error:
        assert entry["verdict"] in ("error", "either"), error
        assert str(error).startswith(str(path)) and "\n" not in str(error)
        return
    assert entry["verdict"] in ("parse", "either")
    expect = entry["expect"] | MORE.get(entry["file"], {})
    check_moves(record, expect)
    check_facts(record, expect, names=not entry.get("names_need_not_match"))
    check_tree(path, expect)
    check_replay(record, expect)


def check_moves(record: GameRecord, expect: dict[str, Any]) -> None:
    assert (record.width, record.height) == (expect["width"], expect["height"])
    assert len(record.moves) == expect["main_line_moves"]
    assert sum(move.point == PASS for move in record.moves) == expect["passes"]
    for move, expected in ((record.moves[:1], expect["first_move"]), (record.moves[-1:], expect["last_move"])):
        assert [written(one, record) for one in move] == ([expected] if expected else [])
    stones = list(record.root.setup.values())
    assert (stones.count(BLACK), stones.count(WHITE)) == (expect["root_AB"], expect["root_AW"])
    set_up = [number for number, node in enumerate(record.main_line) if node.setup]
    first_move = next((number for number, node in enumerate(record.main_line) if node.move), len(record.main_line))
    assert any(number > first_move for number in set_up) == expect["setup_after_moves"]


def written(move: Move, record: GameRecord) -> str:
    return f"{colour_letter(move.colour)} {sgf_point(move.point, record.width, record.height) or 'pass'}"


def check_facts(record: GameRecord, expect: dict[str, Any], names: bool) -> None:
    assert record.handicap == int(expect["HA"] or 0)
    komi = expect.get("komi_value", expect["KM"])
    assert record.komi == (float(komi) if komi not in (None, "") else None)
    if names:
        assert (record.black, record.white) == (expect["black"] or "", expect["white"] or "")
        assert record.result == (expect["result"] or "")


def check_tree(path: Path, expect: dict[str, Any]) -> None:
    trees = [game.tree for game in parse_games(path.read_bytes())]
    assert expect["games"] in (len(trees), None)
    nodes = branchings = 0
    stack = trees[:1]
    while stack:
        tree = stack.pop()
        nodes += len(tree.sequence)
        branchings += len(tree.children) > 1
        stack += tree.children
    assert (nodes, branchings) == (expect["total_nodes"], expect["branch_points"])


def check_replay(record: GameRecord, expect: dict[str, Any]) -> None:
    if expect["replay_legal"]:
        stones = record.to_game().stones()
        if expect["stones_at_end"]:
            assert [(stones == BLACK).sum(), (stones == WHITE).sum()] == expect["stones_at_end"]
        return
    illegal = expect["first_illegal_move"]
    record.to_game(illegal - 1)
    with pytest.raises(SgfError, match=f"move {illegal}: illegal move"):
        record.to_game()
