"""Products in the tiles of Intel's AMX: by themselves, beside other programs' use of them, and without permission."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from compiled import needs_bfloat16, needs_tiles
from convolutions import Given, both, random_mask, run_once
from numba import typeof

from gtp_engine.base import jit
from gtp_engine.base.target import WHEEL_TARGETS
from gtp_engine.nets.config import parse_config
from gtp_engine.nets.kernels import trunk
from gtp_engine.nets.kernels.amx import begin_products, end_products
from gtp_engine.nets.kernels.grid import Grid
from gtp_engine.nets.kernels.layers import ActivatedConv, Activation, Conv
from gtp_engine.nets.kernels.llvm import KNOWS_TILES
from gtp_engine.nets.kernels.matmul import INTEGER_TILES, TILES, matmul, pack_matrix, to_bfloat16, whole_inputs
from gtp_engine.nets.kernels.network import CompiledNetwork
from gtp_engine.nets.kernels.scalars import KINDS
from gtp_engine.nets.model import Model

TINY = Path(__file__).resolve().parents[1] / "data" / "networks" / "tiny.bin.gz"
Outputs = tuple[np.ndarray, ...]


@jit.njit
def multiply(left: np.ndarray, rows: int, weights: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    state = begin_products(weights)
    matmul(left, rows, weights, start, out)
    end_products(weights, state)


@pytest.mark.slow
@pytest.mark.skipif(jit.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize(("products", "integers"), [(TILES, None), (TILES, INTEGER_TILES), (None, INTEGER_TILES)])
def test_the_code_of_steps_in_tiles_has_types_on_every_processor(
    products: "np.dtype | None", integers: "np.dtype | None"
) -> None:
    """Those without tiles make no machine code of it, which would otherwise fail unseen where it was changed."""
    kernels = [None if kind is None else np.zeros(64, kind) for kind in (products, None, integers, None)]
    tables = trunk._Tables(np.zeros(1, trunk._STEP), np.zeros(4, np.float32), *kernels)
    arguments = tables, 1, Grid.of(9, 9, True), np.zeros((1, 1), np.bool_), np.zeros((1, 100), np.float32)
    part = trunk.run_steps_in_tiles._part(tuple(map(typeof, arguments)), None)  # LLVM's intermediate code
    assert any("tdpb" in library.get_llvm_str() for library in part.library._libraries_below())


@needs_tiles
@pytest.mark.parametrize("rows", [16, 32, 48, 64, 80, 208])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 16), (20, 40), (32, 16), (96, 96), (130, 70)])
def test_products_are_numpys(rows: int, inputs: int, outputs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not jit.config.DISABLE_JIT:
        monkeypatch.setattr(multiply, "_cache", jit.CodeCache(multiply.py_func, []))  # type: ignore[attr-defined]
    choice, columns = np.random.default_rng(1), -(-outputs // 16) * 16
    left, weight = (
        torch.from_numpy(choice.standard_normal((count, inputs), np.float32)).bfloat16() for count in (rows, outputs)
    )
    padded = np.zeros((rows + 16, whole_inputs(inputs, TILES)), np.float32)
    padded[:rows, :inputs] = left.float().numpy()
    packed = pack_matrix(weight.float().numpy(), TILES)
    expected = left.double().numpy() @ weight.double().numpy().T
    for starts in (1, rows):
        start = choice.standard_normal((starts, columns), np.float32)
        out = np.full((rows + 16, columns + 16), 7, np.float32)
        multiply(to_bfloat16(padded).view(TILES), rows, packed, start, out)
        assert np.allclose(out[:rows, :outputs], expected + start[:, :outputs], rtol=1e-5, atol=1e-5)
        assert (out[:rows, outputs:columns] == start[:, outputs:]).all()
        assert (out[rows:] == 7).all() and (out[:, columns:] == 7).all()


@needs_tiles
@pytest.mark.parametrize("side", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    ("size", "channels", "outputs"),
    [((1, 1), 16, 16), ((9, 9), 30, 96), ((7, 13), 48, 128), ((2, 19), 64, 70), ((19, 19), 33, 20), ((9, 5), 150, 144)],
)
def test_convolutions_are_torchs(
    side: int, kind: str, masked: bool, size: tuple[int, int], channels: int, outputs: int
) -> None:
    torch.manual_seed(1)
    on_board = random_mask(3, *size) if masked else None
    found, expected = both(torch.randn(3, channels, *size), outputs, kind, side, on_board, convolve)
    # Both factors are rounded, by 2^-9 at most; the results are about 1.
    assert (found - expected).abs().max() < 2**-5 and (found - expected).square().mean().sqrt() < 2**-8


def convolve(given: Given, adds: bool, out: np.ndarray) -> None:
    """In rows that hold whatever there was, but for the points."""
    count, height, width, channels = given.x.shape
    grid = Grid.of(height, width, True)
    x, rows = (np.full((count, grid.rows, number), np.nan, np.float32) for number in (channels, out.shape[3]))
    grid.points(x)[:], grid.points(rows)[:] = given.x, out
    conv, mask = Conv(given.weight, given.bias[: len(given.weight)]), grid.mask(given.on_board, count)
    for image in range(count):
        one, activation = slice(image, image + 1), Activation(given.kind, given.scale, given.shift[image])
        run_once(ActivatedConv(activation, [conv], TILES), x[one], grid, mask[one], rows[one], adds)
    out[:] = grid.points(rows)


def inputs(count: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    choice = np.random.default_rng(seed)
    planes = (choice.random((count, size, size, 22)) < 0.2).astype(np.uint8)
    planes[..., 0] = 1
    return planes, choice.random((count, 19)).astype(np.float32)


@needs_tiles
def test_threads_disturb_neither_each_other_nor_torch() -> None:
    """torch's products of bfloat16 are computed in tiles too: in another thread, and in one that evaluates as well."""
    torch.manual_seed(1)
    network = CompiledNetwork(Model(parse_config("b3c136nbt")).initialise().eval().stored(), TILES)
    given = [inputs(2, size, size) for size in (9, 13, 19)]
    left, right = torch.randn(2, 200, 300).bfloat16(), torch.randn(2, 300, 100).bfloat16()

    def evaluate(number: int) -> Callable[[], Outputs]:
        return lambda: network(*given[number])

    def multiply_with_torch() -> Outputs:
        return ((left @ right).float().numpy(),)

    def alternate() -> Outputs:
        return (*network(*given[1]), *multiply_with_torch(), *network(*given[2]))

    works = [evaluate(0), evaluate(1), evaluate(2), multiply_with_torch, alternate]
    alone = [work() for work in works]
    end = time.monotonic() + 1

    def repeat(number: int) -> None:
        while time.monotonic() < end:
            assert all(map(np.array_equal, works[number](), alone[number]))

    with ThreadPoolExecutor(len(works)) as threads:
        list(threads.map(repeat, range(len(works))))


