"""The evaluator with a network: positions in batches through torch, on a CPU or a GPU."""

import contextlib
import hashlib
import logging
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from ..base.errors import UserError
from ..base.files import write_text
from ..base.jit import CACHE_FOLDER
from ..base.system import configure_torch
from ..game.board import BOARD
from ..game.coords import BLACK, WHITE
from ..game.rules import Rules, parse_rules
from ..game.symmetry import COUNT, permutation
from ..kernels.prepare import prepare_for_inference
from ..network.library import RULES_FILE, learned_rules, load_network, network_name
from ..network.model import Model, RawOutputs
from ..network.outputs import Predictions, predict
from ..network.schema import METADATA
from .cache import EvaluationCache
from .choices import AUTO, DEVICES, LARGEST_BOARD, too_large
from .choices import PRECISIONS as PRECISION_NAMES
from .decode import decode_outputs, output_scale
from .evaluator import ALL_SYMMETRIES
from .features import NO_LADDERS, PLANES, SCALARS, new_workspace, write_batch, write_legal
from .human_profile import check_profile, metadata_row, parse_profile
from .learned_rules import code_of, nearest_rules, rules_code, show_batch
from .row import row_columns

logger = logging.getLogger(__name__)

CPU_BATCH_SIZE, GPU_BATCH_SIZE = 8, 64
CACHE_MEGABYTES = 200.0
PRECISIONS = {name: getattr(torch, name) for name in PRECISION_NAMES}
# By what factor bfloat16 has to be faster on a CPU to be chosen.
_LEAST_GAIN = 1.15
_TRIAL_BLOCKS, _TRIAL_BATCH, _TRIAL_SECONDS = 4, 2, 0.3


class _Inputs:
    """Memory for the inputs of a batch; pinned for a GPU, so that the copy does not block.

    metadata: None unless the network has inputs for it.
    """

    def __init__(self, size: int, width: int, height: int, pinned: bool, metadata: bool) -> None:
        self.size = size
        self.planes = torch.empty((size, height, width, PLANES), dtype=torch.uint8, pin_memory=pinned)
        self.scalars = torch.empty((size, SCALARS), pin_memory=pinned)
        self.metadata = torch.empty((size, METADATA), pin_memory=pinned) if metadata else None
        self.legal = np.empty((size, width * height + 1), np.bool_)


class _BoardSize:
    """The parts that depend on the board's size: symmetries of rows in move-index order, metadata, memory for inputs.

    `policy[original[s]]` transforms a policy by symmetry s, `policy[transformed[s]]` transforms it back. Planes that
    are not square are never transposed.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.area = width * height
        self.columns = row_columns(self.area)
        different = COUNT if width == height else COUNT // 2
        self.transformed = np.array([permutation(number % different, width, height) for number in range(COUNT)])
        self.original = np.argsort(self.transformed, 1)
        self.inputs: list[_Inputs] = []
        self._metadata: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def metadata(self, profile: str) -> tuple[np.ndarray, np.ndarray]:
        """Returns a profile's metadata by the colour to move, float32 [3, 192], and their hashes, uint64 [3]."""
        if profile not in self._metadata:
            players = parse_profile(profile)
            rows = np.zeros((3, METADATA), np.float32)
            for colour in (BLACK, WHITE):
                rows[colour] = metadata_row(players, colour, self.area)
            hashes = [int.from_bytes(hashlib.blake2b(row.tobytes(), digest_size=8).digest()) for row in rows]
            self._metadata[profile] = rows, np.array(hashes, np.uint64)
        return self._metadata[profile]


@dataclass
class _Ticket:
    """A batch under way.

    rows: the evaluations, [n, columns], those of `missing` not yet written. views: [v, missing, columns], the
    evaluations of these by each of the v symmetries that are averaged, or by one; written once all of `unfinished` have
    been called, which may wait for another thread. done: on a GPU, the event that its work is done.
    """

    size: _BoardSize
    optimism: float
    inputs: _Inputs
    keys: np.ndarray
    rows: np.ndarray
    missing: np.ndarray = field(default_factory=lambda: np.arange(0))
    views: np.ndarray = field(default_factory=lambda: np.empty((0, 0, 0), np.float32))
    unfinished: list[Callable[[], None]] = field(default_factory=list)
    done: torch.cuda.Event | None = None


