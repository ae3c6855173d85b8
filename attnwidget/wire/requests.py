"""The kernel's side of the conversation: a request comes in, a reply with the same id goes out."""

from __future__ import annotations

from typing import Any

from attnwidget.record import AttentionRecord

from .block import Block, encode_block, encode_combined


def reply_to(record: AttentionRecord, request: Any) -> tuple[dict[str, Any], list[bytes]] | None:
    """The reply to {id, op: "block", stack, layer}: {id, parts} and buffers, or {id, error}.

    The layer is a number, or "combined" for what combines all layers. Every failure becomes an
    `error` that the reader of the view can act on. None if the message has no id, and so no one
    waits for a reply.
    """
    if not isinstance(request, dict) or not isinstance(request.get("id"), str):
        return None
    reply: dict[str, Any] = {"id": request["id"]}
    try:
        block = _asked_for(record, request)
    except Exception as error:
        # A KeyError prints its message in quotes.
        message = error.args[0] if error.args else type(error).__name__
        return reply | {"error": str(message)}, []
    return reply | {"parts": block.parts}, block.buffers


def _asked_for(record: AttentionRecord, request: dict[str, Any]) -> Block:
    op, stack, layer = request.get("op"), request.get("stack"), request.get("layer")
    if op != "block":
        raise ValueError(
            f"the kernel does not know the request {op!r}; its attnwidget is older than the page: "
            "restart the kernel and run the cell again"
        )
    if isinstance(stack, str) and layer == "combined":
        return encode_combined(record.stack(stack))
    if not isinstance(stack, str) or not isinstance(layer, int) or isinstance(layer, bool):
        raise ValueError(
            f"a block is asked for by stack (a name) and layer (a number), not by stack "
            f"{stack!r} and layer {layer!r}"
        )
    return encode_block(record.layer(layer, stack))
