/** Manifests of version 1, as in notebooks saved before metrics had names and units of their own. */

interface Sent {
  readonly stacks: readonly {
    readonly name: string;
    readonly layers: readonly { readonly measures: Readonly<Record<string, readonly number[]>> }[];
  }[];
}

/**
 * The manifest with its layers' measures as metrics, without units. Kinds of heads were not sent, so
 * that all are of one.
 */
export function fromVersion1<Manifest extends object>(manifest: Manifest): Manifest {
  const { stacks } = manifest as unknown as Sent;
  const byHead = (name: string, value: (number: number) => number) =>
    Object.fromEntries(
      stacks.map((stack) => [
        stack.name,
        stack.layers.map(({ measures }) => measures[name].map(value)),
      ]),
    );
  try {
    const names = Object.keys(stacks[0].layers[0].measures);
    const metrics = names.map((name) => ({
      name,
      label: name,
      unit: "",
      digits: 3,
      signed: false,
      directions: null,
      description: "",
      values: byHead(name, (number) => number),
    }));
    const label = "pattern not known";
    const patterns = {
      kinds: [{ label, description: label }],
      values: byHead(names[0], () => 0),
    };
    return { ...manifest, metrics, patterns };
  } catch {
    // The checks that follow name what is damaged.
    return manifest;
  }
}
