"""The errors stated in an exported page of ours."""

from __future__ import annotations

import json
import re


def stated_error(page: str) -> dict[str, float | None]:
    """The largest error of a weight, and the mean share of attention that moved.

    A page that carries queries and keys in float16 states the former alone.
    """
    blocks = [
        json.loads(found)
        for found in re.findall(r'data-block="[^"]*\.\d+">(.*?)</script>', page, re.DOTALL)
    ]
    errors = [block["error"] for block in blocks]
    variations = [error["variation"] for error in errors if "variation" in error]
    return {
        "largest": max(error["largest"] for error in errors),
        "variation": sum(variations) / len(variations) if variations else None,
    }
