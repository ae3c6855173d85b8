/** A reply that came in pieces: mirrors `attnwidget/wire/pieces.py`. */

export class Pieces {
  readonly #bytes: Uint8Array;
  readonly #seen = new Set<number>();
  #missing: number;

  /** @param sizes of the reply's JSON, and of each of its buffers, in bytes */
  constructor(private readonly sizes: readonly number[]) {
    this.#missing = sizes.reduce((sum, size) => sum + size, 0);
    this.#bytes = new Uint8Array(this.#missing);
  }

  /**
   * Add a piece, in any order, perhaps once more.
   *
   * @param at its first byte in the whole
   * @returns the reply and its buffers, or null while pieces are missing
   */
  add(at: number, piece: Uint8Array): readonly [unknown, readonly Uint8Array[]] | null {
    if (this.#seen.has(at)) return null;
    this.#seen.add(at);
    this.#bytes.set(piece, at);
    this.#missing -= piece.length;
    if (this.#missing) return null;
    let end = 0;
    const [json, ...buffers] = this.sizes.map((size) => {
      const start = end;
      end += size;
      return this.#bytes.subarray(start, end);
    });
    return [JSON.parse(new TextDecoder().decode(json)), buffers];
  }
}
