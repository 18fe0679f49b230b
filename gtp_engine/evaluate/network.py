"""The evaluator by a network: positions in batches through torch, on a CPU or a GPU."""

import hashlib
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from ..game.coords import BLACK, WHITE
from ..game.symmetry import COUNT, turned_indices
from ..log import log
from ..network.inference import prepare_for_inference
from ..network.library import load_network, network_name
from ..network.model import Model, RawOutputs
from ..network.outputs import Predictions, predict
from ..network.records import METADATA
from .answers import columns_of, outputs_of, scale_of, write_answers
from .cache import EvaluationCache
from .choices import AUTO, DEVICES, LARGEST_BOARD, too_large
from .choices import PRECISIONS as PRECISION_NAMES
from .inputs import PLANES, SCALARS, new_workspace, write_batch, write_legal
from .interface import ALL_SYMMETRIES, Outputs
from .metadata import check_profile, metadata_row, parse_profile

CPU_BATCH_SIZE, GPU_BATCH_SIZE = 8, 64
CACHE_MEGABYTES = 200.0
PRECISIONS = {name: getattr(torch, name) for name in PRECISION_NAMES}
# What bfloat16 has to gain on a CPU to be taken.
_LEAST_GAIN = 1.15
_TRIAL_BLOCKS, _TRIAL_BATCH, _TRIAL_SECONDS = 4, 2, 0.3


class _Inputs:
    """Memory for the inputs of a batch; on a GPU's behalf pinned, so that nobody waits for the copy.

    metadata: where the network takes them.
    """

    def __init__(self, size: int, width: int, height: int, pinned: bool, metadata: bool) -> None:
        self.size = size
        self.planes = torch.empty((size, height, width, PLANES), dtype=torch.uint8, pin_memory=pinned)
        self.scalars = torch.empty((size, SCALARS), pin_memory=pinned)
        self.metadata = torch.empty((size, METADATA), pin_memory=pinned) if metadata else None
        self.legal = np.empty((size, width * height + 1), np.bool_)


class _Board:
    """What depends on the board's size: how rows in move-index order are turned, and memory for inputs.

    `policy[there[s]]` turns a policy by symmetry s, `policy[turned[s]]` turns it back. Planes that are not square are
    never transposed.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.area = width * height
        self.columns = columns_of(self.area)
        different = COUNT if width == height else COUNT // 2
        self.turned = np.array([turned_indices(number % different, width, height) for number in range(COUNT)])
        self.there = np.argsort(self.turned, 1)
        self.inputs: list[_Inputs] = []
        self._players: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def players(self, profile: str) -> tuple[np.ndarray, np.ndarray]:
        """The metadata of a profile's players by the colour to move, float32 [3, 192], and what to mix into keys."""
        if profile not in self._players:
            said = parse_profile(profile)
            rows = np.zeros((3, METADATA), np.float32)
            for colour in (BLACK, WHITE):
                rows[colour] = metadata_row(said, colour, self.area)
            marks = [int.from_bytes(hashlib.blake2b(row.tobytes(), digest_size=8).digest()) for row in rows]
            self._players[profile] = rows, np.array(marks, np.uint64)
        return self._players[profile]


@dataclass
class _Ticket:
    """A batch under way.

    rows: the evaluations, [n, columns], those of `missing` not yet written. views: [looks, missing, columns], what the
    network says of these by each of the symmetries asked for; written once all of `unfinished` have been called, which
    may wait for another thread. done: on a GPU, when its work is.
    """

    board: _Board
    inputs: _Inputs
    keys: np.ndarray
    rows: np.ndarray
    missing: np.ndarray = field(default_factory=lambda: np.arange(0))
    views: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    unfinished: list[Callable[[], None]] = field(default_factory=list)
    done: torch.cuda.Event | None = None


