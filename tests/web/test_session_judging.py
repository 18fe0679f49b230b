"""What a session says about a person's moves that lose points."""

from pathlib import Path

import pytest
from web.conftest import NEW, RECORD, Desk

from gtp_engine.clients.web.values import JUDGED_VISITS, Value
from gtp_engine.engine.engine import Engine
from gtp_engine.go.coords import BLACK, WHITE


def test_a_move_that_loses_points_is_marked(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.wait()
    assert desk.published[-1]["loss"] is None
    values = desk.session.values
    desk.play("A1")
    desk.wait()
    line = desk.session.line
    assert len(desk.vertices) == 2 and len(line) == 3 and all(values.get(node) for node in line)
    values.set(line[0], Value(BLACK, 0.5, 2.0, JUDGED_VISITS, "C3"))
    values.set(line[1], Value(WHITE, 0.4, -1.5, JUDGED_VISITS, "C3"))
    desk.session.publish()
    assert desk.published[-1]["loss"] == {"move": "A1", "points": 3.5, "best": "C3", "canUndo": True}
    assert desk.published[-1]["drawn"]["labels"] == {"A1": "4"}
    desk.send("teach", on=False)
    assert desk.published[-1]["loss"] is None


def test_a_move_that_is_played_at_once_is_judged_too(desk: Desk) -> None:
    desk.send("teach", on=True)
    desk.play("A1")
    task = desk.session.task
    assert task is not None and task.kind == "judgement"
    desk.wait()
    before, after, _ = desk.session.line
    assert desk.session.values.is_judged(before) and desk.session.values.is_judged(after)
    desk.play("B1")
    desk.send("go", move=0)  # which leaves the judgement alone
    desk.wait()
    assert all(desk.session.values.is_judged(node) for node in desk.played.node.path[2:4])


def test_a_move_before_an_empty_node_is_judged(desk: Desk) -> None:
    desk.send("open", sgf="(;GM[1]SZ[9];B[ee];W[cc];)")  # undo leaves such a node beside a variation
    desk.send("teach", on=True)
    desk.wait()
    _, before, move, empty = desk.session.line
    assert desk.session.node is empty and all(desk.session.values.is_judged(node) for node in (before, move, empty))


@pytest.mark.parametrize("asked", ["hint", "score"])
def test_a_hint_only_delays_the_judgement(desk: Desk, asked: str) -> None:
    desk.send("new", **NEW | {"colour": "both"})
    desk.send("teach", on=True)
    desk.play("A1")
    task = desk.session.task
    assert task is not None and task.kind == "preparation"
    desk.send(asked)
    desk.wait()
    before, after = desk.session.line
    assert desk.session.shown == asked
    assert desk.session.values.is_judged(before) and desk.session.values.is_judged(after)


def test_undo_is_named_only_where_it_takes_the_losing_move_back(desk: Desk) -> None:
    def loses(point: str, *, can_undo: bool) -> bool:
        session = desk.session
        session.cancel()
        node = desk.searches.last_own_move
        assert node.parent is not None
        after = -3.0 if node.move and node.move.colour == BLACK else 3.0
        for each, lead in ((node.parent, 0.0), (node, after)):
            session.values.set(each, Value(session.to_move(each), 0.5, lead, JUDGED_VISITS, "C4"))
        session.publish()
        loss = desk.published[-1]["loss"]
        return bool((loss["move"], loss["canUndo"]) == (point, can_undo))

    for point in ("A1", "B5"):
        desk.play(point)
        desk.wait()
    desk.send("teach", on=True)
    desk.wait()
    assert loses("B5", can_undo=True)
    desk.send("comment", text="mine")
    assert loses("B5", can_undo=False)
    desk.send("undo")
    desk.send("go", move=1)
    assert loses("A1", can_undo=False)
    desk.send("open", sgf=RECORD)
    assert loses("G7", can_undo=False)
    desk.play("G3")
    assert loses("G3", can_undo=True)
    desk.send("go", move=3)
    assert loses("G7", can_undo=False)


def test_a_judgement_that_is_cut_short_does_not_keep_the_engine_from_moving(engine: Engine, tmp_path: Path) -> None:
    desk = Desk(engine, tmp_path)
    desk.wait(engine.ready.done)
    desk.send("teach", on=True)
    desk.play("C3")
    desk.send("stop")
    desk.wait(lambda: len(desk.vertices) == 2)
