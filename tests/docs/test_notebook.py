"""The notebook in `examples/` runs and shows what it promises."""

import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "tour.ipynb"
_PLAYERS = re.compile(r"<(?:Engine|GameRecord:) [\w-]+")
LIMIT = 400  # seconds for a cell; the first start may compile the core


@pytest.mark.slow
def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install -e '.[dev]'")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    stored = said_in(notebook)
    (review,) = (cell for cell in notebook.cells if "\nreview(" in cell.source)
    assert "visits=60" in review.source
    review.source = review.source.replace("visits=60", "visits=8")  # with 60 it takes most of the time
    nbclient.NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert {output.output_type for output in outputs} == {"execute_result", "stream"}
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}
    shown = [kind for output in outputs if "data" in output for kind in output.data]
    assert shown.count("image/svg+xml") >= 7
    assert shown.count("text/html") == 1  # the review
    now = said_in(notebook)
    assert [names for names, _ in now] == [names for names, _ in stored]
    # Processors round differently, and searches follow: the values agree roughly.
    assert [rates[:1] for _, rates in now[:6]] == [pytest.approx(rates[:1], abs=10) for _, rates in stored[:6]]


def said_in(notebook: Any) -> list[tuple[list[str], list[float]]]:
    """What the cells print: the players of engines and records, such as networks, and the percentages."""
    cells = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    texts = ["".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in outputs) for outputs in cells]
    names = [_PLAYERS.findall(text) for text in texts]
    rates = [[float(rate) for rate in re.findall(r"([\d.]+)%", text)] for text in texts]
    return list(zip(names, rates, strict=True))
