"""Paths from a head to what later heads read equal a slow reference by hooks of modules."""

from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch

import attnwidget as aw
from tests.unit.interventions.test_edges import CLEAN, CORRUPT, ByHooks, D, gpt2, llama, metric
from tests.unit.snapshot import Snapshot
from tests.unit.tiny import tiny


def by_hand(
    model: Any, sender: tuple[int, int], receivers: list[tuple[int, int]], into: str
) -> float:
    hooks = ByHooks(model)
    clean, corrupt = hooks.inputs(CLEAN), hooks.inputs(CORRUPT)
    read: dict[tuple[int, int], torch.Tensor] = {}
    with torch.no_grad(), ExitStack() as undo:
        for layer in range(3):
            own = corrupt[layer].clone()
            if layer == sender[0]:
                of_head = slice(sender[1] * D, (sender[1] + 1) * D)
                own[..., of_head] = clean[layer][..., of_head]
            output = hooks.output(layer)
            hook = output.register_forward_pre_hook(lambda _module, _args, own=own: (own,))
            undo.callback(hook.remove)
        for receiver in receivers:
            module, columns = hooks.projection(receiver[0], into, receiver[1])

            def keep(_m: Any, _a: Any, output: Any, at: Any = receiver, of: Any = columns) -> None:
                read[at] = output[..., of].clone()

            undo.callback(module.register_forward_hook(keep).remove)
        model(**CORRUPT)
    with torch.no_grad(), ExitStack() as undo:
        for receiver in receivers:
            module, columns = hooks.projection(receiver[0], into, receiver[1])

            def put(_m: Any, _a: Any, output: Any, at: Any = receiver, of: Any = columns) -> Any:
                changed = output.clone()
                changed[..., of] = read[at]
                return changed

            undo.callback(module.register_forward_hook(put).remove)
        number = float(metric(model(**CORRUPT)))
    with torch.no_grad():
        before, after = (float(metric(model(**each))) for each in (CORRUPT, CLEAN))
    return (number - before) / (after - before)


@pytest.mark.parametrize("build", [llama, gpt2])
@pytest.mark.parametrize("into", ["queries", "keys", "values"])
def test_paths_equal_hooks(build: Any, into: Any) -> None:
    model = build()
    snapshot = Snapshot(model)
    receivers = [(1, 0), (2, 1)]
    options: dict[str, Any] = {"receivers": receivers, "into": into, "metric": metric}
    found = aw.path_patch(model, None, CLEAN, CORRUPT, **options, batch_size=3)
    expected = [[by_hand(model, (n, h), receivers, into) for h in range(4)] for n in range(2)]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-4)
    assert np.abs(expected).max() > 1e-3
    assert found.null is not None
    assert found.null.shape == (2, 4)
    assert (found.site, found.by, found.rows) == (into, "head", ("0", "1"))
    snapshot.assert_unchanged()
    one = aw.path_patch(model, None, CLEAN, CORRUPT, senders=[(1, 2)], null=False, **options)
    np.testing.assert_allclose(one.values[0, 2], found.values[1, 2], rtol=0, atol=1e-4)
    assert np.isnan(one.values).sum() == 3
    assert one.null is None


def test_a_path_is_to_first_order_its_edge_with_mlps_held() -> None:
    model = llama().double()
    # Near each other, as texts of embeddings are, a path is its first order.
    with torch.no_grad():
        ids = [CORRUPT["input_ids"], CLEAN["input_ids"]]
        corrupt, clean = (model.get_input_embeddings()(each) for each in ids)
    texts = [{"inputs_embeds": corrupt + share * (clean - corrupt)} for share in (1e-3, 0)]
    for layer in model.model.layers:
        held: list[torch.Tensor] = []
        keep = layer.mlp.register_forward_hook(lambda _m, _a, own, held=held: held.append(own))
        with torch.no_grad():
            model(**texts[1])
        keep.remove()
        layer.mlp.register_forward_hook(lambda _m, _a, own, held=held: held[0].expand_as(own))
    edges = aw.edge_attribution(model, None, *texts, metric=metric)
    for into in ("queries", "keys", "values"):
        column = edges.receivers.index((2, into, 1))  # type: ignore[arg-type]
        path = aw.path_patch(
            model, None, *texts, receivers=[(2, 1)], into=into, metric=metric, null=False
        )
        expected = edges.values[:, column]
        size = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(path.values.ravel(), expected[:8], atol=0.02 * size)


def test_layers_without_a_softmax_are_held_too() -> None:
    model = tiny(
        "Qwen3NextForCausalLM", num_key_value_heads=2, head_dim=8, num_hidden_layers=4,
        linear_num_value_heads=4, linear_num_key_heads=2, linear_key_head_dim=8,
        linear_value_head_dim=8, num_experts=0, decoder_sparse_step=1,
        layer_types=["full_attention", "linear_attention", "linear_attention", "full_attention"],
    )  # fmt: skip
    found = aw.path_patch(
        model, None, CLEAN, CORRUPT, receivers=[(3, 0)], metric=metric, null=False
    )
    assert found.rows == ("0",)
    assert np.isfinite(found.values).all()


def test_what_does_not_exist_is_refused() -> None:
    def paths(**options: Any) -> None:
        aw.path_patch(llama(), None, CLEAN, CORRUPT, metric=metric, **options)

    with pytest.raises(ValueError, match=r"receiver \(2, 2\) does not exist: there are 2 keys"):
        paths(receivers=[(2, 2)], into="keys")
    with pytest.raises(ValueError, match="no queries are known there"):
        paths(receivers=[(3, 0)])
    with pytest.raises(ValueError, match=r"sender \(1, 0\) does not exist below layer 1"):
        paths(receivers=[(1, 0)], senders=[(1, 0)])
    with pytest.raises(ValueError, match="there is no path"):
        paths(receivers=[(0, 0)])
    with pytest.raises(TypeError, match=r"receivers is \[1, 2\]; expected \(layer, head\) pairs"):
        paths(receivers=(1, 2))
    with pytest.raises(TypeError, match=r"senders is 0; .* as \[\(1, 5\)\], or None"):
        paths(receivers=[(1, 0)], senders=0)
