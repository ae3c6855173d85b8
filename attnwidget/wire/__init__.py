"""A record on its way to the browser. `js/src/data` reads what is written here."""

from .block import Block, encode_block, encode_combined
from .manifest import encode_overview
from .requests import reply_to

__all__ = ["Block", "encode_block", "encode_combined", "encode_overview", "reply_to"]
