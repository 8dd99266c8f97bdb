"""The notebooks of the documentation run from a clean kernel, and what their cells end with is shown, complete in itself."""

from __future__ import annotations

from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs" / "notebooks").glob("*.ipynb"))
# What is to be seen in each, by its words.
SHOWN = {
    "teacher": ("Equations of driven_pendulum", "Poincaré section", "Spectrum", "<iframe srcdoc"),
    "roboticist": ("<iframe srcdoc", "Equations of arm", "inverse_dynamics", "lift.force.z"),
    "mechanism_designer": ("Loops of wishbone", "camber", "<iframe srcdoc", "derivative"),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path, tmp_path):
    notebook = nbformat.read(path, 4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    pages = [
        output.data.get("text/html", "")
        for cell in notebook.cells if cell.cell_type == "code"
        for output in cell.outputs if output.output_type == "execute_result"
    ]  # fmt: skip
    whole = "\n".join(pages)
    for words in SHOWN[path.stem]:
        assert words in whole, words
    assert "https://" not in whole.replace("http://www.w3.org", ""), "what is shown needs no network"
    assert len(whole) < 2_000_000
