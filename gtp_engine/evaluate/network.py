"""The evaluator by a network: positions in batches through torch, on a CPU or a GPU."""

import hashlib
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ..game.coords import BLACK, WHITE
from ..game.symmetry import COUNT, turned_indices
from ..log import log
from ..network.inference import prepare_for_inference
from ..network.library import load_network, network_name
from ..network.model import Model, RawOutputs
from ..network.outputs import Predictions, expected_result, policy_logits, predict, short_term
from ..network.records import METADATA
from .answers import NUMBERS, write_answers
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
_TRIAL_BATCH, _TRIALS = 2, 2


# Some rows of a batch, and what the network says of them.
_Parts = list[tuple[np.ndarray, "torch.Tensor | Future[torch.Tensor]"]]


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
    """What depends on the board's size: how rows in move-index order are turned, and what is known of positions.

    `policy[there[s]]` turns a policy by symmetry s, `policy[turned[s]]` turns it back.
    """

    def __init__(self, width: int, height: int, cache_megabytes: float) -> None:
        self.width, self.height = width, height
        self.area = width * height
        self.columns = 2 * self.area + 1 + NUMBERS
        self.turned = np.array([turned_indices(symmetry, width, height) for symmetry in range(COUNT)])
        self.there = np.argsort(self.turned, 1)
        # Planes that are not square are never transposed.
        self.symmetries = np.arange(COUNT) % (COUNT if width == height else COUNT // 2)
        self.cache = EvaluationCache(cache_megabytes, self.columns)
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
    """A batch under way. rows: the evaluations, those of `missing` not yet written. said: by which symmetries all were
    turned, and what the network says of the missing ones, in parts.
    """

    board: _Board
    inputs: _Inputs
    keys: np.ndarray
    rows: np.ndarray
    missing: np.ndarray
    said: list[tuple[np.ndarray, _Parts]]
    done: torch.cuda.Event | None


class NetworkEvaluator:
    """Implements `interface.Evaluator` by a network of KataGo's family, for boards up to 19x19.

    device: "auto" (a GPU where there is one), "cpu", "cuda", "mps". precision: "float32", "bfloat16", "float16", or
    "auto": float16 on a GPU, on a CPU bfloat16 where a quick measurement shows that it gains, else float32.
    One thread makes all calls, from the construction on. On a CPU with two threads and more two batches are evaluated
    side by side, each in as many parts as keep the threads busy: threads that work on one part together would wait for
    each other at every layer, and much longer where other programs want the processor too.
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
        self.overlap = 2 if self.device.type == "cuda" or (on_cpu and threads > 1) else 1
        self._workers = None
        self._parts = -(-threads // self.overlap)
        if on_cpu:
            torch.set_num_threads(1)
            if threads > 1:
                self._workers = ThreadPoolExecutor(threads, "network", torch.set_num_threads, (1,))
        model = load_network(path).to(self.device)
        self.config = model.config
        self.takes_profile = model.config.metadata_version > 0
        self.name = network_name(path)
        self.batch_size = batch_size or (CPU_BATCH_SIZE if on_cpu else GPU_BATCH_SIZE)
        self._workspace = new_workspace()
        self._cache_megabytes = cache_megabytes
        self._board: _Board | None = None
        if precision == AUTO and on_cpu:
            self.precision, self._model = self._fastest(model)
        else:
            self.precision = "float16" if precision == AUTO else precision
            self._model = prepare_for_inference(model, PRECISIONS[self.precision])

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
        ticket = _Ticket(board, inputs, keys, rows, np.arange(0), [], None)
        write_legal(boards, indices, inputs.legal[:count])
        for number, turns in enumerate(np.full((COUNT, count), np.arange(COUNT)[:, None]) if average else [chosen]):
            turns = board.symmetries[turns]
            self._write(boards, indices, turns, profile, inputs, keys)
            if number == 0:
                ticket.keys = keys ^ np.uint64(hash((optimism, average)) & 0xFFFFFFFF)
                ticket.missing = board.cache.look_up(ticket.keys, rows)
            if not len(ticket.missing):
                break
            ticket.said.append((turns, self._begin(inputs, ticket.missing, optimism)))
            if average:  # the inputs are written over
                self._wait_for(ticket.said[-1][1])
        if self.device.type == "cuda":
            ticket.done = torch.cuda.Event()
            ticket.done.record()
        return ticket

    def collect(self, ticket: _Ticket) -> Outputs:
        """Waits for the batch, and turns it back."""
        if ticket.done is not None:
            ticket.done.synchronize()
        board, rows, missing = ticket.board, ticket.rows, ticket.missing
        if len(missing):
            views = [self._answers(ticket, *said) for said in ticket.said]
            rows[missing] = views[0] if len(views) == 1 else np.mean(views, 0)
            board.cache.store(ticket.keys[missing], rows[missing])
        board.inputs.append(ticket.inputs)
        area = board.area
        lead, mean, stdev = rows[:, area + 4 : area + 7].T.copy()
        # Compiled code is compiled once more for arrays that are not contiguous.
        policy, value, ownership = (
            np.ascontiguousarray(part) for part in (rows[:, : area + 1], rows[:, area + 1 : area + 4], rows[:, -area:])
        )
        outlook = rows[:, area + 7 : area + 10] if self.config.has_errors else None
        return Outputs(policy, value, lead, mean, stdev, ownership, outlook)

    def predict(
        self, position: np.ndarray, symmetry: int = 0, *, optimism: float = 0.0, profile: str = ""
    ) -> Predictions:
        """All that the network says of one position (BOARD [1], `inputs.position_of`), turned back, on the CPU."""
        check_profile(self.name, self.takes_profile, profile)
        board = self._board_of(position[0])
        inputs = self._free_inputs(board, 1)
        one = np.arange(1)
        turns = board.symmetries[[symmetry]]
        write_legal(position, one, inputs.legal)
        self._write(position, one, turns, profile, inputs, np.empty(1, np.uint64))
        legal = torch.from_numpy(np.take_along_axis(inputs.legal[:1], board.there[turns], 1)).to(self.device)
        raw, scalars = self._forward(inputs, one)
        said = predict(raw, self.config, legal, scalars, optimism=optimism)
        board.inputs.append(inputs)
        back = torch.from_numpy(board.turned[turns[0]])
        said = Predictions(*(None if value is None else value.cpu() for value in said))  # type: ignore[arg-type]
        return said._replace(policy=said.policy[:, back], ownership=said.ownership[:, back[:-1]])

    def clear_cache(self) -> None:
        """Forgets all evaluations."""
        if self._board is not None:
            self._board.cache.clear()

    def close(self) -> None:
        """Gives the memory back."""
        if self._workers:
            self._workers.shutdown()
        self._board = None
        del self._model
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _board_of(self, position: np.ndarray) -> _Board:
        """What belongs to the board's size; evaluations of another size are forgotten."""
        width, height = int(position["width"]), int(position["height"])
        if max(width, height) > self.largest_board:
            raise ValueError(too_large(f"the network {self.name}", self.largest_board))
        if self._board is None or (self._board.width, self._board.height) != (width, height):
            self._board = _Board(width, height, self._cache_megabytes)
        return self._board

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

    def _wait_for(self, parts: _Parts) -> None:
        """Until the evaluation of these has ended."""
        wait([said for _, said in parts if isinstance(said, Future)])
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def _begin(self, inputs: _Inputs, rows: np.ndarray, optimism: float) -> _Parts:
        """Begins the evaluation of these rows."""
        if self._workers is None:
            return [(rows, self._evaluate(inputs, rows, optimism))]
        parts = np.array_split(rows, min(self._parts, len(rows)))
        return [(part, self._workers.submit(self._evaluate, inputs, part, optimism)) for part in parts]

    @torch.inference_mode()
    def _evaluate(self, inputs: _Inputs, rows: np.ndarray, optimism: float) -> torch.Tensor:
        """What `write_answers` makes evaluations of, for these rows, on the CPU once the device has done its work."""
        try:
            raw, scalars = self._forward(inputs, rows)
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise MemoryError(f"not enough memory on {self.device} for the network {self.name}") from None
            self.batch_size = max(1, len(rows) // 2)
            torch.cuda.empty_cache()
            log(f"not enough memory on {self.device} for batches of {len(rows)}: {self.batch_size} from now on")
            halves = rows[: self.batch_size], rows[self.batch_size :]
            return torch.cat([self._evaluate(inputs, half, optimism) for half in halves])
        result = expected_result(raw, self.config, scalars)
        outlook = short_term(raw.scores.float(), self.config)
        numbers = torch.stack((result.lead, result.score_mean, result.score_stdev, *outlook), 1)
        logits = policy_logits(raw.policy, self.config, optimism)
        packed = torch.cat((logits, result.value, numbers, raw.ownership.float()), 1)
        if self.device.type != "cuda":
            return packed.cpu()
        host = torch.empty(packed.shape, pin_memory=True)
        return host.copy_(packed, non_blocking=True)

    @torch.inference_mode()
    def _forward(self, inputs: _Inputs, rows: np.ndarray) -> tuple[RawOutputs, torch.Tensor]:
        """What the network says of some rows of the inputs, still turned, and their scalars on the device."""
        neighbours = rows[-1] - rows[0] == len(rows) - 1
        chosen: slice | torch.Tensor = slice(rows[0], rows[-1] + 1) if neighbours else torch.from_numpy(rows)
        scalars = inputs.scalars[chosen].to(self.device, non_blocking=True)
        planes = inputs.planes[chosen].to(self.device, non_blocking=True).permute(0, 3, 1, 2).float()
        metadata = None
        if inputs.metadata is not None:
            metadata = inputs.metadata[chosen].to(self.device, non_blocking=True)
        return self._model(planes, scalars, metadata, full_board=True), scalars

    def _answers(self, ticket: _Ticket, turns: np.ndarray, parts: _Parts) -> np.ndarray:
        """The evaluations of a ticket's missing positions, once they are there, turned back."""
        rows = np.empty((len(ticket.missing), ticket.board.columns), np.float32)
        start = 0
        for part, said in parts:
            numbers = (said.result() if isinstance(said, Future) else said).numpy()
            write_answers(numbers, part, ticket.inputs.legal, turns, ticket.board.turned, rows[start:])
            start += len(part)
        return rows

    def _fastest(self, model: Model) -> tuple[str, Model]:
        """The precision that a trial on a CPU shows to be faster, and the network prepared for it."""
        prepared = {name: prepare_for_inference(model, PRECISIONS[name]) for name in ("float32", "bfloat16")}
        times = {name: self._trial(candidate) for name, candidate in prepared.items()}
        name = "bfloat16" if times["float32"] > _LEAST_GAIN * times["bfloat16"] else "float32"
        return name, prepared[name]

    @torch.inference_mode()
    def _trial(self, model: Model) -> float:
        """The seconds that a small batch takes, at best."""
        planes = torch.ones((_TRIAL_BATCH, PLANES, self.largest_board, self.largest_board))
        planes = planes.contiguous(memory_format=torch.channels_last)
        scalars = torch.zeros((_TRIAL_BATCH, SCALARS))
        metadata = torch.zeros((_TRIAL_BATCH, METADATA)) if self.takes_profile else None
        model(planes, scalars, metadata, full_board=True)
        times = []
        for _ in range(_TRIALS):
            start = time.perf_counter()
            model(planes, scalars, metadata, full_board=True)
            times.append(time.perf_counter() - start)
        return min(times)


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
