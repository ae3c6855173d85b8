/** Bytes in text, and bytes that are compressed. */

const LEFT_OUT = "\"$&'<>\\`{";

/** The digit of each character, by its code. */
const DIGITS = new Uint8Array(128);
for (let code = 33, digit = 0; code < 127; code++) {
  if (!LEFT_OUT.includes(String.fromCharCode(code))) DIGITS[code] = digit++;
}

/**
 * Decode four bytes from each five digits of base 85, as `attnwidget/page/base85.py` writes them; the
 * last ones may be fewer. Damaged text is decoded to other bytes, which the check sum of zlib tells.
 */
export function fromBase85(text: string): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let start = 0, at = 0; start < text.length; at += 4) {
    let number = 0;
    for (const end = start + 5; start < end; start++) {
      number = 85 * number + (start < text.length ? DIGITS[text.charCodeAt(start)] : 84);
    }
    view.setUint32(at, number);
  }
  return new Uint8Array(view.buffer, 0, Math.floor((4 * text.length) / 5));
}

/**
 * Inflate exactly `length` bytes, so that a damaged block cannot fill the memory.
 *
 * @param of the name of what the bytes belong to
 */
export async function inflate(data: Uint8Array, length: number, of: string): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser cannot unpack the layers of this page. Use a browser from 2023 or later.",
    );
  }
  const incomplete = new Error(`This ${of} is incomplete or damaged.`);
  const out = new Uint8Array(length);
  let at = 0;
  const stream = new Blob([data as Uint8Array<ArrayBuffer>]).stream();
  const reader = stream.pipeThrough(new DecompressionStream("deflate")).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw incomplete;
    });
    if (done) break;
    if (at + value.length > length) {
      void reader.cancel();
      throw incomplete;
    }
    out.set(value, at);
    at += value.length;
  }
  if (at < length) throw incomplete;
  return out;
}
