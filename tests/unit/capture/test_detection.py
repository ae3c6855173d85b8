"""The boxes that a detection model predicts, as the places of its queries."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from attnwidget import AttentionRecord, capture, compare
from attnwidget.running.sequences import Detected
from benchmarks import zoo
from tests.unit.tiny import Model

SIZE = {"shortest_edge": 64, "longest_edge": 160}


def _images() -> list[Image.Image]:
    random = np.random.default_rng(0)
    shapes = (41, 77, 3), (67, 53, 3)
    return [Image.fromarray(random.integers(0, 255, shape, dtype=np.uint8)) for shape in shapes]


def _model(name: str) -> Model:
    config = zoo.build(name).model.config
    torch.manual_seed(0)
    kind = {
        "detr": "DetrForObjectDetection",
        "deformable_detr": "DeformableDetrForObjectDetection",
        "rt_detr": "RTDetrForObjectDetection",
        "yolos": "YolosForObjectDetection",
    }[name]
    model = getattr(transformers, kind)(config).eval()
    for parameter in model.parameters():  # boxes that are not all the same
        if parameter.ndim == 2:
            torch.nn.init.normal_(parameter, std=0.2)
    return model


@pytest.mark.parametrize(("name", "stack"), [("detr", "cross"), ("yolos", "self")])
@pytest.mark.parametrize("number", [0, 1])
def test_boxes_are_those_of_the_processor(name: str, stack: str, number: int) -> None:
    """Of images of odd sizes, one of which is padded when both are read at once."""
    model, images = _model(name), _images()
    kind = {"detr": "DetrImageProcessor", "yolos": "YolosImageProcessor"}[name]
    processor: Any = getattr(transformers, kind)(size=SIZE)
    inputs = processor(images=images, return_tensors="pt")
    with torch.no_grad():
        last = model(**inputs).logits[number]
        # Half of the queries find no object, where they differ.
        more = (last[:, :-1].max(dim=1).values - last[:, -1]).quantile(0.5)
        model.class_labels_classifier.register_forward_hook(
            lambda _module, _args, logits: torch.cat(
                [logits[..., :-1], logits[..., -1:] + more], -1
            )
        )
        output = model(**inputs)
    sizes = [image.size[::-1] for image in images]
    expected = processor.post_process_object_detection(output, -1.0, sizes)[number]

    image = images[number]
    record = capture(model, processor, inputs, batch_index=number, images=images)
    found = record.stack(stack).queries
    assert found.boxes is not None
    boxes = np.array([box[1] for box in found.boxes if box is not None])
    assert {box[0] for box in found.boxes if box is not None} == {number}
    scale = (*image.size, *image.size)
    np.testing.assert_allclose(boxes * scale, expected["boxes"].numpy(), atol=1e-4)

    # Each label has the class and its score, unless there is likelier none.
    best = output.logits[number].argmax(-1).tolist()
    names = model.config.id2label
    for label, of, share in zip(
        found.labels[-len(best) :], best, expected["scores"].tolist(), strict=True
    ):
        assert label.endswith(f": {names.get(of)} {share:.2f}") == (of in names)
    assert name == "yolos" or 0 < sum(of in names for of in best) < len(best)

    # Of the pixels alone, the box is on what the model reads, padding included.
    alone = capture(model, None, inputs, batch_index=number).stack(stack).queries
    assert alone.boxes is not None
    mask = inputs["pixel_mask"][number]
    content = np.array([mask.any(0).sum(), mask.any(1).sum()]) / mask.shape[::-1]
    on_input = [box[1] for box in alone.boxes if box is not None]
    np.testing.assert_allclose(on_input, boxes * np.tile(content, 2), atol=1e-6)


@pytest.mark.parametrize("name", ["detr", "deformable_detr", "rt_detr"])
def test_queries_and_the_cells_that_they_see(name: str) -> None:
    model, [image, _] = _model(name), _images()
    kind = {
        "detr": "DetrImageProcessor",
        "deformable_detr": "DeformableDetrImageProcessor",
        "rt_detr": "RTDetrImageProcessor",
    }[name]
    processor: Any = getattr(transformers, kind)(
        size={"height": 64, "width": 64} if name == "rt_detr" else SIZE
    )
    with torch.no_grad():
        output = model(**processor(images=image, return_tensors="pt"))
    x, y, width, height = output.pred_boxes[0].double().numpy().T
    expected = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], 1)

    record = capture(model, processor, image)
    assert len(record.images) == 1
    for stack, side in (("decoder", "query"), ("decoder", "key"), ("cross", "query")):
        regions = [record.region(n, stack, side=side) for n in range(len(expected))]  # type: ignore[arg-type]
        np.testing.assert_allclose(
            [region[1] for region in regions if region is not None], expected.clip(0, 1)
        )
    assert record.tokens("cross")[0][1].startswith("query 1")
    assert record.stack("encoder").queries.boxes is None
    keys = record.stack("cross").keys
    assert keys.boxes is None
    assert keys.patches is not None
    assert keys.patches.soft
    assert keys.patches.of == tuple(range(len(keys)))
    assert {grid.box for grid in keys.patches.grids} == {(0.0, 0.0, 1.0, 1.0)}


def test_a_cell_is_where_the_map_has_it() -> None:
    model, [image, _] = _model("detr"), _images()
    processor = transformers.DetrImageProcessor(size=SIZE)
    before = capture(model, processor, image)
    [grid] = before.stack("encoder").queries.patches.grids  # type: ignore[union-attr]
    assert grid.rows > 1 < grid.columns
    cell = grid.columns + 1

    def changed(_module: object, _args: object, output: torch.Tensor) -> torch.Tensor:
        output = output.clone()
        output[0, :, cell // grid.columns, cell % grid.columns] += 1
        return output

    model.model.input_projection.register_forward_hook(changed)
    after = capture(model, processor, image)
    rows = (after.queries(0, 0, "encoder") != before.queries(0, 0, "encoder")).any(axis=1)
    assert rows.nonzero()[0].tolist() == [before.stack("encoder").queries.patches.of.index(cell)]  # type: ignore[union-attr]


def test_a_saved_record_has_its_boxes(tmp_path: Path) -> None:
    model, [image, _] = _model("detr"), _images()
    record = capture(model, transformers.DetrImageProcessor(size=SIZE), image)
    record.save(tmp_path / "record")
    again = AttentionRecord.load(tmp_path / "record")
    assert again.stack("cross").queries == record.stack("cross").queries
    assert again.stack("cross").queries.boxes is not None


def test_patches_with_boxes_keep_their_places() -> None:
    """As in OWL-ViT, where each patch predicts one."""
    patches = capture(
        zoo.build("yolos").model, None, {"pixel_values": torch.rand(1, 3, 32, 32)}
    ).stack()
    length = len(patches.queries)
    boxes = Detected("self", length, ((0, (0.0, 0.0, 1.0, 1.0)),) * 20, ("",) * 20)
    assert boxes.on(patches.queries) is patches.queries


def test_two_models_are_compared_query_by_query() -> None:
    model, [image, _] = _model("detr"), _images()
    processor = transformers.DetrImageProcessor(size=SIZE)
    one = capture(model, processor, image)
    torch.nn.init.normal_(model.class_labels_classifier.weight, std=4)
    other = capture(model, processor, image)
    assert one.tokens("cross")[0] != other.tokens("cross")[0]
    assert compare(one, other, stack="cross").queries().whole


def test_boxes_of_other_queries_than_the_last() -> None:
    """SAM 3 has a further token among its queries, and corners in place of middles and sizes."""
    built = zoo.build("sam3")
    record = capture(built.model, None, built.inputs)
    stacks = [record.stack(name) for name in record.stacks]
    assert not any(side.boxes for stack in stacks for side in (stack.queries, stack.keys))
