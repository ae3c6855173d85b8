"""Two profiles that must be the same."""

import numpy as np

import attnwidget as aw


def assert_same(found: aw.HeadProfile, expected: aw.HeadProfile) -> None:
    """All numbers agree to 1e-9, and texts that are picked are the same."""
    assert (found.num_texts, found.missing) == (expected.num_texts, expected.missing)
    tables = found.table(), expected.table()
    assert list(tables[0].columns) == list(tables[1].columns)
    for column in tables[1]:
        if column == "stack":
            assert tables[0][column].tolist() == tables[1][column].tolist()
        else:
            np.testing.assert_allclose(
                tables[0][column], tables[1][column], rtol=0, atol=1e-9, err_msg=column
            )
    for stack in expected.stacks:
        a, b = found.stack(stack), expected.stack(stack)
        np.testing.assert_allclose(a.thumbnails, b.thumbnails, rtol=0, atol=1e-6)
        assert np.array_equal(a.rows.weights, b.rows.weights)
        assert np.array_equal(a.medians.texts, b.medians.texts)
        assert np.array_equal(a.extremes.texts, b.extremes.texts)
        for layer in b.numbers:
            for metric in expected.metrics:
                assert found.examples(metric, layer, 0, stack) == expected.examples(
                    metric, layer, 0, stack
                )
