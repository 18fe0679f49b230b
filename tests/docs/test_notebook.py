"""The notebook in `examples/` runs and shows what it promises."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples" / "tour.ipynb"
LIMIT = 400  # seconds for a cell; the first start may compile the core


@pytest.mark.slow
def test_the_tour_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install -e '.[dev]'")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert {output.output_type for output in outputs} == {"execute_result", "display_data", "stream"}
    assert {output.name for output in outputs if output.output_type == "stream"} == {"stdout"}
    shown = [kind for output in outputs if "data" in output for kind in output.data]
    assert shown.count("image/svg+xml") >= 6
    assert shown.count("text/html") == 1  # the review
    assert shown.count("image/png") == 1
