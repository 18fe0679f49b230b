"""An experiment: teach a network by a strong one, with all positions and labels in a GPU's memory.

    python examples/teach_on_gpu.py positions pieces/a.shard games.zip --records 20000 --seed 1
    python examples/teach_on_gpu.py positions pieces/b.shard --played 3000 --board-size 9 --seed 2
    python examples/teach_on_gpu.py teach pieces --student FILE --out new.bin.gz

`positions` runs on a CPU; several can run at once, with other seeds. It follows records of 19x19, or games that the
default network plays on a smaller board, as `gtp_engine learn --teacher` does, and writes positions without labels.
`teach` has the teacher, by default that network, label them in float16, one board size after the other, and then
teaches the student for the minutes that are left. Every batch has one board size; the blocks are compiled by torch. It
is made for transformers: the matrices of the blocks learn by Muon (Jordan 2024), everything else, convolutions too, by
AdamW. Score losses are linear from 3 points on. One game in 20 is held back: how far the student is from the teacher
there is printed before, now and then, and after. What is written is the average of the last networks.

`learn` resumes, checks its files and runs anywhere; this does none of that, and is two to three times as fast on a GPU.
"""

import argparse
import copy
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gtp_engine.clients.cli.run_display import RunDisplay
from gtp_engine.go.coords import PASS
from gtp_engine.go.game import Game, Move
from gtp_engine.nets.katago_file import write_katago_file
from gtp_engine.nets.library import default_network, find_network, load_network
from gtp_engine.nets.model import Model, prepare_for_inference
from gtp_engine.search.evaluate.choices import AUTO, LARGEST_BOARD, network_on
from gtp_engine.search.evaluate.row import EvaluationRow
from gtp_engine.training import losses
from gtp_engine.training.data.game_records import is_held
from gtp_engine.training.data.loader import Samples
from gtp_engine.training.data.rows import OPPONENT, OWNERSHIP, Batch
from gtp_engine.training.data.samples import UNKNOWN, GameSet, SampleGame, join, pack, pack_moves
from gtp_engine.training.data.sgf_dataset import read_sgf_dataset
from gtp_engine.training.data.shards import read_shards, shard_files, write_shard
from gtp_engine.training.distillation import teacher as walks
from gtp_engine.training.learner import playing_network
from gtp_engine.training.progress import Limit
from gtp_engine.training.run_settings import LossWeights, RecordSettings

