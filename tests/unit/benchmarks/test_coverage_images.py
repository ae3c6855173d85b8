"""Where tokens lie on images, of a sample of architectures; and the page's parts."""

import pytest

from benchmarks.coverage.images import Status, examine
from benchmarks.coverage.report import parts

EXPECTED = {
    "vit": Status.EXACT,
    "segformer": Status.SOFT,
    "qwen2_vl": Status.OWN,
    "blip-2": Status.RESAMPLER,
    "maskformer-swin": Status.EXACT,
    "swin2sr": Status.NONE,
}


@pytest.mark.parametrize(("name", "status"), EXPECTED.items(), ids=EXPECTED)
def test_its_status(name: str, status: Status) -> None:
    found = examine(name)
    assert found is not None
    assert found.status is status, str(found)


def test_what_reads_no_image_has_none() -> None:
    assert examine("bert") is None


def test_each_part_of_the_page_is_written_alone() -> None:
    captures, images, interventions = "# Coverage\n\n", "## Images\n\n| |\n\n", "## Interventions\n"
    assert parts(captures + images + interventions) == (captures, images, interventions)
    assert parts(captures + interventions) == (captures, "", interventions)