class NetworkEvaluator:
    """Implements `interface.Evaluator` by a network of KataGo's family, for boards up to 19x19.

    device: "auto" (a GPU where there is one), "cpu", "cuda", "mps". precision: "float32", "bfloat16", "float16", or
    "auto": float16 on a GPU, on a CPU bfloat16 where a quick measurement shows that it gains, else float32.
    One thread makes all calls, from the construction on. On a CPU with two threads and more two batches are evaluated
    side by side, each in as many parts as keep the threads busy: threads that work on one part together would wait for
    each other at every layer, and much longer where other programs want the processor too. A third batch waits, so that
    no thread ever does while the search takes a batch back and chooses the next leaves.
    Raises ValueError for an unknown device or precision and for a file that is no network, OSError for one that cannot
    be read.
    """

    largest_board = LARGEST_BOARD
    plays_out = False
    reads_ladders = True

    def __init__(
        self,
        path: Path,
        *,
        threads: int = 1,
        device: str = "auto",
        precision: str = "auto",
        batch_size: int | None = None,
        cache_megabytes: float = CACHE_MEGABYTES,
    ) -> None:
        self.device = find_device(device)
        if precision not in (AUTO, *PRECISIONS):
            raise ValueError(f"unknown precision {precision!r}: expected {AUTO}, {', '.join(PRECISIONS)}")
        on_cpu = self.device.type == "cpu"
        self.parts = -(-threads // 2) if on_cpu else 1
        self.overlap = 2 if self.device.type == "cuda" else 3 if on_cpu and threads > 1 else 1
        self._workers = None
        if on_cpu:
            torch.set_num_threads(1)
            if threads > 1:
                self._workers = ThreadPoolExecutor(threads, "network", torch.set_num_threads, (1,))
        model = load_network(path).to(self.device)
        self.config = model.config
        self.takes_profile = model.config.metadata_version > 0
        self.name = network_name(path)
        self.batch_size = batch_size or (CPU_BATCH_SIZE if on_cpu else GPU_BATCH_SIZE)
        self._largest_batch = sys.maxsize  # that the device has memory for
        self._workspace = new_workspace()
        self._cache = EvaluationCache(cache_megabytes)
        self._boards: dict[tuple[int, int], _Board] = {}
        self._scale = scale_of(self.config)
        self.precision = precision
        if precision == AUTO:
            self.precision = self._fastest_precision() if on_cpu else "float16"
        self.model = prepare_for_inference(model, PRECISIONS[self.precision])

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        *,
        ownership: bool = False,
        optimism: float = 0.0,
        profile: str = "",
    ) -> _Ticket:
        """Begins the batch; with one thread on a CPU it is done then. No symmetry evaluates known positions again.

        Ownership is always there. ValueError for a board larger than 19x19.
        """
        check_profile(self.name, self.takes_profile, profile)
        board = self._board_of(boards[indices[0]])
        count = len(indices)
        inputs = self._free_inputs(board, count)
        average = symmetries is not None and symmetries[0] == ALL_SYMMETRIES
        chosen = np.zeros(count, np.intp) if symmetries is None else symmetries
        keys = np.empty(count, np.uint64)
        rows = np.empty((count, board.columns), np.float32)
        ticket = _Ticket(board, inputs, keys, rows)
        write_legal(boards, indices, inputs.legal[:count])
        looks = np.full((COUNT, count), np.arange(COUNT)[:, None]) if average else chosen[None]
        for number, turns in enumerate(looks):
            self._write(boards, indices, turns, profile, inputs, keys)
            if number == 0:
                ticket.keys = keys ^ np.uint64(hash((optimism, average)) & 0xFFFFFFFF)
                ticket.missing = self._cache.look_up(ticket.keys, rows)
                ticket.views = np.empty((len(looks), len(ticket.missing), board.columns), np.float32)
            if not len(ticket.missing):
                break
            self._begin(ticket, turns, optimism, ticket.views[number])
            if average:  # the inputs are written over
                self._finish(ticket)
        if self.device.type == "cuda":
            ticket.done = torch.cuda.Event()
            ticket.done.record()
        return ticket

    def collect(self, ticket: _Ticket) -> Outputs:
        """Waits for the batch, and turns it back."""
        if ticket.done is not None:
            ticket.done.synchronize()
        self._finish(ticket)
        rows, missing = ticket.rows, ticket.missing
        if len(missing):
            evaluated = ticket.views[0] if len(ticket.views) == 1 else ticket.views.mean(0)
            rows[missing] = evaluated
            self._cache.store(ticket.keys[missing], evaluated)
        ticket.board.inputs.append(ticket.inputs)
        return outputs_of(rows, ticket.board.area, self.config.has_errors)

    def predict(
        self, position: np.ndarray, symmetry: int = 0, *, optimism: float = 0.0, profile: str = ""
    ) -> Predictions:
        """All that the network says of one position (BOARD [1], `inputs.position_of`), turned back, on the CPU."""
        check_profile(self.name, self.takes_profile, profile)
        board = self._board_of(position[0])
        inputs = self._free_inputs(board, 1)
        one = np.arange(1)
        turns = np.array([symmetry])
        write_legal(position, one, inputs.legal)
        self._write(position, one, turns, profile, inputs, np.empty(1, np.uint64))
        legal = torch.from_numpy(np.take_along_axis(inputs.legal[:1], board.there[turns], 1)).to(self.device)
        raw = self._forward(inputs, one)
        said = predict(raw, self.config, legal, inputs.scalars[:1].to(self.device), optimism=optimism)
        board.inputs.append(inputs)
        back = torch.from_numpy(board.turned[turns[0]])
        said = Predictions(*(None if value is None else value.cpu() for value in said))  # type: ignore[arg-type]
        return said._replace(policy=said.policy[:, back], ownership=said.ownership[:, back[:-1]])

    def clear_cache(self) -> None:
        """Forgets all evaluations."""
        self._cache.clear()

    def close(self) -> None:
        """Gives the memory back."""
        if self._workers:
            self._workers.shutdown()
        self._boards.clear()
        del self.model, self._cache
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _board_of(self, position: np.ndarray) -> _Board:
        """What belongs to the board's size."""
        size = width, height = int(position["width"]), int(position["height"])
        if max(size) > self.largest_board:
            raise ValueError(too_large(f"the network {self.name}", self.largest_board))
        if size not in self._boards:
            self._boards[size] = _Board(width, height)
        return self._boards[size]

    def _free_inputs(self, board: _Board, count: int) -> _Inputs:
        """Memory for a batch that no other one uses; it comes back in `collect`."""
        while board.inputs:
            inputs = board.inputs.pop()
            if inputs.size >= count:
                return inputs
        size, pinned = max(count, self.batch_size), self.device.type == "cuda"
        return _Inputs(size, board.width, board.height, pinned, self.takes_profile)

    def _write(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        turns: np.ndarray,
        profile: str,
        inputs: _Inputs,
        keys: np.ndarray,
    ) -> None:
        """Writes planes, scalars, metadata and keys of the positions."""
        planes, scalars = inputs.planes.numpy(), inputs.scalars.numpy()
        write_batch(boards, indices, turns, self.config.suicide_areas, self._workspace, planes, scalars, keys)
        if inputs.metadata is not None:
            rows, marks = self._board_of(boards[indices[0]]).players(profile)
            colours = boards["to_move"][indices]
            inputs.metadata.numpy()[: len(indices)] = rows[colours]
            keys ^= marks[colours]

    def _begin(self, ticket: _Ticket, turns: np.ndarray, optimism: float, out: np.ndarray) -> None:
        """Begins the evaluation of the ticket's missing positions, turned so in its inputs; answers come into `out`."""
        missing = ticket.missing
        if self._workers is None:
            raw = self._evaluate(ticket.inputs, missing)
            ticket.unfinished.append(partial(self._answer, raw, ticket, missing, turns, optimism, out))
            return
        start = 0
        for rows in np.array_split(missing, min(self.parts, len(missing))):
            part = out[start : start + len(rows)]
            ticket.unfinished.append(self._workers.submit(self._judge, ticket, rows, turns, optimism, part).result)
            start += len(rows)

    def _judge(self, ticket: _Ticket, rows: np.ndarray, turns: np.ndarray, optimism: float, out: np.ndarray) -> None:
        """Evaluates some of the ticket's positions and answers."""
        self._answer(self._evaluate(ticket.inputs, rows), ticket, rows, turns, optimism, out)

    def _finish(self, ticket: _Ticket) -> None:
        """Until all that was begun is answered."""
        if self.device.type == "cuda" and ticket.done is None:
            torch.cuda.synchronize()
        for finish in ticket.unfinished:
            finish()
        ticket.unfinished.clear()

    @torch.inference_mode()
    def _evaluate(self, inputs: _Inputs, rows: np.ndarray) -> RawOutputs:
        """What the network says of some rows of the inputs, still turned, float32 on the CPU; with CUDA only once the
        device has done its work.
        """
        raw = RawOutputs(*(said.float().contiguous() for said in self._in_portions(inputs, rows)))
        if self.device.type != "cuda":
            return RawOutputs(*(said.cpu() for said in raw))
        pinned = (torch.empty(said.shape, pin_memory=True) for said in raw)
        return RawOutputs(*(host.copy_(said, non_blocking=True) for host, said in zip(pinned, raw, strict=True)))

    def _in_portions(self, inputs: _Inputs, rows: np.ndarray) -> RawOutputs:
        """`_forward` in portions for which the device has memory."""
        if len(rows) <= self._largest_batch:
            try:
                return self._forward(inputs, rows)
            except torch.OutOfMemoryError:
                pass  # what the failed attempt holds is free only outside of this handler
            if len(rows) == 1:
                raise MemoryError(f"not enough memory on {self.device} for the network {self.name}")
            torch.cuda.empty_cache()
            self._largest_batch = len(rows) // 2
            self.batch_size = min(self.batch_size, self._largest_batch)
            log(f"not enough memory on {self.device} for batches of {len(rows)}: {self._largest_batch} from now on")
        halves = (self._in_portions(inputs, half) for half in np.array_split(rows, 2))
        return RawOutputs(*(torch.cat(parts) for parts in zip(*halves, strict=True)))

    @torch.inference_mode()
    def _forward(self, inputs: _Inputs, rows: np.ndarray) -> RawOutputs:
        """What the network says of some rows of the inputs, still turned."""
        neighbours = rows[-1] - rows[0] == len(rows) - 1
        chosen: slice | torch.Tensor = slice(rows[0], rows[-1] + 1) if neighbours else torch.from_numpy(rows)
        scalars = inputs.scalars[chosen].to(self.device, non_blocking=True)
        planes = inputs.planes[chosen].to(self.device, non_blocking=True).permute(0, 3, 1, 2).float()
        metadata = None
        if inputs.metadata is not None:
            metadata = inputs.metadata[chosen].to(self.device, non_blocking=True)
        return self.model(planes, scalars, metadata, full_board=True)

    def _answer(
        self, raw: RawOutputs, ticket: _Ticket, rows: np.ndarray, turns: np.ndarray, optimism: float, out: np.ndarray
    ) -> None:
        """Makes evaluations of what was said, and turns them back."""
        write_answers(
            raw.policy.numpy(),
            raw.value.numpy(),
            raw.scores.numpy(),
            raw.ownership.numpy(),
            rows,
            ticket.inputs.scalars.numpy(),
            ticket.inputs.legal,
            turns,
            ticket.board.turned,
            optimism if self.config.has_optimism else 0.0,
            self._scale,
            out,
        )

    @torch.inference_mode()
    def _fastest_precision(self) -> str:
        """The precision that a trial on this CPU shows to be faster.

        A few blocks like the network's tell, with any weights: both precisions of the whole would take memory. They
        take turns, and the processor's time is measured, so that other programs disturb little.
        """
        blocks = self.config.trunk.blocks[:_TRIAL_BLOCKS]
        model = Model(replace(self.config, trunk=replace(self.config.trunk, blocks=blocks))).initialise().eval()
        tried = {name: prepare_for_inference(model, PRECISIONS[name]) for name in ("float32", "bfloat16")}
        planes = torch.ones((_TRIAL_BATCH, PLANES, self.largest_board, self.largest_board))
        planes = planes.contiguous(memory_format=torch.channels_last)
        scalars = torch.zeros((_TRIAL_BATCH, SCALARS))
        metadata = torch.zeros((_TRIAL_BATCH, METADATA)) if self.takes_profile else None
        for candidate in tried.values():
            candidate(planes, scalars, metadata, full_board=True)
        times = dict.fromkeys(tried, 0.0)
        end = time.perf_counter() + _TRIAL_SECONDS
        while time.perf_counter() < end:
            for name, candidate in tried.items():
                start = time.thread_time()
                candidate(planes, scalars, metadata, full_board=True)
                times[name] += time.thread_time() - start
        return "bfloat16" if times["float32"] > _LEAST_GAIN * times["bfloat16"] else "float32"


def find_device(name: str) -> torch.device:
    """The device of that name, the best there is for "auto"; ValueError where there is none."""
    if name not in (AUTO, *DEVICES):
        raise ValueError(f"unknown device {name!r}: expected {AUTO}, {', '.join(DEVICES)}")
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == AUTO:
        return torch.device(next(kind for kind, found in there.items() if found))
    if not there[name]:
        raise ValueError(f"no device {name!r} here: torch {torch.__version__} finds none")
    return torch.device(name)
