/** Numbers and lines of text as the reader sees them. */

/** A piece of the status line that stands out: emphasised, or in the colour that it explains. */
export interface Marked {
  readonly mark: "strong" | "positive" | "negative";
  readonly text: string;
}

export type Phrase = readonly (string | Marked)[];

export const strong = (text: string): Marked => ({ mark: "strong", text });

/** Three decimals; a number that is not zero never looks like zero. */
export function weight(value: number): string {
  return value > 0 && value < 0.0005 ? "<0.001" : value.toFixed(3);
}

/** A score or vector component, with a true minus sign. */
export function number(value: number, digits = 2): string {
  if (value === Number.NEGATIVE_INFINITY) return "masked";
  return value.toFixed(digits).replace("-", "\u2212");
}

/** How the scores of a layer follow from q and k, as a formula. */
export function formula(
  program: {
    scale: number;
    softcap: number | null;
    bias: boolean;
  },
  dim: number,
): string {
  const root = Math.abs(program.scale * Math.sqrt(dim) - 1) < 1e-6;
  const scaled = root
    ? `q\u2009·\u2009k ÷ √${dim}`
    : program.scale === 1
      ? "q\u2009·\u2009k"
      : `q\u2009·\u2009k × ${Number(program.scale.toPrecision(4))}`;
  const capped = program.softcap === null ? scaled : `cap ${program.softcap} (${scaled})`;
  return program.bias ? `${capped} + bias` : capped;
}

/** Width of a column that holds these labels, in CSS pixels, within bounds. */
export function columnWidth(
  labels: readonly string[],
  fontSize: number,
  bounds: [number, number],
): number {
  const context = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  context.font = `${fontSize}px system-ui, sans-serif`;
  const widest = labels.reduce(
    (most, label) => Math.max(most, context.measureText(label).width),
    0,
  );
  // A little more than measured, for the heavier face of a locked token.
  return Math.min(Math.max(Math.ceil(widest * 1.08) + 18, bounds[0]), bounds[1]);
}

/** One significant digit, never less than the value: for a bound. */
export function roundedUp(value: number): string {
  if (value === 0) return "0";
  const unit = 10 ** Math.floor(Math.log10(value));
  return (Math.ceil(value / unit) * unit).toPrecision(1);
}