COMPILED = (9, 13, 19)  # board sizes; on the others, which are rare, the blocks are not compiled
LABELLED = 1024  # positions in a batch of the teacher
LINEAR = 3.0  # points from which the score losses are linear
HELD = 2000  # positions of a board size to measure on
OWN, OPPONENTS, KO = 1, 2, 6  # planes on which no move is possible
STEPS_BETWEEN = 500  # two measurements
NOTHING = np.zeros(0, np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    positions = commands.add_parser("positions", help="write positions to label")
    positions.add_argument("shard", type=Path, help="the file to write")
    positions.add_argument("games", nargs="*", help="records, as for gtp_engine learn")
    positions.add_argument("--records", type=int, default=20_000, help="records (default: 20000)")
    positions.add_argument("--each", type=int, default=8, help="positions of a record (default: 8)")
    positions.add_argument("--played", type=int, default=1000, help="games to play without records (default: 1000)")
    positions.add_argument("--board-size", type=int, default=9, help="of these games (default: 9)")
    positions.add_argument("--seed", type=int, default=1)
    positions.set_defaults(run=write_positions)
    teach = commands.add_parser("teach", help="label the positions and teach a network")
    teach.add_argument("folder", type=Path, help="where the shards are")
    teach.add_argument("--teacher", default=AUTO, help="a file or a name (default: the default network)")
    teach.add_argument("--student", required=True, help="a file or a name: the network to begin with")
    teach.add_argument("--out", required=True, type=Path, help="the file to write")
    teach.add_argument("--minutes", type=float, default=8, help="for everything (default: 8)")
    teach.add_argument("--shares", default="19=60,9=24,13=12", help="percent of the batches by board size")
    teach.add_argument("--batch-size", type=int, default=2048, help="default: 2048")
    teach.add_argument("--learning-rate", type=float, default=2.8e-4, help="the highest one (default: 0.00028)")
    teach.add_argument("--warm-up", type=int, default=250, help="steps until then (default: 250)")
    teach.add_argument("--drop", type=float, default=0.45, help="share of the time in which it falls (default: 0.45)")
    teach.add_argument("--average", type=int, default=400_000, help="samples to average over (default: 400000)")
    teach.add_argument("--threads", type=int, default=8, help="that prepare positions (default: 8)")
    teach.add_argument("--device", default="cuda")
    teach.set_defaults(run=lambda options: Lesson(options).run())
    options = parser.parse_args()
    options.run(options)


def write_positions(options: argparse.Namespace) -> None:
    """Writes the positions of records, or of games that are played, as games that end with them."""
    options.shard.parent.mkdir(parents=True, exist_ok=True)  # before hours of work, not after
    if options.games:
        walks.RECORD_POSITIONS = options.each
        found = list(positions_of_records(options))
    else:
        found = list(positions_of_played_games(options))
    write_shard(pack(found), options.shard)
    print(f"{len(found):,} positions in {options.shard}")


def positions_of_records(options: argparse.Namespace) -> Iterator[SampleGame]:
    settings = RecordSettings(games=options.games, board_sizes=["19"])
    folder = options.shard.with_suffix(".records")
    with RunDisplay() as display:
        games = read_sgf_dataset(settings, folder, display, Limit(), with_ownership=False)
    random = np.random.default_rng(options.seed)
    for place in random.permutation(games.game_count)[: options.records].tolist():
        number = int(games.games["number"][place])
        walk = walks.RecordWalk(games, place, np.random.default_rng((options.seed, number)))
        while not walk.is_over:
            yield sample(walk.game, number)
            # Nobody has said yet what the position is worth: chance moves are drawn from all legal ones.
            legal = walk.game.legal_moves().astype(np.float32)
            walk.proceed(cast(EvaluationRow, SimpleNamespace(policy=legal, lead=0.0)))


def positions_of_played_games(options: argparse.Namespace) -> Iterator[SampleGame]:
    side = options.board_size
    network = default_network(side, side)
    if network is None:
        raise SystemExit(f"no bundled network plays on {side}x{side}")
    player = walks.load_teacher(network)
    random = np.random.default_rng((options.seed, side))
    numbers = random.integers(2**63, size=options.played).tolist()
    games = [walks.PlayedWalk(side, side, number, np.random.default_rng(number)) for number in numbers]
    for label in player.label(games, lambda: False) or []:
        yield replace(label, policies=(), ownership=NOTHING, judgement=NOTHING)


def sample(game: Game, number: int) -> SampleGame:
    """Returns a position as the end of a game, followed by a pass: a sample is the position before a move."""
    moves = pack_moves([*game.moves, Move(game.to_move, PASS)], game.width, game.height)
    weights = np.append(np.zeros(len(moves) - 1, np.float32), np.float32(1))
    return SampleGame.from_game(game, moves=moves, winner=UNKNOWN, number=number, weights=weights)


class Lesson:
    """A student, and the labelled positions on its device.

    Args:
        options: Those of `teach`.

    Attributes:
        taught, held: By board size the positions to learn and those held back, each as planes [n, h, w, 22] in bytes,
            scalars, policy [n, points + 1] in float16, six judgements [n, 6] (value, score, stdev, lead) and the
            ownership [n, points] in 1/127.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.began = options, time.monotonic()
        self.device = torch.device(options.device)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
        losses.SCORE_DELTA = losses.STDEV_DELTA = losses.LEAD_DELTA = LINEAR
        self.random = np.random.default_rng(1)
        self.taught: dict[int, list[Tensor]] = {}
        self.held: dict[int, list[Tensor]] = {}
        self.model = Model.from_stored(load_network(find_network(options.student))).to(self.device).train()
        self.average = copy.deepcopy(self.model).eval()
        self.steps = self.samples = 0

    @property
    def share(self) -> float:
        """The share of the time that is over."""
        return (time.monotonic() - self.began) / (60 * self.options.minutes)

    def run(self) -> None:
        self.label()
        self.measure()
        if self.device.type == "cuda":
            torch._dynamo.config.recompile_limit = 64
            for block in self.model.trunk.blocks:
                block.compile(dynamic=False)
        self.learn()
        student = playing_network(self.average).eval()
        write_katago_file(student.stored(), self.options.out)
        self.measure()

    def say(self, text: str) -> None:
        print(f"{time.monotonic() - self.began:6.0f} s  {text}", flush=True)

    @torch.inference_mode()
    def label(self) -> None:
        """Has the teacher label all positions."""
        network = load_network(find_network(network_on(self.options.teacher, LARGEST_BOARD, LARGEST_BOARD)))
        dtype = torch.float16 if self.device.type == "cuda" else torch.float32
        teacher = prepare_for_inference(network, dtype, self.device)
        games = join(list(read_shards(shard_files(self.options.folder), print)))
        for side in sorted(set(games.games["width"].tolist())):
            of_size = games.choose((games.games["width"] == side) & (games.games["height"] == side))
            held = is_held(of_size.games["number"])
            if held.all() or not held.any():
                self.say(f"{side}x{side}: left out, too few games to hold some back")
                continue
            self.held[side] = self._labelled(teacher, of_size.choose(held), HELD)
            self.taught[side] = self._labelled(teacher, of_size.choose(~held), None)
            counts = len(self.taught[side][0]), len(self.held[side][0])
            self.say(f"{side}x{side}: {counts[0]:,} positions to learn, {counts[1]:,} held back")

    def _labelled(self, teacher: Model, games: GameSet, most: int | None) -> list[Tensor]:
        samples = Samples(games)
        chosen = self.random.permutation(len(samples))[:most]
        chunks = np.array_split(chosen, -(-len(chosen) // LABELLED))
        symmetries = [self.random.integers(8, size=len(chunk)) for chunk in chunks]
        parts = []
        with ThreadPoolExecutor(self.options.threads) as pool:
            waiting = iter(zip(chunks, symmetries, strict=True))
            ready = [pool.submit(samples.batch, *pair) for pair in islice(waiting, 2 * self.options.threads)]
            while ready:
                batch = ready.pop(0).result()
                ready += [pool.submit(samples.batch, *pair) for pair in islice(waiting, 1)]
                parts.append(self._outputs(teacher, batch))
        return [torch.cat(column) for column in zip(*parts, strict=True)]

    def _outputs(self, teacher: Model, batch: Batch[Tensor]) -> tuple[Tensor, ...]:
        """Returns positions and the teacher's outputs for them, as in `taught`."""
        planes, scalars = batch.planes.to(self.device), batch.scalars.to(self.device)
        raw, multipliers = teacher(planes.float(), scalars, full_board=True).raw, teacher.config.multipliers
        taken = functional.pad((planes[:, [OWN, OPPONENTS, KO]] > 0).any(1).flatten(1), (0, 1))
        policy = raw.policy[:, 0].float().masked_fill(taken, -1e4).softmax(1)
        value = losses.value_logits(raw, batch._replace(scalars=scalars)).softmax(1)
        mean, stdev, lead = raw.scores.float()[:, :3].unbind(1)
        scores = (mean * multipliers.score_mean, functional.softplus(stdev) * multipliers.score_stdev)
        judged = torch.cat((value, torch.stack((*scores, lead * multipliers.lead), 1)), 1)
        owned = (127 * raw.ownership.float().tanh()).round().to(torch.int8)
        return planes.permute(0, 2, 3, 1).contiguous(), scalars, policy.half(), judged, owned

    def batch(self, positions: list[Tensor], chosen: Tensor, symmetry: int) -> Batch[Tensor]:
        """Returns some positions under a symmetry as the program learns them."""
        planes, scalars, policy, judged, owned = (column[chosen] for column in positions)
        side = planes.shape[1]
        boards = [planes.permute(0, 3, 1, 2), policy[:, :-1].float().unflatten(1, (1, side, side))]
        boards.append(owned.float().unflatten(1, (1, side, side)) / 127)
        for bit, transform in enumerate((lambda x: x.flip(2), lambda x: x.flip(3), lambda x: x.transpose(2, 3))):
            if symmetry >> bit & 1:
                boards = [transform(board) for board in boards]
        moves = torch.cat((boards[1].flatten(1), policy[:, -1:].float()), 1)
        weights = torch.ones(len(chosen), OWNERSHIP + 1, device=self.device)
        weights[:, OPPONENT] = 0
        boards[0] = boards[0].contiguous(memory_format=torch.channels_last)
        value, (score, stdev, lead), owned = judged[:, :3], judged[:, 3:].unbind(1), boards[2].flatten(1)
        later = value[:, None].expand(-1, 3, -1)  # no head learns it
        return Batch(boards[0], scalars, moves, moves, value, score, stdev, lead, owned, later, weights, True)

    def learn(self) -> None:
        """Learns until the time is over."""
        blocks = set(self.model.trunk.blocks.parameters())
        matrices = [each for each in self.model.parameters() if each in blocks and each.dim() == 2]
        others = [each for each in self.model.parameters() if each not in set(matrices)]
        rate = self.options.learning_rate
        optimizers: list[torch.optim.Optimizer] = [
            torch.optim.Muon(matrices, rate, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
            torch.optim.AdamW(others, rate, weight_decay=0.0, betas=(0.9, 0.99)),
        ]
        shares = dict(pair.split("=") for pair in self.options.shares.split(","))
        sizes = [side for side in self.taught if str(side) in shares]
        weights = np.array([float(shares[str(side)]) for side in sizes])
        if not weights.sum() > 0:
            raise SystemExit(f"no positions of the board sizes in --shares {self.options.shares}")
        start = self.share
        while (over := self.share) < 1:
            past = (over - start) / (1 - start)
            now = rate * min(1, (self.steps + 1) / self.options.warm_up, (1 - past) / self.options.drop + 0.02)
            for optimizer in optimizers:
                for group in optimizer.param_groups:
                    group["lr"] = now
            self._step(int(self.random.choice(sizes, p=weights / weights.sum())), optimizers)
            if self.steps % STEPS_BETWEEN == 0:
                self.measure()

    def _step(self, side: int, optimizers: list[torch.optim.Optimizer]) -> None:
        positions = self.taught[side]
        chosen = torch.randint(len(positions[0]), (self.options.batch_size,), device=self.device)
        batch = self.batch(positions, chosen, int(self.random.integers(8)))
        torch.compiler.set_stance("default" if side in COMPILED else "force_eager")
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            outputs = self.model(batch.planes.float(), batch.scalars, full_board=True)
        losses.total_loss(losses.losses(outputs, batch, self.model.config), LossWeights()).backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.steps += 1
        self.samples += batch.size
        decay = min(1 - batch.size / max(self.options.average, batch.size), (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - decay)

    @torch.inference_mode()
    def measure(self) -> None:
        """Prints how far the averaged student is from the teacher on the positions held back."""
        self.say(f"{self.samples:,} samples")
        for side, positions in self.held.items():
            means = losses.Means()
            for chosen in torch.arange(len(positions[0]), device=self.device).split(500):
                batch = self.batch(positions, chosen, 0)
                raw = self.average(batch.planes.float(), batch.scalars, full_board=True).raw
                means.add(losses.distances(raw, batch, self.average.config))
            found = ", ".join(f"{name} {mean:.4f}" for name, mean in means.read().items())
            print(f"  {side}x{side}: {found}", flush=True)


if __name__ == "__main__":
    main()