# What follows runs in processes of its own, with this beginning; `expected` is what their first evaluation returned.
START = f"""
import ctypes, os, signal, sys, threading
from pathlib import Path

import numpy as np

tiny, choice = Path({str(TINY)!r}), np.random.default_rng(1)
planes, scalars = (choice.random((4, 19, 19, 22)) < 0.2).astype(np.uint8), choice.random((4, 19)).astype(np.float32)
planes[..., 0] = 1

def load():
    global network, tiles
    from gtp_engine.nets.katago_file import read_katago_file
    from gtp_engine.nets.kernels.matmul import TILES
    from gtp_engine.nets.kernels.network import CompiledNetwork, half_products
    tiles = half_products() == TILES
    network = CompiledNetwork(read_katago_file(tiny), half_products())

def evaluate():
    return network(planes, scalars, full_board=True)

def is_same(found):
    return all(map(np.array_equal, found, expected))
"""


def output(script: str, **variables: str) -> list[str]:
    environment = {**os.environ, **variables}
    command = [sys.executable, "-c", START + script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.split()


@needs_tiles
def test_older_threads_and_forked_processes_may_use_tiles() -> None:
    """The first thread begins before the process asks for permission."""
    script = """
loaded, found = threading.Event(), []
thread = threading.Thread(target=lambda: (loaded.wait(), found.append(evaluate())))
thread.start()
load()
loaded.set()
thread.join()
expected = evaluate()
print(tiles, is_same(found[0]), flush=True)
if (child := os.fork()) == 0:
    os._exit(0 if is_same(evaluate()) else 3)
print(os.waitpid(child, 0)[1], is_same(evaluate()))
"""
    assert output(script) == ["True", "True", "0", "True"]


@needs_tiles
def test_signals_change_no_result() -> None:
    """They are handled while tiles hold sums. The last one is Ctrl-C."""
    script = """
load()
expected, count = evaluate(), 0

def handle(*_):
    global count
    count += 1

signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
same = True
while count < 200:
    same = is_same(evaluate()) and same
signal.setitimer(signal.ITIMER_REAL, 0)
print(tiles, same)
threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        evaluate()
except KeyboardInterrupt:
    print(is_same(evaluate()))
"""
    assert output(script) == ["True", "True", "True"]


needs_linux = pytest.mark.skipif(
    not KNOWS_TILES or platform.system() != "Linux", reason="needs code for AMX tiles, and Linux"
)
# A stack for signals that is too small for the contents of tiles makes Linux refuse them.
REFUSED = """
class Stack(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))

memory = ctypes.create_string_buffer(8192)
assert ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(ctypes.addressof(memory), 0, len(memory))), None) == 0
"""


@needs_bfloat16
@needs_linux
def test_without_permission_vectors_are_chosen() -> None:
    script = """
from gtp_engine.nets.kernels.llvm import HAS_TILES
from gtp_engine.nets.kernels.matmul import BFLOAT16
from gtp_engine.nets.kernels.network import half_products
print(HAS_TILES, half_products() == BFLOAT16)
"""
    assert output(REFUSED + script) == ["False", "True"]


@pytest.mark.slow  # kernels are compiled
@needs_bfloat16
@needs_linux
def test_without_permission_vectors_are_used() -> None:
    script = """
load()
expected = evaluate()
from gtp_engine.nets.katago_file import read_katago_file
from gtp_engine.nets.kernels.llvm import HAS_TILES
from gtp_engine.search.evaluate.runner import make_runner
runner = make_runner(read_katago_file(tiny), tiny, "cpu", "bfloat16")
inputs = runner.new_inputs(4, 19, 19)
inputs.planes[:], inputs.scalars[:] = planes, scalars
found = runner.run(inputs, np.arange(4))
print(tiles, HAS_TILES, runner.precision, is_same(found), all(np.isfinite(part).all() for part in found))
"""
    assert output(REFUSED + script) == ["False", "False", "bfloat16", "True", "True"]


@pytest.mark.slow  # all kernels are compiled
@needs_bfloat16
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="not an x86-64 processor")
def test_code_for_processors_without_tiles_has_none(tmp_path: Path) -> None:
    """LLVM would end the process if there were an instruction that the target lacks."""
    target = next(known for known in WHEEL_TARGETS if known.name == "x86-64-v4" and "amx-tile" not in known.needs)
    script = """
load()
expected = evaluate()
from gtp_engine.nets.kernels.llvm import HAS_BFLOAT16, HAS_TILES, KNOWS_TILES
print(tiles, HAS_BFLOAT16, KNOWS_TILES, HAS_TILES, is_same(evaluate()))
"""
    processor = {"NUMBA_CPU_NAME": target.name, "NUMBA_CPU_FEATURES": target.features}
    found = output(script, GTP_ENGINE_CACHE=str(tmp_path), **processor)
    assert found == ["False", "True", "False", "False", "True"]
