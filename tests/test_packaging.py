"""setup.cfg, the public names and the versions agree with the tree."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from configparser import ConfigParser
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gtp_engine
from gtp_engine.engine.ranks import RANKS_FILE
from gtp_engine.nets.library import JUDGE, RANK_PLAY, RULES_FILE, USES_FILE, bundled_folder
from gtp_engine.nets.published import LIST_FILE

ROOT = Path(__file__).resolve().parents[1]


def setup_cfg() -> ConfigParser:
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg")
    return parser


def test_every_package_is_installed() -> None:
    """`find:` skips folders without an `__init__.py`."""
    folders = {path.parent for path in (ROOT / "gtp_engine").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
    assert setup_cfg()["options"]["packages"] == "find:"


def admitted_pythons() -> list[str]:
    return re.findall(r"Python :: (3\.\d+)", setup_cfg()["metadata"]["classifiers"])


@pytest.mark.parametrize("python", admitted_pythons())
def test_constraints_pin_every_requirement_once(python: str) -> None:
    options = setup_cfg()
    extras = options["options.extras_require"]
    wanted = options["options"]["install_requires"] + extras["dev"] + extras["browser"] + extras["cluster"]
    pinned = names_for(python, (ROOT / "constraints.txt").read_text())
    assert len(pinned) == len(set(pinned))
    assert set(names_for(python, wanted)) <= set(pinned)


def names_for(python: str, text: str) -> list[str]:
    """Names of the requirements in a text, one a line, that hold for a version of Python."""
    lines = (line for line in text.strip().splitlines() if not line.startswith("#"))
    found = map(Requirement, lines)
    return [one.name.lower() for one in found if not one.marker or one.marker.evaluate({"python_version": python})]


def test_a_public_ci_tests_the_oldest_and_the_newest_python() -> None:
    admitted = admitted_pythons()
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert re.findall(r'"(3\.\d+)"', workflow.partition("matrix:")[2]) == [admitted[0], admitted[-1]]
    assert (
        f"You need [Python](https://www.python.org/downloads/) {admitted[0]} to {admitted[-1]}."
        in (ROOT / "README.md").read_text()
    )


def test_bundled_networks_are_installed_with_their_cards() -> None:
    weights = bundled_folder()
    packaged = setup_cfg()["options.package_data"]["gtp_engine.weights"].split(", ")
    assert packaged == ["*.bin.gz", "*.md", USES_FILE, LIST_FILE, RANKS_FILE, RULES_FILE]
    assert {path.name for path in weights.glob("*.toml")} <= set(packaged)
    names = {path.name.removesuffix(".bin.gz") for path in weights.glob("*.bin.gz")}
    for table in (RULES_FILE, RANKS_FILE):
        assert names >= set(tomllib.loads((weights / table).read_text()))
    served = tomllib.loads((weights / USES_FILE).read_text())
    assert set(served) == {JUDGE, RANK_PLAY, "errors"}
    assert names >= {name for networks in served.values() for name in networks}
    for name in names:
        assert (weights / f"{name}.bin.gz").stat().st_size <= 15e6
        assert (weights / f"{name}.md").is_file()
    assert "KataGo" in (weights / "network-licence.md").read_text()


def test_every_public_name_exists() -> None:
    for name in gtp_engine.__all__:
        assert getattr(gtp_engine, name) is not None
    assert set(gtp_engine.__all__) <= set(dir(gtp_engine))


def test_public_names_are_imported_for_type_checkers_too() -> None:
    tree = ast.parse((ROOT / "gtp_engine" / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imported = [
        (node.module, alias.name) for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert sorted(imported) == sorted((f"gtp_engine.{m}", name) for name, m in gtp_engine._MODULE_OF.items())
    assert sorted(gtp_engine.__all__) == sorted(gtp_engine._MODULE_OF)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Enginee'"):
        gtp_engine.Enginee  # noqa: B018


def test_changelog_has_this_version() -> None:
    headings = re.findall("^## (.*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert gtp_engine.__version__ in headings[0]


def test_importing_the_package_is_light() -> None:
    code = "import sys, gtp_engine; print([m for m in ('torch', 'numba', 'numpy', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT).stdout == "[]\n"


# A module imports only from floors below its own, or from its own folder. A folder that is not named here belongs to
# the one around it.
FLOORS = [
    {"base"},
    {"go", "nets"},
    {"go.sgf", "nets.kernels", "solver"},
    {"search.evaluate"},
    {"search"},
    {"engine"},
    {"arena", "table"},
    {"study", "training"},
    {"clients.analysis", "clients.gtp", "clients.terminal"},
    {"clients.web"},
    {"clients.cli"},
]


FLOOR_OF = {name: number for number, names in enumerate(FLOORS) for name in names}


def room(module: str) -> str:
    """Returns the folder in `FLOORS` that a module belongs to, or the module itself without `gtp_engine.`."""
    parts = module.split(".")[1:]
    folders = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((folder for folder in folders if folder in FLOOR_OF), ".".join(parts))


def test_modules_import_from_lower_floors_only() -> None:
    wrong = []
    for path in (ROOT / "gtp_engine").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[1] in ("__init__", "__main__", "weights") or parts[1:] == ("clients", "__init__"):
            continue
        own = room(".".join(parts))
        assert own in FLOOR_OF, f"{path} belongs to no folder with a floor"
        for module in imported_modules(path, parts[:-1]):
            if room(module) != own and FLOOR_OF.get(room(module), -1) >= FLOOR_OF[own]:
                wrong.append(f"{'.'.join(parts)} imports {module}")
    assert wrong == []


def test_a_name_leads_to_at_most_two_modules() -> None:
    names = Counter(path.name for path in (ROOT / "gtp_engine").rglob("[!_]*.py"))
    assert [name for name, count in names.items() if count > 2] == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, those for type checkers alone do not."""
    paths = {path.relative_to(ROOT).with_suffix("").parts: path for path in (ROOT / "gtp_engine").rglob("*.py")}
    modules = {".".join(parts).removesuffix(".__init__"): (parts[:-1], path) for parts, path in paths.items()}
    graph = {
        name: {found for found in imported_modules(path, package, checked=False) if found in modules} - {name}
        for name, (package, path) in modules.items()
    }
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def imported_modules(path: Path, package: tuple[str, ...], *, checked: bool = True) -> set[str]:
    """Modules of the package that a file imports, absolutely or relatively; `checked` includes those for type checkers.

    Of `from .module import name` these are the module and, if it is a module itself, the name.
    """
    found = set()
    for node in nodes(ast.parse(path.read_text()), checked):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            found |= {f"{module}.{alias.name}" for alias in node.names}
            if node.module:
                found.add(module)
    return {name for name in found if name.startswith("gtp_engine.")}


def nodes(tree: ast.AST, checked: bool) -> Iterator[ast.AST]:
    """Yields all nodes of a tree, those below `if TYPE_CHECKING:` only if they are wanted."""
    for node in ast.iter_child_nodes(tree):
        if checked or not (isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"):
            yield node
            yield from nodes(node, checked)
