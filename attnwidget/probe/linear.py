"""Logistic regression on numbers of every head, by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnwidget.analysis import Numbers
from attnwidget.record import Floats


class Classifier:
    """A logistic regression with an L2 penalty, on standardized numbers.

    Attributes:
        size: the length of the coefficients of each number over the classes, float64 [numbers].

    Raises:
        ModuleNotFoundError: scikit-learn is not installed.
    """

    def __init__(self, numbers: Floats, classes: NDArray[Any]) -> None:
        try:
            from sklearn.linear_model import LogisticRegression
            from sklearn.pipeline import make_pipeline
            from sklearn.preprocessing import StandardScaler
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "this probe needs scikit-learn, which is not installed: pip install "
                "'attnwidget[probe]' (in a notebook: %pip install 'attnwidget[probe]')"
            ) from error
        self._fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, tol=1e-3))
        self._fitted.fit(numbers, classes)
        self.size: Numbers = np.linalg.norm(self._fitted[-1].coef_, axis=0)

    def hits(self, numbers: Floats, classes: NDArray[Any]) -> NDArray[np.bool_]:
        """True where the predicted class is right."""
        right: NDArray[np.bool_] = self._fitted.predict(numbers) == classes
        return right
