"""Distillation: labels are the outputs of the teacher, for positions from records and from walks that leave them."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from making import Kept, random_game, sample_game
from reference_outputs import predict

from gtp_engine.base.errors import UserError
from gtp_engine.base.files import folder_lock
from gtp_engine.go.coords import BLACK, EMPTY, WHITE, point_of_index
from gtp_engine.go.game import Game
from gtp_engine.go.rules import RULESETS
from gtp_engine.nets.library import load_network
from gtp_engine.nets.model import Model, ModelOutputs
from gtp_engine.nets.stored import RawOutputs
from gtp_engine.search.evaluate.features import new_workspace, position_of
from gtp_engine.search.evaluate.network_evaluator import NetworkEvaluator
from gtp_engine.search.evaluate.row import EvaluationRow
from gtp_engine.training.data.loader import Samples
from gtp_engine.training.data.samples import INDEX_BITS, WHITE_BIT, GameSet, join, pack, rule_codes
from gtp_engine.training.data.shards import read_shard, shard_files
from gtp_engine.training.distillation import labels as labelling
from gtp_engine.training.distillation import teacher as teaching
from gtp_engine.training.distillation.labels import Task, check_labels, facts_of, make_labels, shard_of, tasks_for
from gtp_engine.training.distillation.teacher import PlayedWalk, Walk, drawn_move, label_of, policy_moves
from gtp_engine.training.losses import distances, losses, total
from gtp_engine.training.progress import Limit, Stopped
from gtp_engine.training.run_settings import LossWeights, MachineSettings, RecordSettings, RunSettings

NETWORKS = Path(__file__).parents[1] / "data" / "networks"
TINY = NETWORKS / "tiny.bin.gz"


def records_of(*sources: Path, teacher: Path = TINY, **others: Any) -> RecordSettings:
    return RecordSettings(teacher=str(teacher), games=list(map(str, sources)), **({"least_moves": 5} | others))


def run(folder: Path, sources: Sequence[Path], tasks: Sequence[Task], limit: Limit | None = None) -> tuple[bool, Kept]:
    observer = Kept()
    settings = RunSettings(records=records_of(*sources), machine=MachineSettings(device="cpu", threads=1))
    try:
        make_labels(settings, folder, tasks, observer, limit or Limit())
    except Stopped:
        return False, observer
    return True, observer


def made(observer: Kept) -> list[str]:
    """Returns the names of the shards that were made."""
    return [text.split(":")[0] for text in observer.messages if " labels, " in text]


class SoonStopped(Limit):
    """It is stopped, as by Ctrl-C, once it has been asked 40 times."""

    calls = 40

    def is_stopped(self) -> bool:
        self.calls -= 1
        return self.calls < 0


class SoonOver(Limit):
    """Its minutes are over a moment after they begin."""

    def is_over(self) -> bool:
        return True


def contents(folder: Path) -> dict[str, list[bytes]]:
    return {path.name: [column.tobytes() for column in read_shard(path)] for path in shard_files(folder)}


def game_of(games: GameSet, number: int) -> Game:
    """The game that leads to a labelled position."""
    record = games.games[number]
    width, height = int(record["width"]), int(record["height"])
    rules = next(rules for rules in RULESETS.values() if all(record[n] == v for n, v in rule_codes(rules).items()))
    game = Game(width, height, rules=rules, komi=float(record["komi"]))
    for packed in games.moves_of(number)[:-1]:
        colour = WHITE if packed & WHITE_BIT else BLACK
        game.play(colour, point_of_index(int(packed & INDEX_BITS), width, height))
    game.set_komi(game.komi - game.handicap_bonus)  # which the label's komi includes
    return game


def test_labels_are_the_outputs_of_the_network(records: Path, tmp_path: Path, small_tasks: None) -> None:
    """For the position under one of its symmetries, as exactly as labels are stored."""
    assert run(tmp_path, [records], [Task(5, 5, 1), Task(7, 7, 1)])[0]
    evaluator = NetworkEvaluator(TINY, device="cpu")
    workspace = new_workspace()
    for task in (Task(5, 5, 1), Task(7, 7, 1)):
        games = read_shard(shard_of(tmp_path, task))
        batch = Samples(games).batch(np.arange(games.game_count), np.zeros(games.game_count))
        assert len(games.samples()) == games.game_count > 20
        for number in range(games.game_count):
            position = position_of(game_of(games, number), workspace)
            outputs = [evaluator.evaluate(position, symmetry) for symmetry in range(8)]
            found = [
                torch.cat((batch.value[number], batch.score[number, None], batch.lead[number, None])),
                batch.policy[number],
                batch.ownership[number],
            ]
            values = [
                torch.tensor([*e.value, e.score_mean / (1 - e.value[2]), e.lead / (1 - e.value[2])]) for e in outputs
            ]
            assert any(
                torch.allclose(found[0], value, atol=2e-3)
                and (found[1] - torch.from_numpy(each.policy)).abs().sum() < 0.02
                and torch.allclose(found[2], torch.from_numpy(each.ownership), atol=0.5 / 127 + 1e-3)
                for each, value in zip(outputs, values, strict=True)
            ), f"{task.name}, label {number}"


def test_walks_leave_the_records_and_vary_komi_and_rules(records: Path, tmp_path: Path, small_tasks: None) -> None:
    run(tmp_path, [records], [Task(5, 5, number) for number in range(4)])
    games = labelling.read_labels(tmp_path, pytest.fail)
    numbers, counts = np.unique(games.games["number"], return_counts=True)
    read = join([read_shard(path) for path in shard_files(tmp_path / labelling.GAMES)])
    known = {number: read.moves_of(place) for place, number in enumerate(read.games["number"].tolist())}
    assert set(numbers.tolist()) <= known.keys() and counts.max() > 1
    strayed = [
        not np.array_equal(known[int(record["number"])][: len(moves) - 1], moves[:-1])
        for record, moves in zip(games.games, map(games.moves_of, range(games.game_count)), strict=True)
    ]
    assert 0.1 < np.mean(strayed) < 0.9
    assert len(np.unique(games.games["komi"])) > 20
    assert len(np.unique(games.games[["ko_rule", "scoring", "tax", "suicide", "has_button"]])) > 4


def proceed(walk: Walk, value: np.ndarray, lead: float) -> None:
    """Continues a walk as if its position were evaluated so, with any move as likely as another."""
    legal = walk.game.legal_moves().astype(np.float32)
    walk.proceed(cast(EvaluationRow, SimpleNamespace(policy=legal / legal.sum(), value=value, lead=lead)))


def test_komi_does_not_give_the_score_away() -> None:
    """A student that mostly saw even positions would take the komi for the score on the board."""
    games = pack([sample_game(random_game(seed, 9, moves=60)) for seed in range(10)])
    even = np.array([0.5, 0.5, 0], np.float32)
    found = []
    for seed in range(300):
        record = teaching.RecordWalk(games, seed % 10, np.random.default_rng(seed))
        for walk in (record, PlayedWalk(9, 9, seed, np.random.default_rng(seed))):
            on_board = 20 * walk.random.normal()  # Black's points without komi, the same for each position of a walk
            while not walk.is_over and len(walk.game.moves) < 60:
                komi = walk.game.komi + walk.game.handicap_bonus
                found.append((on_board, komi))
                lead = (on_board - komi) * (1 if walk.game.to_move == BLACK else -1)
                proceed(walk, even, lead)
    on_boards, komis = np.transpose(found)
    assert np.corrcoef(on_boards, komis)[0, 1] < 0.6  # 0.96 with a komi that is always near that of an even position
    assert np.std(komis) > 3


def test_a_record_with_a_suicide_ends_the_walk_under_other_rules() -> None:
    game = Game(5, rules=RULESETS["tromp-taylor"])
    for number, point in enumerate(("A2", "A1", "B2", "E5", "C1", "B1", "D5", "D4")):  # B1 is a suicide
        game.play("bw"[number % 2], point)
    assert game.stone_at("A1") == EMPTY
    games = pack([sample_game(game)])
    for seed in range(20):
        walk = teaching.RecordWalk(games, 0, np.random.default_rng(seed))
        while not walk.is_over:
            proceed(walk, np.array([0.5, 0.5, 0], np.float32), 0.0)


def test_a_stopped_run_resumes_to_the_same_labels(records: Path, tmp_path: Path, small_tasks: None) -> None:
    tasks = tasks_for(300, {(5, 5): 1, (4, 4): 1})
    assert run(tmp_path / "whole", [records], tasks)[0]
    done, observer = run(tmp_path / "pieces", [records], tasks, SoonStopped())
    assert not done and 0 < len(made(observer)) < len(tasks)
    kept = contents(tmp_path / "pieces")
    assert kept.keys() == {f"{name}.shard" for name in made(observer)}
    done, later = run(tmp_path / "pieces", [records], tasks)
    assert done and len(made(later)) == len(tasks) - len(made(observer))
    assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")


def test_only_one_program_makes_labels_in_a_folder(records: Path, tmp_path: Path, small_tasks: None) -> None:
    with folder_lock(tmp_path), pytest.raises(UserError, match="another program is using this folder"):
        run(tmp_path, [records], tasks_for(120, {(5, 5): 1}))


def test_each_short_piece_makes_a_shard(records: Path, tmp_path: Path, small_tasks: None) -> None:
    """Else `--minutes` shorter than a shard would never get anywhere."""
    tasks = tasks_for(120, {(5, 5): 1})
    for task in tasks:
        done, observer = run(tmp_path, [records], tasks, SoonOver())
        assert made(observer) == [task.name]
    assert done


def test_a_damaged_shard_is_named_and_made_again(records: Path, tmp_path: Path, small_tasks: None) -> None:
    tasks = tasks_for(120, {(5, 5): 1})
    run(tmp_path, [records], tasks)
    before, damaged = contents(tmp_path), shard_of(tmp_path, tasks[1])
    damaged.write_bytes(damaged.read_bytes()[:-7])
    done, observer = run(tmp_path, [records], tasks)
    assert done and made(observer) == [tasks[1].name]
    assert len(observer.errors) == 1
    assert observer.errors[0].startswith(f"{damaged}: not a shard, or cut short") and "made again" in observer.errors[0]
    assert contents(tmp_path) == before


def test_what_a_killed_program_left_is_no_shard(records: Path, tmp_path: Path, small_tasks: None) -> None:
    folder = tmp_path / "labels"
    folder.mkdir()
    left = folder / ".5x5-00000.12345.tmp.shard"
    left.write_bytes(b"half")  # it does not make the folder one of other shards
    os.utime(left, (0, 0))
    assert run(folder, [records], tasks_for(120, {(5, 5): 1}))[0]
    assert not list(folder.glob(".*"))
    (folder / ".5x5-00001.12345.tmp.shard").write_bytes(shard_of(folder, Task(5, 5, 1)).read_bytes())
    (folder / ".5x5-00002.12345.tmp.shard").write_bytes(b"half")
    games = labelling.read_labels(folder, pytest.fail)
    assert games.game_count == sum(read_shard(shard_of(folder, Task(5, 5, number))).game_count for number in (0, 1))


def test_a_shard_that_vanishes_while_the_labels_are_read_is_left_out(
    records: Path, tmp_path: Path, small_tasks: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process found it damaged, and makes it again."""
    run(tmp_path, [records], tasks_for(120, {(5, 5): 1}))
    listed = shard_files(tmp_path)
    monkeypatch.setattr(labelling, "shard_files", lambda folder: [folder / "5x5-00002.shard", *listed])
    count = sum(read_shard(path).game_count for path in listed)
    assert len(listed) == 2 and labelling.read_labels(tmp_path, pytest.fail).game_count == count


