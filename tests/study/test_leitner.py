"""The boxes of problems that come again, and their file."""

import datetime
import json
from pathlib import Path

import pytest

from gtp_engine.base.errors import UserError
from gtp_engine.base.files import folder_lock
from gtp_engine.study.leitner import DAYS, Boxes, Card, Missed

TODAY = datetime.date(2026, 11, 25)
MISSED = Missed("C3", 4.5, ("D4", "pass"), "E5")


def test_a_problem_comes_again_later_each_time_until_it_is_known() -> None:
    card, day, waited = Card("one").answered(False, TODAY), TODAY, []
    while card.due:
        due = datetime.date.fromisoformat(card.due)
        waited.append((due - day).days)
        assert not card.is_due(due - datetime.timedelta(1)) and card.is_due(due + datetime.timedelta(3))
        card, day = card.answered(True, due), due
    assert tuple(waited) == DAYS and (card.box, card.right, card.wrong) == (0, len(DAYS), 1)


def test_only_a_problem_that_is_due_goes_on_and_a_failed_one_goes_back() -> None:
    card = Card("one", box=3, due="2026-11-28")
    early = card.answered(True, TODAY)
    assert (early.box, early.due, early.right) == (3, "2026-11-28", 1)
    assert card.answered(False, TODAY).due == "2026-11-26"
    assert Card("solved at once").answered(True, TODAY) == Card("solved at once", right=1)


def test_two_programs_keep_each_others_cards(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "problems.json"
    one, other = Boxes(path), Boxes(path)
    one.change("a", Card("first 白", "(;)", 1, "2026-11-26", missed=MISSED))
    other.change("b", Card("second"))
    one.change("c", Card("third"))
    one.change("b", None)
    assert other.cards == one.cards == Boxes(path).cards
    assert [*one.cards] == ["a", "c"] and one.cards["a"].missed == MISSED and one.notice == ""


@pytest.mark.parametrize(
    "content", ["", "[]", "nonsense", '{"version": 1}', '{"version": 1, "problems": [1]}', "[" * 9999]
)
def test_a_damaged_file_is_named_and_kept_aside(tmp_path: Path, content: str) -> None:
    path = tmp_path / "problems.json"
    path.write_text(content)
    boxes = Boxes(path)
    assert boxes.cards == {} and "problems.json is damaged" in boxes.notice and path.read_text() == content
    boxes.change("a", Card("one"))
    (aside,) = tmp_path.glob("problems-damaged-*.json")
    assert aside.read_text() == content and aside.name in boxes.notice and [*Boxes(path).cards] == ["a"]


def test_what_can_be_read_of_a_damaged_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "problems.json"
    Boxes(path).change("a", Card("one", missed=MISSED))
    document = json.loads(path.read_text())
    entries = document["problems"]
    entries |= {"b": {}, "c": 3, "d": entries["a"] | {"due": "soon"}, "e": entries["a"] | {"box": "2"}}
    entries["f"] = entries["a"] | {"missed": {"points": "x"}}
    path.write_text(json.dumps(document))
    boxes = Boxes(path)
    assert [*boxes.cards] == ["a"] and "1 of 6 problems in it can be read" in boxes.notice


def test_what_was_read_before_the_damage_is_not_lost(tmp_path: Path) -> None:
    boxes = Boxes(tmp_path / "problems.json")
    boxes.change("a", Card("one"))
    boxes.path.write_text("{")
    assert [*boxes.cards] == ["a"] and "nothing in it can be read" in boxes.notice
    boxes.change("b", Card("two"))
    assert [*Boxes(boxes.path).cards] == ["a", "b"]


def test_results_that_cannot_be_saved_wait(tmp_path: Path) -> None:
    path = tmp_path / "problems.json"
    path.write_text(newer := '{"version": 2, "problems": {}}')
    boxes = Boxes(path)
    with pytest.raises(UserError, match=r"another version of gtp_engine \(2, this one reads 1\).*update"):
        boxes.change("a", Card("one"))
    assert path.read_text() == newer
    path.unlink()
    with folder_lock(tmp_path, ".problems.lock"), pytest.raises(UserError, match="another program"):
        boxes.change("b", Card("two"))
    assert [*boxes.cards] == ["a", "b"] and not path.exists()
    boxes.save()
    assert [*Boxes(path).cards] == ["a", "b"]


def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    boxes = Boxes(tmp_path / "file" / "problems.json")
    with pytest.raises(OSError, match="file"):
        boxes.change("a", Card("one"))
