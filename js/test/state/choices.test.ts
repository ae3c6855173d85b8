import { expect, test } from "vitest";
import { isValid } from "../../src/basics/reader.ts";
import { combination, SCHEMA } from "../../src/state/choices.ts";

/** Values that a choice of each kind accepts, and values that it refuses. */
const VALUES = {
  option: { right: ["light", "dark"], wrong: ["", "none of them", 0] },
  flag: { right: [true, false], wrong: [0, 1, "true"] },
  index: { right: [0, 3, 99], wrong: [-1, 0.5, "0", true, [0]] },
  indices: { right: [[], [0], [3, 1]], wrong: [0, "0", [-1], [0.5], [null], ["0"], {}] },
  pairs: {
    right: [
      [],
      [[0, 3]],
      [
        [7, 0],
        [7, 1],
      ],
    ],
    wrong: [0, [3], [[0]], [[0, 1, 2]], [[0, -1]], [["0", "1"]], {}],
  },
  links: {
    right: [[], [[[0], [1, 2], null, null]], [[null, [1], [3], [0]]]],
    wrong: [0, [3], [[[0], [1], null]], [[[0], [-1], null, null]], [["0", [1], null, null]], {}],
  },
  segments: { right: [[], [[1, 5, "subject"]]], wrong: [0, "x", [1, 5, "subject"], [[1, 5]], {}] },
  text: { right: ["a name"], wrong: [0, true, ["a name"], {}] },
};

test.for([
  ["theme", "option", false],
  ["words", "flag", false],
  ["layer", "index", false],
  ["query", "index", true],
  ["muted", "indices", false],
  ["heads", "indices", true],
  ["off", "pairs", false],
  ["cut", "links", false],
  ["named_segments", "segments", false],
  ["sort", "text", false],
] as const)("%s takes what it takes in Python", ([name, kind, nullable]) => {
  const { read, value: usual } = SCHEMA[name];
  const { right, wrong } = VALUES[kind];
  for (const value of [usual, ...right]) expect(isValid(read, value)).toBe(true);
  for (const value of [...wrong, undefined]) expect(isValid(read, value)).toBe(false);
  expect(isValid(read, null)).toBe(nullable);
});

test("every way to combine says how, and what", () => {
  const { options } = SCHEMA.combine;
  const said = options.map((combine) => {
    const { over, how } = combination(combine) ?? { over: "heads", how: "none" };
    return over === "heads" ? how : `${over}_${how}`;
  });
  expect(said).toEqual(options);
});
