"""Layers of calls without a softmax, compared with what their functions returned."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch

from attnwidget.record import Fidelity, Floats, Layer, Recurrence, sample_rows
from attnwidget.record.fidelity import RECURRENCE
from attnwidget.running.items import Item, Selection, joined
from attnwidget.running.projection import linear_matrix
from attnwidget.running.tolerance import tolerance
from attnwidget.tracing import MixingCall, Strengths

from .gated import Gated

Mixing: TypeAlias = Literal["softmax", "recurrence", "channels"]
"""The way a call mixes tokens: by a softmax, a recurrence of heads, or each channel by itself."""

ROUTE = RECURRENCE
OF_CHANNELS = "contributions of channels"

NOT_PROJECTED = (
    "it mixes tokens by no softmax, and no linear layer that returns its module's output receives "
    "its channels, so that it has no contributions"
)

# The unit vectors of which the function is run once more: enough to find a wrong formula.
_UNITS = 64

# The most tokens of a map by contribution, which takes a run of the function for each.
_MOST_TOKENS = 1024
TOO_LONG = (
    f"it mixes every channel by itself, and a text of more than {_MOST_TOKENS:,} tokens is too "
    "long for a map by contribution"
)

# The numbers of the values that are run at a time: states of a recurrence are larger.
_CELLS = 1 << 22


def recurrent_layer(
    call: MixingCall,
    item: Item,
    name: str,
    *,
    values: bool,
    units: bool,
    rounded: torch.dtype | None = None,
) -> Layer:
    """The layer of a call with strengths, with its errors.

    In rows that are spread over the text, coefficients times values are compared with the outputs;
    and if `units`, single coefficients with what the function returns for unit vectors, which takes
    as long as the call did.

    Args:
        rounded: the type to which autocast rounds products within the function, whatever the type
            of its output.

    Raises:
        ValueError: an array holds NaN or infinity.
    """
    assert call.strengths is not None
    selection = _selection(call.value, item)
    program, queries, keys = _program(call.strengths, selection)
    of_values = joined(selection.cut(call.value, selection.keys))
    unknown = Fidelity(ROUTE, name, "queries and keys", None, None, 0.0, 0)
    layer = Layer(queries, keys, program, None, unknown, values=of_values)
    rows = sample_rows(layer.shape[0])
    found = np.stack([layer.head_coefficients(head, rows) for head in range(layer.num_heads)])
    outputs = joined(selection.cut(call.output, selection.queries))[:, rows]
    fidelity = Fidelity(
        ROUTE,
        name,
        "queries and keys",
        _coefficients_error(call, selection, found, rows) if units else None,
        _relative_error(found @ of_values, outputs),
        _tolerance(call.output.dtype, rounded),
        len(rows),
    )
    kept = of_values if values else None
    return Layer(queries, keys, program, None, fidelity, values=kept)


@dataclass(frozen=True)
class _Outputs:
    """The outputs of a layer of channels for one item.

    Attributes:
        selection: the part of the batch.
        received: what the projection receives without biases, float64 [T, calls * channels].
        outputs: what it returns, float64 [T, d_model].
        directions: each output as it is seen from the channels, float64 [calls, T, channels].
    """

    selection: Selection
    received: torch.Tensor
    outputs: torch.Tensor
    directions: torch.Tensor


def layers_of_channels(
    calls: Sequence[MixingCall],
    gated: Gated,
    items: Sequence[Item],
    name: str,
    rounded: torch.dtype | None = None,
) -> list[Layer]:
    """Maps of a layer whose channels are mixed each by itself: of each item one, or one per call.

    A token's contribution to an output is what reaches it through the function, the gate and the
    projection. Its coefficient is the share of that along the whole output, of either sign:
    c[t, s] = (W diag(gate_t) a[t, s] v_s) . y_t / |y_t|^2, with y_t = sum over s and all calls,
    without biases, which are of no token. So the coefficients of a row sum to 1.

    Args:
        rounded: as of `recurrent_layer`.

    Raises:
        ValueError: a text is too long, or the projection is not linear.
    """
    if any(is_too_long(gated, item) for item in items):
        raise ValueError(TOO_LONG)
    selections = [_selection(gated.outputs[0], item) for item in items]
    matrix = linear_matrix(gated.module, gated.input)
    if matrix is None:
        raise ValueError("the module behind its channels is not linear")
    matrix, gates = matrix.double(), gated.gates
    linear = [
        _without_bias(call, output) for call, output in zip(calls, gated.outputs, strict=True)
    ]
    parts = [_outputs(selection, gates, linear, matrix) for selection in selections]
    # By call, of each item.
    maps = [
        _contributions(call, selections, [part.directions[number] for part in parts])
        for number, call in enumerate(calls)
    ]
    layers = []
    for part, of_calls in zip(parts, zip(*maps, strict=True), strict=True):
        coefficients = np.stack(of_calls).astype(np.float32)
        error, size = _sum_error(part, coefficients, gated.input)
        limit = _tolerance(gated.input.dtype, rounded) * size
        count = len(part.selection.queries)
        fidelity = Fidelity(OF_CHANNELS, name, "coefficients", None, error, limit, count)
        layers.append(Layer(None, None, None, None, fidelity, coefficients=coefficients))
    return layers


def is_too_long(gated: Gated, item: Item) -> bool:
    """True if a text is too long for a map of channels."""
    return len(_selection(gated.outputs[0], item).queries) > _MOST_TOKENS


def _outputs(
    selection: Selection,
    gates: torch.Tensor,
    linear: Sequence[torch.Tensor],
    matrix: torch.Tensor,
) -> _Outputs:
    of_item = gates[selection.windows][0]  # [calls, T, channels]
    own = torch.stack([each[selection.windows][0, 0] for each in linear])
    received = (of_item * own).transpose(0, 1).flatten(1)
    outputs = received @ matrix
    # What reaches an output, seen from each channel: diag(gate_t) Wᵀ y_t / |y_t|².
    along = outputs @ matrix.T / outputs.square().sum(-1, keepdim=True).clamp_min(1e-300)
    directions = along.reshape(len(along), len(linear), -1).transpose(0, 1) * of_item
    return _Outputs(selection, received, outputs, directions)


def _sum_error(
    part: _Outputs, coefficients: np.ndarray, given: torch.Tensor
) -> tuple[float, float]:
    """The largest distance of a row's sum from 1, and the size of what is summed.

    Rounding counts for more where parts of a row cancel each other out, and where biases do.
    """
    selection, received = part.selection, part.received
    sums = coefficients.sum(axis=(0, 2), dtype=np.float64)
    live = (part.outputs.square().sum(-1) > 0).numpy()[selection.queries.numpy()]
    error = float(np.abs(sums - 1)[live].max(initial=0))
    sizes = np.abs(coefficients).sum(axis=(0, 2))
    whole = given.detach().cpu().double().reshape(-1, *received.shape)[selection.windows][0]
    biases = whole.norm(dim=-1) / received.norm(dim=-1).clamp_min(1e-300)
    size = np.maximum(sizes, biases[selection.queries].numpy())[live].max(initial=1)
    return error, float(size)


def _tolerance(*kinds: torch.dtype | None) -> float:
    """The largest of the tolerances of types."""
    return max(tolerance(kind) for kind in kinds if kind is not None)


def _without_bias(call: MixingCall, output: torch.Tensor) -> torch.Tensor:
    """The last outputs of a call, less what it returns for values of zero, in double precision."""
    assert call.rerun is not None
    constant = call.rerun(torch.zeros_like(call.value))[:, :, -output.shape[2] :]
    return output.detach().cpu().double() - constant.detach().cpu().double()


def _contributions(
    call: MixingCall, selections: Sequence[Selection], directions: Sequence[torch.Tensor]
) -> list[np.ndarray]:
    """The products of each output's direction [all T, channels] with each token's part in it.

    That is what the function returns for the token's value alone. Of all items at once, which do
    not reach each other.
    """
    assert call.rerun is not None
    # A convolution also reads what its cache has before the text.
    before = call.value.shape[2] - len(directions[0])
    if bool(call.value[:, :, :before].any()):
        raise ValueError(
            "it goes on from the tokens before, which are in its cache: capture the whole text"
        )
    values = call.value.detach()
    constant = call.rerun(torch.zeros_like(values))
    positions = [selection.queries for selection in selections]
    places = [selection.windows.start for selection in selections]
    found = [np.zeros((len(each), len(each))) for each in positions]
    together = max(1, _CELLS // values.numel())
    for start in range(0, max(map(len, positions)), together):
        some = [each[start : start + together] for each in positions]
        alone = values.new_zeros(max(map(len, some)), *values.shape)
        for place, keys in zip(places, some, strict=True):
            at = torch.arange(len(keys)), place, 0, before + keys
            alone[at] = values[place, 0, before + keys]
        outputs = _reruns(call.rerun, alone) - constant
        for place, keys, rows, seen, of_item in zip(
            places, some, positions, directions, found, strict=True
        ):
            reached = outputs[: len(keys), place, 0, before + rows].to("cpu", torch.float64)
            products = (reached * seen[rows]).sum(-1)
            of_item[:, start : start + len(keys)] = products.T.numpy()
    return found


def _reruns(rerun: Callable[[torch.Tensor], torch.Tensor], values: torch.Tensor) -> torch.Tensor:
    """The results of a function for several values [n, ...], if possible in one run."""
    if len(values) > 1:
        # A function may write into tensors, or be a kernel.
        with contextlib.suppress(RuntimeError):
            found: torch.Tensor = torch.vmap(rerun)(values)
            return found
    return torch.stack([rerun(each) for each in values])


def _selection(heads: torch.Tensor, item: Item) -> Selection:
    """The part of tensors [M, heads, T, n] that belongs to an item."""
    tokens = heads.shape[2]
    selection = item.select(len(heads), (tokens, tokens))
    if selection.count != 1:
        raise ValueError("it mixes several rows of an item, which are no one text")
    return selection


def head_gates(gated: Gated, item: Item) -> Floats:
    """The gates of the recorded item, float32 [heads, T, d_v]."""
    heads = gated.outputs[0]
    selection = item.select(len(heads), (heads.shape[2], heads.shape[2]))
    return joined(selection.cut(gated.gates, selection.queries))


def _program(of: Strengths, selection: Selection) -> tuple[Recurrence, Floats, Floats]:
    def vectors(tensor: torch.Tensor) -> Floats:
        return joined(selection.cut(tensor, selection.keys))

    def numbers(tensor: torch.Tensor | None) -> Floats | None:
        return None if tensor is None else vectors(tensor[..., None])[..., 0]

    program = Recurrence(
        of.scale,
        None if of.decay is None else vectors(of.decay),
        numbers(of.write),
        numbers(of.erase),
        None if of.own is None else of.own.detach().to("cpu", torch.float32).numpy().copy(),
    )
    return program, vectors(of.query), vectors(of.key)


def _coefficients_error(
    call: MixingCall, selection: Selection, found: Floats, rows: np.ndarray
) -> float | None:
    """The largest difference of a coefficient, relative to its head's largest in these rows."""
    if call.rerun is None:
        return None
    columns = np.unique(np.linspace(0, found.shape[2] - 1, _UNITS).round().astype(np.intp))
    of_item, places = call.value[selection.windows], selection.keys[torch.from_numpy(columns)]
    units = of_item.new_zeros(len(call.value), *of_item.shape[1:3], len(columns))
    units[:, :, places, torch.arange(len(columns))] = 1
    try:
        output = call.rerun(units)
    except Exception:  # a kernel of one width alone
        return None
    again = joined(selection.cut(output, selection.queries))[:, rows]
    return _relative_error(found[:, :, columns], again)


def _relative_error(found: Floats, expected: Floats) -> float:
    """The largest difference of numbers [heads, ...], relative to the largest of their head."""
    axes = tuple(range(1, expected.ndim))
    largest = np.maximum(np.abs(expected).max(axis=axes), 1e-30)
    difference = np.abs(found - expected).max(axis=axes) / largest
    return float(np.max(difference))
