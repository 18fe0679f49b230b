"""Builds a wheel that brings machine code for common processors, so that the first start compiles nothing.

`make wheel` calls this. The code is made by playing a few moves: compiled for each processor of `WHEEL_TARGETS` that
this one can imitate. It fits this version of Python and of numba; with others the wheel compiles at its first start.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from llvmlite import binding

from gtp_engine.base.jit import COMPILED
from gtp_engine.base.target import WHEEL_TARGETS, Target

ROOT = Path(__file__).resolve().parents[1]
IGNORED = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "node_modules", "__pycache__", COMPILED)
# What a game needs in addition to the start: rollouts, ladders, counting, undo.
SESSION = """boardsize 9
play b E5
genmove w
genmove b
undo
lz-analyze 1
kata-raw-nn 0
final_score
boardsize 19
genmove b
final_status_list dead
quit
"""


def main() -> None:
    """Builds the wheel."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist", help="folder of the wheel")
    parser.add_argument("--first", action="store_true", help="compile only for the first processor, which tests do")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "gtp_engine"
        shutil.copytree(ROOT, source, ignore=IGNORED)
        features = binding.get_host_cpu_features()
        known = [target for target in WHEEL_TARGETS if all(features.get(name) for name in target.needs)]
        for target in WHEEL_TARGETS:
            if target not in known:
                print(f"left out {target.name} {target.features}: this processor cannot execute its code")
        for target in known[:1] if arguments.first else known:
            print(f"compiling for {target.name} {target.features}", flush=True)
            compile_for(target, source)
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*command, "-w", folder, source], check=True, cwd=temporary)
    print(*folder.glob("*.whl"), sep="\n")


def compile_for(target: Target, source: Path) -> None:
    """Compiles the core for a processor, into the package in the folder `source`."""
    cache = source.parent / "cache"
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CPU_NAME": target.name,
        "NUMBA_CPU_FEATURES": target.features,
        "GTP_ENGINE_CACHE": str(cache),
        "GTP_ENGINE_DATA": str(cache),
    }
    program = [sys.executable, "-m", "gtp_engine", "gtp", "--visits", "20"]
    quiet = subprocess.DEVNULL
    for more in ([], ["--network", "none"]):
        command = [*program, *more]
        subprocess.run(command, check=True, cwd=source, env=environment, input=SESSION, stdout=quiet, text=True)
    for code in cache.glob(f"{COMPILED}/*/*"):
        if code.suffix == ".code" or code.name == "complete":
            package = source / "gtp_engine" / COMPILED / code.parent.name
            package.mkdir(parents=True, exist_ok=True)
            shutil.move(code, package)
    shutil.rmtree(cache)


if __name__ == "__main__":
    main()
