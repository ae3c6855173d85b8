"""python -m scripts.notebooks [NAME ...] [--models DIR]: runs the notebooks, keeps what they show.

What is kept is text and pictures. Without widget state, readers that run no scripts (GitHub among
them) show the picture that comes with every widget; with it, they would show nothing.
"""

from __future__ import annotations

import argparse
import copy
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

from benchmarks.browser.models import Loaded, smollm2

FOLDER = Path(__file__).parents[1] / "notebooks"
DATA = FOLDER / "data"

# Models by the name that a notebook loads them by, and their folder under --models. SmolLM2 and the
# embedded model come as packages. librivox has recordings with the times of their words, ud_english
# the treebanks EWT and GUM.
HUB = {
    "BAAI/bge-small-en-v1.5": "bge_small",
    "Helsinki-NLP/opus-mt-en-fr": "marian_en_fr",
    "google/vit-base-patch16-224": "vit",
    "librivox": "librivox",
    "openai/whisper-tiny.en": "whisper_tiny_en",
    "sentence-transformers/all-mpnet-base-v2": "mpnet",
    "thenlper/gte-small": "gte_small",
    "ud_english": "ud_english",
}
SMOLLM2 = "HuggingFaceTB/SmolLM2-135M-Instruct"

_KEPT = ("image/png", "text/plain")
# Output of the libraries that load a model, different in every run.
_CHATTER = "stderr"


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


@contextmanager
def kernel(folder: Path) -> Iterator[KernelManager]:
    """A running kernel in `folder`, which has the models of the notebooks by name."""
    manager = KernelManager(kernel_name="python3")
    # Models that are missing there are loaded from the hub.
    environment = os.environ | {
        "TRANSFORMERS_VERBOSITY": "error",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    manager.start_kernel(cwd=str(folder), env=environment)
    try:
        yield manager
    finally:
        manager.shutdown_kernel(now=True)


def run(name: str, manager: KernelManager, extra: str = "") -> nbformat.NotebookNode:
    """Run a notebook in a kernel.

    Args:
        extra: code that is executed at the end, and left out of what is returned.
    """
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    if extra:
        notebook.cells.append(nbformat.v4.new_code_cell(extra))
    client = NotebookClient(notebook, km=manager, store_widget_state=False, coalesce_streams=True)
    client.execute()
    client.kc.stop_channels()
    if extra:
        notebook.cells.pop()
    return notebook


def clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Remove output that differs between runs or machines."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for index, cell in enumerate(notebook.cells):
        cell.id = f"c{index}"
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [_kept(out) for out in cell.outputs if out.get("name") != _CHATTER]
    return notebook


def _kept(output: Any) -> Any:
    if "data" in output:
        output.metadata = {}
        output.data = {kind: output.data[kind] for kind in _KEPT if kind in output.data}
    return output


def lay(folder: Path, models: Path | None, smollm2: Loaded) -> None:
    """Put the data, the trained models and the treebanks where the notebooks find them."""
    (folder / DATA.name).symlink_to(DATA)
    _save_for_from_pretrained(smollm2, folder / SMOLLM2)
    for name, own in HUB.items():
        if models is not None and (models / own).is_dir():
            link = folder / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to((models / own).resolve())


def _save_for_from_pretrained(smollm2: Loaded, folder: Path) -> None:
    """Save SmolLM2 with the changes that a model from GGUF needs."""
    loaded, tokenizer = smollm2
    config = copy.deepcopy(loaded.config)
    config.quantization_config = None
    del config.quantization_config
    model = type(loaded)(config)
    model.load_state_dict(loaded.state_dict())
    model.generation_config = loaded.generation_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts.notebooks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all if none is given")
    parser.add_argument("--models", type=Path, help="the folder of trained models and treebanks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lay(folder, options.models, smollm2())
        for name in options.names or names():
            with kernel(folder) as own:
                nbformat.write(clean(run(name, own)), FOLDER / f"{name}.ipynb")
            print(name)


if __name__ == "__main__":
    main()