def test_labels_that_are_there_already_do_not_count_as_time(records: Path, tmp_path: Path, small_tasks: None) -> None:
    class Restarted(Limit):
        times = 0

        def restart(self) -> None:
            self.times += 1
            super().restart()

    tasks, limit = tasks_for(120, {(5, 5): 1}), Restarted(1)
    run(tmp_path, [records], tasks)
    before = limit.times
    assert run(tmp_path, [records], tasks, limit)[0]
    assert limit.times == before + 1


def test_a_folder_belongs_to_one_teacher_to_records_and_a_seed(records: Path, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    before, other, namesake, moved = (tmp_path / name for name in ("a.bin.gz", "b.bin.gz", "c/a.bin.gz", "d.bin.gz"))
    namesake.parent.mkdir()
    for path, content in ((before, b"1"), (other, b"2"), (namesake, b"2"), (moved, b"1")):
        path.write_bytes(content)
    facts = facts_of(records_of(records, teacher=before))
    folder.mkdir()
    (folder / labelling.FACTS).write_text(json.dumps(facts))
    for same in (before, moved):
        check_labels(folder, facts_of(records_of(records, teacher=same)))
    for difference, changed in {
        "teacher = 'a', not 'b'": records_of(records, teacher=other),
        "checksum = '6b86b2.*', not 'd4735e.*'": records_of(records, teacher=namesake),
        "sources = .*": records_of(teacher=before),
        "least_moves = 5, not 6": records_of(records, teacher=before, least_moves=6),
        "seed = 1, not 2": records_of(records, teacher=before, seed=2),
    }.items():
        with pytest.raises(ValueError, match=f"contains labels with {difference}; choose another folder"):
            check_labels(folder, facts_of(changed))
    (folder / labelling.FACTS).write_text("{")
    with pytest.raises(ValueError, match=r"labels.json: damaged .*choose another folder"):
        check_labels(folder, facts)


def test_a_student_that_equals_its_teacher_has_nothing_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teaching, "KEPT_MASS", 1.0)
    model = Model.from_stored(load_network(TINY))
    game = Game(5, rules=RULESETS["tromp-taylor"], komi=3.5)  # every move is legal: none has a target of 0
    evaluator = NetworkEvaluator(TINY, device="cpu", precision="float32")
    rows = evaluator.collect(evaluator.submit(game.board, np.zeros(1, np.intp), np.zeros(1, np.intp)))
    label = label_of(game, EvaluationRow(rows[0], game.area), 1)
    batch = Samples(pack([label])).batch(np.zeros(1, np.intp), np.zeros(1))
    with torch.inference_mode():
        raw = model(batch.planes.float(), batch.scalars, full_board=True).raw
        off = {name: loss.of_row.item() for name, loss in distances(raw, batch, model.config).items()}
    assert off["off_policy"] < 1e-4 and off["off_winrate"] < 1e-4 and off["off_lead"] < 1e-3
    assert off["off_ownership"] < 0.5 / 127

    def gradients(shift: float) -> list[float]:
        tensors = [(tensor.clone() + shift * torch.linspace(0, 1, tensor.numel()).view_as(tensor)) for tensor in raw]
        for tensor in tensors:
            tensor.requires_grad_()
        found = losses(ModelOutputs(RawOutputs(*tensors), {}), batch, model.config)
        found.pop("errors", None)  # they are the student's own
        total(found, LossWeights()).backward()
        return [float(tensor.grad.abs().max()) for tensor in tensors if tensor.grad is not None]

    at_teacher, elsewhere = gradients(0.0), gradients(2.0)
    assert len(at_teacher) == 4
    assert all(small < 0.02 * large for small, large in zip(at_teacher, elsewhere, strict=True))
    found = predict(raw, model.config, torch.ones(1, 26, dtype=torch.bool), batch.scalars)
    stdev = (found.score_mean_square - found.score_mean**2).sqrt().item()
    assert stdev == pytest.approx(batch.stdev.item(), rel=0.02)


