"""The content of an exported page, read without a browser."""

import json
import re
from pathlib import Path
from typing import Any


def content_of(page: Path | str) -> dict[str, Any]:
    """The manifest, overview and choices of the one widget in it."""
    text = page.read_text(encoding="utf-8") if isinstance(page, Path) else page
    found = re.search(r"data-content>(.*?)</script>", text, re.DOTALL)
    assert found
    content = json.loads(found[1])
    [record], [widget] = content["records"], content["widgets"]
    return {**record, **widget}
