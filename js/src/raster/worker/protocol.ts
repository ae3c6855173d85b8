/** The messages between a page and its worker. */

import type { MatrixSpec } from "../../data/attention-matrix.ts";
import type { LayerData } from "../../data/layer-data.ts";
import type { Normalized } from "../../data/normalizers.ts";

export type ToWorker =
  /** The first message: the kernels, if they could be compiled. */
  | { readonly op: "start"; readonly module: WebAssembly.Module | null }
  /** A source of pictures, kept until it is dropped. */
  | {
      readonly op: "keep";
      readonly source: number;
      readonly content: LayerData["content"] | Float32Array;
    }
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
  /** At the end, the normalizers of the rows that were computed. */
  readonly learnt?: readonly (readonly [head: number, Normalized])[];
  /** The reason why the task failed. */
  readonly failed?: string;
}
