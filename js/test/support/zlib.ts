/** Encodes bytes in zlib's format without compression (RFC 1950, RFC 1951). */

const MOST = 0xffff;

export function zlib(data: Uint8Array): Uint8Array {
  const out = [0x78, 0x01];
  for (let at = 0; at === 0 || at < data.length; at += MOST) {
    const piece = data.subarray(at, at + MOST);
    const last = at + MOST >= data.length;
    const { length } = piece;
    out.push(
      Number(last),
      length & 255,
      length >> 8,
      ~length & 255,
      (~length >> 8) & 255,
      ...piece,
    );
  }
  let [a, b] = [1, 0];
  for (const byte of data) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return new Uint8Array([...out, b >> 8, b & 255, a >> 8, a & 255]);
}