def test_policies_keep_what_counts() -> None:
    policy = np.array([0.001, 0.6, 0.0, 0.3, 0.097, 0.002], np.float32)
    assert policy_moves(policy).tolist() == [1, 3, 4]
    assert policy_moves(np.ones(4, np.float32) / 4).tolist() == [0, 1, 2, 3]


def test_moves_are_drawn_by_temperature() -> None:
    policy, random = np.array([0.0, 0.75, 0.25]), np.random.default_rng(1)

    def share(temperature: float) -> float:
        draws = [drawn_move(policy, temperature, random) for _ in range(2000)]
        assert 0 not in draws
        return draws.count(1) / len(draws)

    assert share(1.0) == pytest.approx(0.75, abs=0.04)
    assert share(np.inf) == pytest.approx(0.5, abs=0.04)
    assert share(0.5) == pytest.approx(0.9, abs=0.04)


def test_decided_positions_are_labelled_and_end_played_games() -> None:
    """Large leads are to be learned too, but not the long ends of decided games."""
    sure, lengths = np.array([0.9999, 0.0001, 0], np.float32), []
    for seed in range(200):
        walk = PlayedWalk(5, 5, seed, np.random.default_rng(seed))
        while not walk.is_over:
            proceed(walk, sure, 20.0)
        lengths.append(len(walk.game.moves))
    assert np.mean(lengths) == pytest.approx(1 / teaching.SURE_END, rel=0.25)


def test_any_beginning_of_the_tasks_is_a_mixture() -> None:
    tasks = tasks_for(100_000, labelling.BOARD_SIZES)
    assert len(tasks) == len(set(tasks)) and {task.width for task in tasks} == set(range(7, 20))
    half = [task.width for task in tasks[: len(tasks) // 2]]
    assert half.count(19) / len(half) == pytest.approx(40 / 84, abs=0.1)
    assert set(tasks) < set(tasks_for(200_000, labelling.BOARD_SIZES))
