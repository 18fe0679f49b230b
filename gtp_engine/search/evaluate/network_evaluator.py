"""The evaluator with a network: positions in batches through compiled kernels or torch (`runner`), and their cache.

The cache is for positions that are reached again by another order of moves or in the next search.
"""

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...base.errors import UserError
from ...base.jit import njit
from ...base.languages.texts import texts
from ...base.threads import Helpers
from ...go.board import BOARD
from ...go.coords import BLACK, WHITE
from ...go.rules import parse_rules, rules_phrase
from ...go.symmetry import ALL_SYMMETRIES, COUNT, permutation
from ...nets.library import RULES_FILE, learned_rules, load_network, network_name
from ...nets.schema import METADATA
from ...nets.stored import RawOutputs
from .choices import CACHE_MEGABYTES, LARGEST_BOARD, too_large
from .evaluator import Evaluator
from .features import NO_LADDERS, Inputs, Workspace, add_legal_to_keys, new_workspace, write_batch, write_legal
from .human_profile import check_profile, metadata_row, parse_profile
from .learned_rules import code_of, nearest_rules, rules_code, show_batch
from .row import EvaluationRow, decode_outputs, output_scale, row_columns
from .runner import make_runner

# The table takes 16 bytes an entry and is at most half full with evaluations of 9x9: a tenth of the memory.
_VALUES_PER_ENTRY = 85
_NO_HASHES = np.zeros(3, np.uint64)


class EvaluationCache(NamedTuple):
    """The latest evaluation rows, for boards of any size (`new_cache`).

    Rows are stored one after the other in a ring of float32; at its end they continue at the start, over the oldest. A
    table finds the beginning of a row by the lower bits of its key; of two keys with the same lower bits it keeps the
    later one.
    """

    values: np.ndarray  # float32, the ring
    keys: np.ndarray  # uint64, 0 for a free entry of the table
    offsets: np.ndarray  # int64: how many values were written before each row, in earlier rounds of the ring too
    end: np.ndarray  # int64 [1], how many were written so far


