"""A record on its way to the browser. `js/src/data` reads what is written here."""

from .block import encode_block
from .manifest import encode_overview
from .requests import reply_to

__all__ = ["encode_block", "encode_overview", "reply_to"]
