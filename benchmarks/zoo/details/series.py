"""Models of numbers over time."""

from __future__ import annotations

from typing import Any

import torch

from .detail import Detail, each, given, normal, ones


def _forecast(model: Any) -> dict[str, torch.Tensor]:
    """A series with its time as its only feature."""
    past = model.config.context_length + max(model.config.lags_sequence)
    future = model.config.prediction_length
    return {
        "past_values": torch.randn(1, past),
        "past_time_features": torch.randn(1, past, 1),
        "past_observed_mask": torch.ones(1, past),
        "future_values": torch.randn(1, future),
        "future_time_features": torch.randn(1, future, 1),
    }


_FORECAST = Detail(
    {"prediction_length": 8, "context_length": 12, "num_time_features": 1}, _forecast
)

SERIES = {
    "autoformer": _FORECAST,
    "decision_transformer": Detail(
        inputs=each(
            normal(
                states=(1, 5, 17), actions=(1, 5, 4), rewards=(1, 5, 1), returns_to_go=(1, 5, 1)
            ),
            ones(attention_mask=(1, 5)),
            given(timesteps=torch.arange(5)[None]),
        )
    ),
    "informer": _FORECAST,
    "patchtsmixer": Detail(inputs=normal(past_values=(1, 32, 1))),
    "patchtst": Detail(
        {"context_length": 32, "patch_length": 4, "patch_stride": 4},
        normal(past_values=(1, 32, 1)),
    ),
    "time_series_transformer": _FORECAST,
    "timesfm": Detail(
        inputs=each(
            normal(past_values=(1, 128)),
            given(
                past_values_padding=torch.zeros(1, 128), freq=torch.zeros(1, 1, dtype=torch.long)
            ),
        )
    ),
    "timesfm2_5": Detail(inputs=normal(past_values=(1, 128))),
}
