"""Skips that depend on the version of transformers."""

import pytest
import transformers
from packaging.version import Version

VERSION = Version(transformers.__version__)


def newer(version: str, why: str) -> pytest.MarkDecorator:
    """Marks what an older transformers than this cannot do; `make test-oldest` meets one."""
    return pytest.mark.skipif(
        Version(version) > VERSION, reason=f"transformers {version} is needed: {why}"
    )