@dataclass(frozen=True)
class NetworkHandle:
    """A network with the options of `NetworkEvaluator.with_options`; implements `evaluator.EvaluatorHandle`."""

    network: "NetworkEvaluator"
    optimism: float
    profile: str

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
    ) -> _Ticket:
        """Begins the batch; with one thread on a CPU it is done when this returns.

        A position in the cache is not evaluated again, whatever the symmetry.

        Raises:
            UserError: the board is larger than 19x19.
        """
        return self.network._submit(self, boards, indices, symmetries, ladders)

    def collect(self, ticket: _Ticket) -> np.ndarray:
        """Waits for the batch and returns its evaluation rows."""
        return self.network.collect(ticket)

    def predict(self, position: np.ndarray, symmetry: int = 0) -> Predictions:
        """Returns all outputs of the network for one position (BOARD [1], `features.position_of`), on the CPU.

        The position is evaluated by the symmetry; the outputs are in move-index order of the position itself.
        """
        return self.network._predict(self, position, symmetry)


class NetworkEvaluator:
    """Implements `evaluator.Evaluator` by a network of KataGo's family, for boards up to 19x19.

    One thread makes all calls, from the construction on. On a CPU with two threads and more two batches are evaluated
    side by side, each in as many parts as keep the threads busy: threads that work on one part together would wait for
    each other at every layer, and much longer when other programs use the CPU too. A third batch waits, so that no
    thread is ever idle while the search takes a batch back and chooses the next leaves.

    Args:
        path: the network's file.
        threads: CPU threads that it may use.
        device: "auto" (a GPU if there is one), "cpu", "cuda", "mps".
        precision: "float32", "bfloat16", "float16", or "auto": float16 on a GPU; on a CPU bfloat16 if a quick
            measurement shows that it is faster, else float32; it is made once for an architecture and remembered.
        batch_size: see `Evaluator.batch_size`; None for the device's usual one.
        cache_megabytes: the memory for evaluations of earlier positions.

    Attributes:
        rules: the names of the rules that it learned with, if they are noted; games under other rules are shown to it
            under the nearest of them, which is logged once.

    Raises:
        UserError: an unknown device or precision, or the file is not a network.
        OSError: the file cannot be read.
    """

    largest_board = LARGEST_BOARD
    is_rollout = False
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
            raise UserError(f"unknown precision {precision!r}: expected {AUTO}, {', '.join(PRECISIONS)}")
        on_cpu = self.device.type == "cpu"
        self.parts = -(-threads // 2) if on_cpu else 1
        self.overlap = 2 if self.device.type == "cuda" else 3 if on_cpu and threads > 1 else 1
        self._workers = None
        if on_cpu and threads > 1:
            self._workers = ThreadPoolExecutor(threads, "network", configure_torch)
        model = load_network(path).to(self.device)
        self.config = model.config
        self.takes_profile = model.config.metadata_version > 0
        self.name = network_name(path)
        self.batch_size = batch_size or (CPU_BATCH_SIZE if on_cpu else GPU_BATCH_SIZE)
        self._largest_batch = sys.maxsize  # that the device has memory for
        self._workspace = new_workspace()
        self.rules = learned_rules(path)
        known = _rulesets(path, self.rules)
        self._nearest = nearest_rules(known)
        self._shown = np.zeros(0, BOARD)  # positions as they are shown under the nearest rules
        self._rules_of_code = dict(zip(map(code_of, known), self.rules, strict=True))
        self._named_rules = set(self._rules_of_code)  # codes that need no word any more
        self._cache = EvaluationCache(cache_megabytes)
        self._sizes: dict[tuple[int, int], _BoardSize] = {}
        self._scale = output_scale(self.config)
        self.precision = precision
        if precision == AUTO:
            self.precision = self._remembered_precision() if on_cpu else "float16"
        self.model = prepare_for_inference(model, PRECISIONS[self.precision])

    def with_options(self, *, optimism: float = 0.0, profile: str = "") -> NetworkHandle:
        """See `Evaluator.with_options`."""
        check_profile(self.name, self.takes_profile, profile)
        return NetworkHandle(self, optimism, profile)

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
    ) -> _Ticket:
        """Begins a batch with the default options, see `NetworkHandle.submit`."""
        return self.with_options().submit(boards, indices, symmetries, ladders)

    def _submit(
        self,
        options: NetworkHandle,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None,
        ladders: np.ndarray | None,
    ) -> _Ticket:
        size = self._size_of(boards[indices[0]])
        count = len(indices)
        inputs = self._free_inputs(size, count)
        average = symmetries is not None and symmetries[0] == ALL_SYMMETRIES
        chosen = np.zeros(count, np.intp) if symmetries is None else symmetries
        rows = np.empty((count, size.columns), np.float32)
        ticket = _Ticket(size, options.optimism, inputs, np.empty(count, np.uint64), rows)
        write_legal(boards, indices, inputs.legal[:count])
        views = np.full((COUNT, count), np.arange(COUNT)[:, None]) if average else chosen[None]
        for number, view in enumerate(views):
            keys = self._write(boards, indices, view, options.profile, inputs, ladders)
            if number == 0:
                ticket.keys = keys ^ np.uint64(hash((options.optimism, average)) & 0xFFFFFFFF)
                ticket.missing = self._cache.look_up(ticket.keys, rows)
                ticket.views = np.empty((len(views), len(ticket.missing), size.columns), np.float32)
            if not len(ticket.missing):
                break
            self._begin(ticket, view, ticket.views[number])
            if average:  # the next view overwrites the inputs
                self._finish(ticket)
        if self.device.type == "cuda":
            ticket.done = torch.cuda.Event()
            ticket.done.record()
        return ticket

    def collect(self, ticket: _Ticket) -> np.ndarray:
        """Waits for the batch and returns its evaluation rows."""
        if ticket.done is not None:
            ticket.done.synchronize()
        self._finish(ticket)
        rows, missing = ticket.rows, ticket.missing
        if len(missing):
            evaluated = ticket.views[0] if len(ticket.views) == 1 else ticket.views.mean(0)
            rows[missing] = evaluated
            self._cache.store(ticket.keys[missing], evaluated)
        ticket.size.inputs.append(ticket.inputs)
        return rows

    def predict(self, position: np.ndarray, symmetry: int = 0) -> Predictions:
        """Returns the outputs with the default options, see `NetworkHandle.predict`."""
        return self.with_options().predict(position, symmetry)

    def _predict(self, options: NetworkHandle, position: np.ndarray, symmetry: int) -> Predictions:
        size = self._size_of(position[0])
        inputs = self._free_inputs(size, 1)
        one = np.arange(1)
        write_legal(position, one, inputs.legal)
        self._write(position, one, np.array([symmetry]), options.profile, inputs, None)
        legal = torch.from_numpy(inputs.legal[:1, size.original[symmetry]]).to(self.device)
        raw = self._forward(inputs, one)
        outputs = predict(raw, self.config, legal, inputs.scalars[:1].to(self.device), optimism=options.optimism)
        size.inputs.append(inputs)
        back = torch.from_numpy(size.transformed[symmetry])
        outputs = Predictions(*(None if value is None else value.cpu() for value in outputs))  # type: ignore[arg-type]
        return outputs._replace(policy=outputs.policy[:, back], ownership=outputs.ownership[:, back[:-1]])

    def clear_cache(self) -> None:
        """Forgets all evaluations."""
        self._cache.clear()

    def close(self) -> None:
        """Ends the threads and releases the memory."""
        if self._workers:
            self._workers.shutdown()
        self._sizes.clear()
        del self.model, self._cache
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def _as_learned(self, boards: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns these positions under rules that the network has learned with, and their indices."""
        self._name_rules(int(rules_code(boards[indices[0]])))
        if len(indices) > len(self._shown):
            self._shown = np.zeros(len(indices), BOARD)
        show_batch(boards, indices, self._nearest, self._shown)
        return self._shown, np.arange(len(indices))

    def _name_rules(self, code: int) -> None:
        """Logs once which rules stand for those of this code, if the network did not learn with them."""
        if code in self._named_rules:
            return
        self._named_rules.add(code)
        nearest = self._rules_of_code[int(self._nearest[code])]
        known = " and ".join(self.rules)
        logger.warning(f"{self.name} learned with the rules {known} only: it evaluates this game as under {nearest}")

    def _size_of(self, position: np.ndarray) -> _BoardSize:
        """Returns what belongs to the board's size."""
        size = width, height = int(position["width"]), int(position["height"])
        if max(size) > self.largest_board:
            raise UserError(too_large(f"the network {self.name}", self.largest_board))
        if size not in self._sizes:
            self._sizes[size] = _BoardSize(width, height)
        return self._sizes[size]

    def _free_inputs(self, size: _BoardSize, count: int) -> _Inputs:
        """Returns memory for a batch that no other one uses; `collect` returns it to the pool."""
        while size.inputs:
            inputs = size.inputs.pop()
            if inputs.size >= count:
                return inputs
        positions, pinned = max(count, self.batch_size), self.device.type == "cuda"
        return _Inputs(positions, size.width, size.height, pinned, self.takes_profile)

    def _write(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray,
        profile: str,
        inputs: _Inputs,
        ladders: np.ndarray | None,
    ) -> np.ndarray:
        """Writes planes, scalars, metadata and ladders of the positions; returns their keys, uint64 [n]."""
        if self.rules:
            boards, indices = self._as_learned(boards, indices)
        planes, scalars = inputs.planes.numpy(), inputs.scalars.numpy()
        keys = np.empty(len(indices), np.uint64)
        caught = NO_LADDERS if ladders is None else ladders
        suicide = self.config.suicide_areas
        write_batch(boards, indices, symmetries, suicide, self._workspace, planes, scalars, keys, caught)
        if inputs.metadata is not None:
            rows, hashes = self._size_of(boards[indices[0]]).metadata(profile)
            colours = boards["to_move"][indices]
            inputs.metadata.numpy()[: len(indices)] = rows[colours]
            keys ^= hashes[colours]
        return keys

    def _begin(self, ticket: _Ticket, symmetries: np.ndarray, rows: np.ndarray) -> None:
        """Begins to evaluate the ticket's missing positions, whose inputs were written by the symmetries, into `rows`.

        symmetries: of all positions of the batch. rows: [missing, columns].
        """
        missing = ticket.missing
        if self._workers is None:
            raw = self._run_network(ticket.inputs, missing)
            ticket.unfinished.append(partial(self._decode, raw, ticket, missing, symmetries, rows))
            return
        start = 0
        for positions in np.array_split(missing, min(self.parts, len(missing))):
            part = rows[start : start + len(positions)]
            ticket.unfinished.append(self._workers.submit(self._evaluate, ticket, positions, symmetries, part).result)
            start += len(positions)

    def _evaluate(self, ticket: _Ticket, positions: np.ndarray, symmetries: np.ndarray, rows: np.ndarray) -> None:
        """Evaluates some of the ticket's positions, in a worker's thread."""
        self._decode(self._run_network(ticket.inputs, positions), ticket, positions, symmetries, rows)

    def _finish(self, ticket: _Ticket) -> None:
        """Waits until the evaluations that were begun are written."""
        if self.device.type == "cuda" and ticket.done is None:
            torch.cuda.synchronize()
        for finish in ticket.unfinished:
            finish()
        ticket.unfinished.clear()

    @torch.inference_mode()
    def _run_network(self, inputs: _Inputs, positions: np.ndarray) -> RawOutputs:
        """Returns the raw outputs for some positions of the inputs, float32 on the CPU.

        With CUDA they are there only once the device has done its work.
        """
        raw = RawOutputs(*(output.float().contiguous() for output in self._forward_in_halves(inputs, positions)))
        if self.device.type != "cuda":
            return RawOutputs(*(output.cpu() for output in raw))
        pinned = (torch.empty(output.shape, pin_memory=True) for output in raw)
        return RawOutputs(*(host.copy_(output, non_blocking=True) for host, output in zip(pinned, raw, strict=True)))

    def _forward_in_halves(self, inputs: _Inputs, positions: np.ndarray) -> RawOutputs:
        """Calls `_forward`, in halves as often as the device has not enough memory."""
        if len(positions) <= self._largest_batch:
            try:
                return self._forward(inputs, positions)
            except torch.OutOfMemoryError:
                pass  # the memory of the failed attempt is free only outside of this handler
            if len(positions) == 1:
                raise MemoryError(f"not enough memory on {self.device} for the network {self.name}")
            torch.cuda.empty_cache()
            self._largest_batch = len(positions) // 2
            self.batch_size = min(self.batch_size, self._largest_batch)
            most = self._largest_batch
            logger.warning(f"not enough memory on {self.device} for batches of {len(positions)}: {most} from now on")
        halves = (self._forward_in_halves(inputs, half) for half in np.array_split(positions, 2))
        return RawOutputs(*(torch.cat(parts) for parts in zip(*halves, strict=True)))

    @torch.inference_mode()
    def _forward(self, inputs: _Inputs, positions: np.ndarray) -> RawOutputs:
        """Returns the raw outputs for some positions of the inputs, on the device."""
        first, last = positions[0], positions[-1]
        # A slice is not copied.
        is_range = last - first == len(positions) - 1
        chosen: slice | torch.Tensor = slice(first, last + 1) if is_range else torch.from_numpy(positions)
        scalars = inputs.scalars[chosen].to(self.device, non_blocking=True)
        planes = inputs.planes[chosen].to(self.device, non_blocking=True).permute(0, 3, 1, 2).float()
        metadata = None
        if inputs.metadata is not None:
            metadata = inputs.metadata[chosen].to(self.device, non_blocking=True)
        return self.model(planes, scalars, metadata, full_board=True)

    def _decode(
        self, raw: RawOutputs, ticket: _Ticket, positions: np.ndarray, symmetries: np.ndarray, rows: np.ndarray
    ) -> None:
        """Writes the evaluation rows of raw outputs."""
        decode_outputs(
            raw.policy.numpy(),
            raw.value.numpy(),
            raw.scores.numpy(),
            raw.ownership.numpy(),
            positions,
            ticket.inputs.scalars.numpy(),
            ticket.inputs.legal,
            symmetries,
            ticket.size.transformed,
            ticket.optimism if self.config.has_optimism else 0.0,
            self._scale,
            rows,
        )

    def _remembered_precision(self) -> str:
        """Returns the faster precision for networks like this one on this CPU; it is tried once, so that it stays."""
        facts = hashlib.sha256(repr((self.config, torch.__version__)).encode()).hexdigest()[:16]
        file = CACHE_FOLDER / f"precision-{facts}" if CACHE_FOLDER else None
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if file and (precision := file.read_text()) in PRECISIONS:
                return precision
        precision = self._fastest_precision()
        with contextlib.suppress(OSError):
            if file:
                write_text(file, precision)
        return precision

    @torch.inference_mode()
    def _fastest_precision(self) -> str:
        """Returns the precision that a trial on this CPU shows to be faster.

        A few blocks like the network's are enough, with any weights: both precisions of the whole would take memory.
        They alternate, and CPU time is measured, so that other programs disturb little.
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


def _rulesets(path: Path, names: Sequence[str]) -> list[Rules]:
    """Returns the rules that a network learned with; UserError names the file with their names if one is unknown."""
    try:
        return [parse_rules(name) for name in names]
    except UserError as error:
        raise UserError(f"{path.with_name(RULES_FILE)}: {network_name(path)}: {error}") from error


def find_device(name: str) -> torch.device:
    """Returns the device of that name, the best one for "auto".

    Raises:
        UserError: the name is unknown or this machine has no such device.
    """
    if name not in (AUTO, *DEVICES):
        raise UserError(f"unknown device {name!r}: expected {AUTO}, {', '.join(DEVICES)}")
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == AUTO:
        return torch.device(next(kind for kind, found in available.items() if found))
    if not available[name]:
        raise UserError(f"no device {name!r} here: torch {torch.__version__} finds none")
    return torch.device(name)
