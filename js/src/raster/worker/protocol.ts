/** The messages of a page and its worker. */

import type { MatrixSpec } from "../../data/attention-matrix.ts";
import type { LayerContent } from "../../data/layer-data.ts";
import type { Normalized } from "../../data/normalizers.ts";

export type ToWorker =
  /** The first of all: the kernels, if they could be compiled. */
  | { readonly op: "start"; readonly module: WebAssembly.Module | null }
  /** The source of pictures, kept until it is dropped. */
  | { readonly op: "keep"; readonly source: number; readonly content: LayerContent | Float32Array }
  | { readonly op: "drop"; readonly source: number }
  | {
      readonly op: "paint";
      readonly task: number;
      readonly kind: "lines" | "matrix";
      readonly source: number;
      readonly specs: readonly MatrixSpec[];
      readonly job: unknown;
    }
  | { readonly op: "stop"; readonly task: number };

export interface FromWorker {
  readonly task: number;
  /** The arguments of `show`. */
  readonly shown?: readonly unknown[];
  /** At the end, what was found out about the rows of heads. */
  readonly learnt?: readonly (readonly [head: number, Normalized])[];
  /** Why there will be nothing more. */
  readonly failed?: string;
}
