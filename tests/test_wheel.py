"""The wheel and an editable install, each in an environment of its own, play a move.

The new environments borrow the libraries of the running one, so that PyTorch is not installed again.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import pytest
from cases import ALL

from gtp_engine.base.target import wheel_targets

ROOT = Path(__file__).resolve().parents[1]
FOLDER_SCRIPT = "from gtp_engine.base import jit, warm_up; print(jit._wheel_folder.path, warm_up.is_cold())"
SESSION = "1 name\n2 boardsize 5\n3 genmove b\n4 quit\n"

pytestmark = pytest.mark.wheel


def run(*command: str | Path, cwd: Path, text: str = "", **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=cwd, env=environment, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout without what earlier builds left there."""
    folder = tmp_path_factory.mktemp("source") / "gtp_engine"
    ignored = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "node_modules", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=ignored)
    return folder


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, source, cwd=folder)
    [path] = folder.glob("*.whl")
    return path


def environment(folder: Path) -> Path:
    """A new virtual environment that sees this one's libraries; returns the folder of its programs."""
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    [packages] = folder.glob("Lib/site-packages" if sys.platform == "win32" else "lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def install(programs: Path, *what: str | Path) -> None:
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    constraints = ROOT / "constraints.txt"
    run(*pip, "install", "-q", "--ignore-installed", "--no-deps", "-c", constraints, *what, cwd=programs)
    assert "No broken requirements" in run(*pip, "check", cwd=programs)


def check_playing(programs: Path, installed: Path) -> None:
    """The program lies under `installed`, knows its networks' folder and plays."""
    where = "import gtp_engine, gtp_engine.weights as w; print(gtp_engine.__file__, w.__file__, sep='\\n')"
    for file in run(programs / "python", "-c", where, cwd=programs).split():
        assert Path(file).is_relative_to(installed)
    replies = run(programs / "gtp_engine", "gtp", "--visits", "20", cwd=programs, text=SESSION).split("\n\n")
    assert replies[0] == "=1 gtp_engine"
    assert replies[2].startswith("=3 ")
    assert replies[2][3:] != "resign"


def test_wheel_holds_every_module_template_and_preset(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    kinds = (".py", ".css", ".html", ".js", ".json", ".toml")
    files = [path for path in (ROOT / "gtp_engine").rglob("*") if path.suffix in kinds]
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    assert {"gtp_engine/py.typed", "gtp_engine/weights/__init__.py"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_installed_wheel_plays(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "venv")
    install(programs, wheel)
    check_playing(programs, tmp_path)


def test_editable_install_plays(source: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "venv")
    install(programs, "-e", source)
    check_playing(programs, source)
    check_types(programs, tmp_path)


def check_types(programs: Path, folder: Path) -> None:
    """A type checker that is used elsewhere knows the types of the public names."""
    pytest.importorskip("mypy", reason="needs mypy: pip install -e '.[dev]'")
    script = folder / "script.py"
    example = (ROOT / "examples" / "learn_a_game.py").read_text()
    script.write_text(example + "\nreveal_type(gtp_engine.network_inputs([]))\n")
    mypy = (sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "mypy")
    said = run(*mypy, "--python-executable", programs / "python", script, cwd=folder)
    assert 'Revealed type is "tuple[' in said and "gtp_engine.search.evaluate.inputs.NetworkInputs" in said


@pytest.fixture(scope="module")
def wheel_with_code(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of `make wheel`, whose tool compiles from the copy of the checkout, for one processor or for all."""
    folder = tmp_path_factory.mktemp("wheel")
    tool = source / "tools" / "build_wheel.py"
    said = run(sys.executable, tool, folder, *([] if ALL else ["--first"]), cwd=source, PYTHONPATH=str(source))
    [path] = folder.glob("*.whl")
    assert said.endswith(f"{path}\n")
    return path


@pytest.mark.timeout(900)  # the code may be compiled for three processors
@pytest.mark.skipif(not wheel_targets(), reason="wheels bring no code for this processor")
def test_with_its_code_the_wheel_compiles_nothing(wheel_with_code: Path, tmp_path: Path) -> None:
    """In another folder, with other times, read-only; a damaged file is compiled again, into the cache."""
    programs = environment(tmp_path / "venv")
    install(programs, wheel_with_code)
    cache = tmp_path / "cache"
    play = (programs / "gtp_engine", "gtp", "--visits", "20")
    said = run(programs / "python", "-c", FOLDER_SCRIPT, cwd=tmp_path, GTP_ENGINE_CACHE=str(cache)).split()
    package, cold = Path(said[0]), said[1]
    assert package.is_relative_to(tmp_path / "venv") and cold == "False"
    for file in package.iterdir():
        file.chmod(0o400)
    start = time.monotonic()
    assert run(*play, cwd=tmp_path, text=SESSION, GTP_ENGINE_CACHE=str(cache)).startswith("=1 gtp_engine")
    print(f"the first move came after {time.monotonic() - start:.1f} s")
    assert not list(cache.rglob("*.code"))
    damaged = next(package.glob("*go.board.play*.code"))
    damaged.chmod(0o600)
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert run(*play, cwd=tmp_path, text=SESSION, GTP_ENGINE_CACHE=str(cache)).startswith("=1 gtp_engine")
    assert [file.name for file in cache.rglob("*.code")] == [damaged.name]
