"""BertViz's tutorials run with another import.

Where a tutorial's own lines, before BertViz is called, no longer run in this version of
transformers, they are brought up to date, and nothing else is.
"""

import inspect
import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import IPython.display
import numpy as np
import pytest
import transformers

from attnwidget import AttentionWidget
from attnwidget.interop import bertviz as interop
from attnwidget.interop.bertviz import neuron_view
from tests.unit.hub import put_models

UP_TO_DATE = {
    # BERT and GPT-2 have no cross-attention.
    "outputs[-1]": "outputs.attentions",
    "token_type_ids)[-1]": "token_type_ids).attentions",
    "tokenizer.encode_plus(": "tokenizer(",
    "with tokenizer.as_target_tokenizer():\n    ": "",
}

# Calls of BertViz's notebooks, each in a few lines.
NOTEBOOKS = {
    "head view, DistilBERT": """
        from transformers import AutoModel, AutoTokenizer
        from bertviz import head_view
        model = AutoModel.from_pretrained("distilbert-base-uncased", output_attentions=True)
        tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
        ids = tokenizer("The cat sat on the mat", return_tensors="pt")["input_ids"]
        attention = model(ids)[-1]
        head_view(attention, tokenizer.convert_ids_to_tokens(ids[0].tolist()))
    """,
    "model view, GPT-2": """
        from bertviz import model_view
        from transformers import GPT2Model, GPT2Tokenizer
        model = GPT2Model.from_pretrained("gpt2", output_attentions=True)
        tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
        ids = tokenizer("The quick brown fox", return_tensors="pt")["input_ids"]
        attention = model(ids).attentions
        model_view(attention, tokenizer.convert_ids_to_tokens(ids[0].tolist()))
    """,
    "head and model view, BART": """
        from transformers import AutoModel, AutoTokenizer
        from bertviz import head_view, model_view
        tokenizer = AutoTokenizer.from_pretrained("facebook/bart-large-cnn")
        model = AutoModel.from_pretrained("facebook/bart-large-cnn", output_attentions=True)
        encoder_ids = tokenizer("The House passed a long bill", return_tensors="pt").input_ids
        decoder_ids = tokenizer("A bill passed.", return_tensors="pt").input_ids
        outputs = model(input_ids=encoder_ids, decoder_input_ids=decoder_ids)
        for view in (head_view, model_view):
            view(
                encoder_attention=outputs.encoder_attentions,
                decoder_attention=outputs.decoder_attentions,
                cross_attention=outputs.cross_attentions,
                encoder_tokens=tokenizer.convert_ids_to_tokens(encoder_ids[0]),
                decoder_tokens=tokenizer.convert_ids_to_tokens(decoder_ids[0]),
            )
    """,
    "neuron view, BERT": """
        from bertviz.transformers_neuron_view import BertModel, BertTokenizer
        from bertviz.neuron_view import show
        model = BertModel.from_pretrained("microsoft/xtremedistil-l12-h384-uncased")
        tokenizer = BertTokenizer.from_pretrained(
            "microsoft/xtremedistil-l12-h384-uncased", do_lower_case=True
        )
        show(model, "bert", tokenizer, "The cat sat on the mat", "The cat lay on the rug",
             display_mode="dark", layer=2, head=0)
    """,
    "neuron view, GPT-2": """
        from bertviz.transformers_neuron_view import GPT2Model, GPT2Tokenizer
        from bertviz.neuron_view import show
        model = GPT2Model.from_pretrained("gpt2")
        tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
        text = "At the store, she bought apples, oranges, bananas,"
        show(model, "gpt2", tokenizer, text, display_mode="dark")
    """,
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    put_models(folder)
    (folder / "PATH_TO_YOUR_FILE").mkdir()
    return folder


@pytest.fixture
def shown(hub: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The output that a notebook in the folder of models would display."""
    displayed: list[Any] = []
    monkeypatch.setattr(IPython.display, "display", displayed.append)
    monkeypatch.chdir(hub)
    return displayed


def _run(code: str, names: dict[str, Any]) -> None:
    code = inspect.cleandoc(code)
    exec(re.sub(r"\bfrom bertviz\b", "from attnwidget.interop.bertviz", code), names)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks(name: str, shown: list[Any]) -> None:
    names: dict[str, Any] = {}
    _run(NOTEBOOKS[name], names)
    assert shown
    widget = shown[0]
    assert isinstance(widget, AttentionWidget)
    assert widget.view == name.split()[0]
    record = widget.record
    if widget.view == "neuron":
        assert all(fidelity.exact for fidelity in record.fidelity["self"])
        assert (widget.theme, record.num_layers()) == ("dark", len(record.stack().layers))
    elif "BART" in name:
        assert [shown[1].view, *record.stacks] == ["model", "encoder", "decoder", "cross"]
        # Unequal numbers of layers, and of heads.
        assert [record.num_layers(stack) for stack in record.stacks] == [2, 3, 3]
        own = names["outputs"].cross_attentions[2][0, 1].detach().numpy()
        assert np.array_equal(record.weights(2, 1, "cross"), own)
        assert [len(side) for side in record.tokens("cross")] == list(own.shape)
    else:
        own = names["attention"][1][0, 3].detach().numpy()
        assert np.array_equal(record.weights(1, 3), own)


@pytest.fixture(scope="module")
def programs() -> list[str]:
    """Code blocks of BertViz's README, from the installed package."""
    try:
        text = str(metadata("bertviz").get_payload())
    except PackageNotFoundError:
        pytest.skip("bertviz is not installed")
    programs = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    if int(transformers.__version__.split(".")[0]) >= 5:
        for old, new in UP_TO_DATE.items():
            assert any(old in program for program in programs)
            programs = [program.replace(old, new) for program in programs]
    return programs


def test_the_readme_runs_from_its_first_line_to_its_last(
    programs: list[str], shown: list[Any], hub: Path
) -> None:
    names: dict[str, Any] = {}
    for program in programs:
        _run(program, names)
    seen = [(widget.view, widget.theme) for widget in shown]
    assert seen == [
        ("model", "dark"),
        ("head", "auto"),
        ("neuron", "dark"),
        ("model", "dark"),
        ("model", "light"),
        ("model", "dark"),
        ("head", "auto"),
        ("head", "auto"),
    ]
    assert shown[2].record.stack().queries.split == 8
    assert (shown[2].layer, shown[2].head) == (2, 0)
    assert shown[3].record.stacks == ("encoder", "decoder", "cross")
    assert shown[5].record.stack().numbers == (5, 6)
    assert (shown[6].layer, shown[6].heads) == (2, [3, 5])
    assert shown[7].record.stack().queries.split == names["sentence_b_start"]
    for name in ("head_view", "neuron_view"):
        page = hub / "PATH_TO_YOUR_FILE" / f"{name}.html"
        assert page.read_text(encoding="ascii").startswith("<div><iframe")


@pytest.mark.parametrize("name", ["head_view", "model_view", "neuron_view.show"])
def test_arguments_and_defaults_are_those_of_bertviz(name: str) -> None:
    bertviz = pytest.importorskip("bertviz")
    if name == "neuron_view.show":
        from bertviz.neuron_view import show

        theirs, ours = show, neuron_view.show
    else:
        theirs, ours = getattr(bertviz, name), getattr(interop, name)
    expected, found = (
        [(p.name, p.default) for p in inspect.signature(function).parameters.values()]
        for function in (theirs, ours)
    )
    assert found == expected