def new_cache(megabytes: float) -> EvaluationCache:
    """Returns an empty cache with a ring of this size."""
    size = max(1, int(megabytes * 1e6 / 4))
    entries = 1 << (size // _VALUES_PER_ENTRY).bit_length()
    table = np.zeros(entries, np.uint64), np.zeros(entries, np.int64)
    return EvaluationCache(np.zeros(size, np.float32), *table, np.zeros(1, np.int64))


@njit
def look_up(cache: EvaluationCache, keys: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Copies the rows of known keys to `rows`, float32 [n, columns]; returns the indices of the other keys.

    The keys, uint64 [n], are not 0. The same one must not be used for rows of two lengths.
    """
    missing, count = np.empty(len(keys), np.intp), 0
    for index in range(len(keys)):
        slot = keys[index] & np.uint64(len(cache.keys) - 1)
        if cache.keys[slot] != keys[index] or cache.offsets[slot] < cache.end[0] - len(cache.values):
            missing[count] = index
            count += 1
            continue
        start = cache.offsets[slot] % len(cache.values)
        for column in range(rows.shape[1]):
            rows[index, column] = cache.values[start + column]
    return missing[:count]


@njit
def store(cache: EvaluationCache, keys: np.ndarray, rows: np.ndarray, chosen: np.ndarray) -> None:
    """Stores rows[i] under keys[i] for each index i in `chosen`; if they do not all fit, the latest remain."""
    values, columns = cache.values, rows.shape[1]
    if columns > len(values):
        return
    for index in chosen:
        start = cache.end[0] % len(values)
        if start + columns > len(values):
            cache.end[0] += len(values) - start
            start = 0
        slot = keys[index] & np.uint64(len(cache.keys) - 1)
        cache.keys[slot], cache.offsets[slot] = keys[index], cache.end[0]
        for column in range(columns):
            values[start + column] = rows[index, column]
        cache.end[0] += columns


@njit
def write_and_look_up(
    boards: np.ndarray,
    indices: np.ndarray,
    nearest: np.ndarray,
    shown: np.ndarray,
    symmetries: np.ndarray,
    suicide: bool,
    w: Workspace,
    planes: np.ndarray,
    scalars: np.ndarray,
    legal: np.ndarray,
    salt: int,
    hashes: np.ndarray,
    ladders: np.ndarray,
    cache: EvaluationCache,
    keys: np.ndarray,
    rows: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Writes the inputs of a batch, and looks its positions up.

    All in one call: to a small network its arguments, and its code that has left the CPU's caches meanwhile, cost as
    much as the work.

    Args:
        boards, indices, symmetries, suicide, w, planes, scalars, salt, ladders: as `features.write_batch` takes them.
        nearest: the rules under which positions are shown, as `show_batch` takes them.
        shown: memory for them, BOARD [n or more]; [0] if they are shown under their own rules.
        legal: as `features.write_legal` writes it.
        hashes: uint64 [3], combined with the keys (XOR) by the colour to move.
        cache, rows: as `look_up` takes them.
        keys: uint64 [n], written.

    Returns:
        The indices of positions that are not known, and the code of the first one's own rules.
    """
    write_legal(boards, indices, legal)
    code = rules_code(boards[indices[0]])
    if len(shown):
        show_batch(boards, indices, nearest, shown)
        boards, indices = shown, np.arange(len(indices))
    write_batch(boards, indices, symmetries, suicide, w, planes, scalars, keys, salt, ladders)
    if len(shown):  # rules that look the same to the network may differ in what is legal, and its policy with them
        add_legal_to_keys(legal, keys)
    for row in range(len(indices)):
        keys[row] ^= hashes[boards[indices[row]]["to_move"]]
    return look_up(cache, keys, rows), code


logger = logging.getLogger(__name__)

# On a CPU larger batches are hardly faster, and of fewer leaves in flight more are well chosen: with two threads and
# b10c384h6nbttflrs-int8, 4 reach 748 visits a second on 9x9 and 111 on 19x19, 8 reach 704 and 110 (AMD EPYC, Zen 5).
# A GPU needs large ones: an H100 computes 9,426 positions a second with b18c384nbt in batches of 64, 10,558 in 128.
CPU_BATCH_SIZE, GPU_BATCH_SIZE = 4, 128
# Two batches of 8, in which the same H100 reaches a third of that: as many leaves as 8 threads of a CPU have in flight.
_GPU_EARLY_LEAVES = 16


class _BoardSize:
    """The parts that depend on the board's size: symmetries of rows in move-index order, metadata, memory for inputs.

    `policy[transformed[s]]` transforms a policy back that symmetry s has transformed. Planes that are not square are
    never transposed.
    """

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.area = width * height
        self.columns = row_columns(self.area)
        different = COUNT if width == height else COUNT // 2
        self.transformed = np.array([permutation(number % different, width, height) for number in range(COUNT)])
        self.inputs: list[Inputs] = []
        self.is_prepared = False  # by `NetworkEvaluator.prepare`
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
    """A batch under way, as `Evaluator.submit` takes it.

    salt: makes other keys of the same inputs. rows: the evaluations, [n, columns]; those of `missing` are written once
    all of `unfinished` have been called, which may wait for another thread. views: [8, n, columns], written instead if
    symmetries are averaged: the evaluations of `missing` by each. wait: waits for the device (`runner.Runner.mark`).
    """

    boards: np.ndarray
    indices: np.ndarray
    ladders: np.ndarray | None
    optimism: float
    profile: str
    size: _BoardSize
    inputs: Inputs
    keys: np.ndarray
    rows: np.ndarray
    missing: np.ndarray = field(init=False)
    salt: int = 0
    views: np.ndarray | None = None
    unfinished: list[Callable[[], None]] = field(default_factory=list)
    wait: Callable[[], None] | None = None


class NetworkEvaluator(Evaluator):
    """An evaluator with a network of KataGo's family, for boards up to 19x19.

    One thread makes all calls, the constructor included. With two or more CPU threads, of which it is one, two batches
    are evaluated side by side, each in as many parts as keep the threads busy: threads that work on one part together
    would wait for each other at every layer, and much longer when other programs use the CPU too. Two more batches
    wait, so that no thread is idle while the search takes batches back and chooses the next leaves.

    Args:
        path: the network's file.
        threads: CPU threads that it may use.
        device, precision: see `runner.make_runner`.
        batch_size: see `Evaluator.batch_size`; None for the device's usual one.
        cache_megabytes: the memory for evaluations of earlier positions.

    Attributes:
        runner: what computes the network.
        device, precision: those of the runner.
        rules: the names of the rules that it learned with, if `rules.toml` names them; games under other rules are
            shown to it under the nearest of them, which is logged once.

    Raises:
        UserError: an unknown device or precision, or the file is not a network.
        OSError: the file cannot be read.
    """

    largest_board = LARGEST_BOARD
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
        network = load_network(path)
        self.config = network.config
        self.takes_profile = self.config.metadata_version > 0
        self.has_optimism = self.config.has_optimism
        self.name = network_name(path)
        self.runner = make_runner(network, path, device, precision)
        self.device, self.precision = self.runner.device, self.runner.precision
        on_cpu = self.device == "cpu"
        self.parts = -(-threads // 2) if on_cpu else 1
        self.overlap = 2 if self.device == "cuda" else 4 if on_cpu and threads > 1 else 1
        self._helpers = None
        if on_cpu and threads > 1:
            self._helpers = Helpers(threads - 1, "network", self.runner.prepare_thread)
        self.portions = self.overlap
        if not on_cpu:
            self.early_leaves = _GPU_EARLY_LEAVES
        self.batch_size = batch_size or (max(CPU_BATCH_SIZE, self.parts) if on_cpu else GPU_BATCH_SIZE)
        self._workspace = new_workspace()
        self.rules = learned_rules(path)
        try:
            known = [parse_rules(name) for name in self.rules]
        except UserError as error:
            raise UserError(f"{path.with_name(RULES_FILE)}: {self.name}: {error}") from error
        self._nearest = nearest_rules(known)
        self._shown = np.zeros(0, BOARD)  # positions as they are shown under the nearest rules
        self._rules_of_code = dict(zip(map(code_of, known), self.rules, strict=True))
        self._named_rules = set(self._rules_of_code)  # codes for which nothing is logged any more
        self._cache = new_cache(cache_megabytes)
        self._sizes: dict[tuple[int, int], _BoardSize] = {}
        self._scale = output_scale(self.config)

    def __str__(self) -> str:
        return f"{self.name}: {self.device}, {self.precision}"

    def submit(
        self,
        boards: np.ndarray,
        indices: np.ndarray,
        symmetries: np.ndarray | None = None,
        ladders: np.ndarray | None = None,
        *,
        optimism: float = 0.0,
        profile: str = "",
    ) -> _Ticket:
        """Begins the batch; with one thread on a CPU it is done when this returns.

        A position in the cache is not evaluated again, whatever the symmetry.

        Raises:
            UserError: the board is larger than 19x19, or the profile does not suit the network.
        """
        average = symmetries is not None and bool(symmetries[0] == ALL_SYMMETRIES)
        view = np.zeros(len(indices), np.intp) if average or symmetries is None else symmetries
        ticket = self._new_ticket(boards, indices, ladders, optimism, profile)
        ticket.salt = hash((optimism if self.has_optimism else 0.0, average)) & 0xFFFFFFFF
        self._write(ticket, view)
        if not average and len(ticket.missing):
            self._begin(ticket, view, ticket.rows)
        elif len(ticket.missing):
            ticket.views = np.empty((COUNT, *ticket.rows.shape), np.float32)
            for symmetry, evaluated in enumerate(ticket.views):
                if symmetry > 0:
                    view[:] = symmetry
                    self._write(ticket, view)
                self._begin(ticket, view, evaluated)
                self._finish(ticket)  # the next view overwrites the inputs
        return ticket

    def collect(self, ticket: _Ticket) -> np.ndarray:
        """Waits for the batch and returns its evaluation rows."""
        self._finish(ticket)
        rows, missing = ticket.rows, ticket.missing
        if ticket.views is not None:
            rows[missing] = ticket.views[:, missing].mean(0)
        if len(missing):
            store(self._cache, ticket.keys, rows, missing)
        ticket.size.inputs.append(ticket.inputs)
        return rows

    def evaluate(
        self, position: np.ndarray, symmetry: int = 0, *, optimism: float = 0.0, profile: str = ""
    ) -> EvaluationRow:
        """Returns the network's evaluation of one position (BOARD [1], `features.position_of`) by a symmetry.

        It is computed in any case: the cache, which does not distinguish symmetries, is not asked.
        """
        symmetries = np.array([symmetry])
        ticket = self._new_ticket(position, np.arange(1), None, optimism, profile)
        self._write(ticket, symmetries)
        ticket.missing = np.arange(1)
        self._begin(ticket, symmetries, ticket.rows)
        self._finish(ticket)
        ticket.size.inputs.append(ticket.inputs)
        return EvaluationRow(ticket.rows[0], ticket.size.area)

    def raw_outputs(self, positions: np.ndarray, profile: str = "") -> RawOutputs[np.ndarray]:
        """Returns what the network computes for positions on boards of one size (BOARD [n]) by no symmetry, float32.

        The cache is not asked, and the thread that calls does all the work. The profile is as in `Evaluator.submit`.
        """
        indices = np.arange(len(positions))
        ticket = self._new_ticket(positions, indices, None, 0.0, profile)
        self._write(ticket, np.zeros(len(indices), np.intp))
        raw = self.runner.run(ticket.inputs, indices)
        self.runner.mark()()
        ticket.size.inputs.append(ticket.inputs)
        return raw

    def prepare(self, width: int, height: int) -> None:
        """Prepares the device for batches of every size, which takes an NVIDIA GPU a second or two."""
        size = self._size(width, height)
        if not size.is_prepared:
            size.is_prepared = True
            inputs = self._free_inputs(size, self.batch_size)
            self.runner.prepare(inputs)
            size.inputs.append(inputs)

    def clear_cache(self) -> None:
        """Forgets all evaluations."""
        self._cache.keys[:] = 0

    def close(self) -> None:
        """Ends the threads and releases the memory."""
        if self._helpers:
            self._helpers.close()
        self._sizes.clear()
        self.runner.close()
        del self._cache

    def _new_ticket(
        self, boards: np.ndarray, indices: np.ndarray, ladders: np.ndarray | None, optimism: float, profile: str
    ) -> _Ticket:
        """Returns a ticket for these positions, with memory for their inputs and evaluations."""
        check_profile(self.name, self.takes_profile, profile)
        size, count = self._size(int(boards["width"][indices[0]]), int(boards["height"][indices[0]])), len(indices)
        keys, rows = np.empty(count, np.uint64), np.empty((count, size.columns), np.float32)
        inputs = self._free_inputs(size, count)
        return _Ticket(boards, indices, ladders, optimism, profile, size, inputs, keys, rows)

    def _size(self, width: int, height: int) -> _BoardSize:
        """Returns the parts for a board's size; UserError if it is too large."""
        if (width, height) not in self._sizes:
            if max(width, height) > self.largest_board:
                raise UserError(too_large(f"the network {self.name}", self.largest_board))
            self._sizes[width, height] = _BoardSize(width, height)
        return self._sizes[width, height]

    def _free_inputs(self, size: _BoardSize, count: int) -> Inputs:
        """Returns memory for a batch that no other one uses; `collect` returns it to the pool."""
        while size.inputs:
            inputs = size.inputs.pop()
            if inputs.size >= count:
                return inputs
        return self.runner.new_inputs(max(count, self.batch_size), size.width, size.height)

    def _write(self, ticket: _Ticket, symmetries: np.ndarray) -> None:
        """Writes planes, scalars, metadata, legal moves and ladders of the positions; looks them up in the cache."""
        inputs, hashes, boards, indices = ticket.inputs, _NO_HASHES, ticket.boards, ticket.indices
        if inputs.metadata is not None:
            rows, hashes = ticket.size.metadata(ticket.profile)
            inputs.metadata[: len(indices)] = rows[boards["to_move"][indices]]
        if self.rules and len(indices) > len(self._shown):
            self._shown = np.zeros(len(indices), BOARD)
        ticket.missing, code = write_and_look_up(
            boards,
            indices,
            self._nearest,
            self._shown,
            symmetries,
            self.config.suicide_areas,
            self._workspace,
            inputs.planes,
            inputs.scalars,
            inputs.legal,
            ticket.salt,
            hashes,
            NO_LADDERS if ticket.ladders is None else ticket.ladders,
            self._cache,
            ticket.keys,
            ticket.rows,
        )
        if self.rules and code not in self._named_rules:
            self._named_rules.add(code)
            named = *self.rules, self._rules_of_code[int(self._nearest[code])]
            *learned, nearest = (texts().say(rules_phrase(name)) for name in named)
            only = f"{self.name} learned with {' and '.join(learned)} rules only"
            logger.warning(f"{only}: it evaluates this game as under {nearest} rules")

    def _begin(self, ticket: _Ticket, symmetries: np.ndarray, rows: np.ndarray) -> None:
        """Begins to evaluate the ticket's missing positions, whose inputs were written by the symmetries, into `rows`.

        Both are of all positions of the batch.
        """
        missing = ticket.missing
        if self._helpers is None:
            raw = self.runner.run(ticket.inputs, missing)
            self.batch_size = min(self.batch_size, self.runner.largest_batch)
            ticket.wait = self.runner.mark()
            ticket.unfinished.append(partial(self._decode, raw, ticket, missing, symmetries, rows))
            return
        size = -(-len(missing) // self.parts)
        for start in range(0, len(missing), size):
            positions = missing[start : start + size]
            part = self._helpers.submit(partial(self._evaluate, ticket, positions, symmetries, rows))
            ticket.unfinished.append(partial(self._helpers.result, part))

    def _evaluate(self, ticket: _Ticket, positions: np.ndarray, symmetries: np.ndarray, rows: np.ndarray) -> None:
        """Evaluates some of the ticket's positions, in any thread."""
        self._decode(self.runner.run(ticket.inputs, positions), ticket, positions, symmetries, rows)

    def _finish(self, ticket: _Ticket) -> None:
        """Waits until the evaluations that were begun are written."""
        if ticket.wait is not None:
            ticket.wait()
        for finish in ticket.unfinished:
            finish()
        ticket.unfinished.clear()

    def _decode(
        self,
        raw: RawOutputs[np.ndarray],
        ticket: _Ticket,
        positions: np.ndarray,
        symmetries: np.ndarray,
        rows: np.ndarray,
    ) -> None:
        """Writes the evaluation rows of raw outputs."""
        inputs, indices = ticket.inputs, ticket.size.transformed
        optimism = ticket.optimism if self.has_optimism else 0.0
        decode_outputs(*raw, positions, inputs.scalars, inputs.legal, symmetries, indices, optimism, self._scale, rows)
