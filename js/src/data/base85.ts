/** Decodes the bytes in a page's text: mirrors `attnwidget/page/base85.py`. */

const LEFT_OUT = "\"$&'<>\\`{";

/** The digit of each character, by its code. */
const DIGITS = new Uint8Array(128);
for (let code = 33, digit = 0; code < 127; code++) {
  if (!LEFT_OUT.includes(String.fromCharCode(code))) DIGITS[code] = digit++;
}

/**
 * Decode four bytes from each five digits of base 85; the last ones may be fewer. Damaged text is
 * decoded to other bytes, which the check sum of zlib tells.
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
