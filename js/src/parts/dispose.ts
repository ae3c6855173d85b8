/** One clean-up out of many. */
export function disposeAll(disposers: readonly (() => void)[]): () => void {
  return () => {
    for (const dispose of disposers) dispose();
  };
}
