/** Places in an address: what is written is read again, and nothing else is believed. */

import { describe, expect, test } from "vitest";
import { addressOf, askedOf, differing, openAt } from "../../src/state/address.ts";
import { CHOICES, type Choices, defaults } from "../../src/state/choices.ts";
import { choose, type State } from "../../src/state/state.ts";
import { stateOf } from "../support/choices.ts";

const choicesOf = (state: State) =>
  Object.fromEntries(CHOICES.map((name) => [name, state[name].peek()])) as unknown as Choices;

const OPENING: Partial<Choices> = { layer: 1, query: 2, heads: [0, 1], also: [3] };

/** A page with these choices, opened at an address. */
function opened(address: string, opening: Partial<Choices> = {}) {
  const state = stateOf(opening);
  const before = choicesOf(state);
  openAt(state, before, askedOf(address, 1)[0]);
  return { state, address: addressOf([differing(state, before)]) };
}

test("the address names the view and the place, and no more", () => {
  const { state, address } = opened("view=neuron&layer=1&head=1&query=2");
  const { view, layer, head, query } = choicesOf(state);
  expect([view, layer, head, query]).toEqual(["neuron", 1, 1, 2]);
  expect(address).toBe("view=neuron&layer=1&head=1&query=2");
  expect(state.sought.value).toEqual({ query: 2, key: null });
  expect(state.error.value).toBeNull();
  expect(opened("").address).toBe("");
});

describe("what is chosen is read as it was written", () => {
  const chosen: readonly Partial<Choices>[] = [
    { query: null, key: 3, also: [] },
    { heads: null, head: 1 },
    { also: [4, 3] },
    { words: true, arcs_shown: false, picture: false },
    { named_segments: [[1, 5, 'a "name", & more=#%<b>']], segments: "from:1-5" },
    { off: [[0, 1]], cut: [[[0], [1, 2], null, [1]]] },
    {
      off: [
        [0, 1],
        [1, 0],
      ],
    },
    { segments: "content" },
    { muted: [7], include_layers: [0], include_heads: [] },
    { theme: "dark", combine: "layers_max", parts: "paragraphs", part: 2 },
  ];
  test.for(chosen)("%j", (choices) => {
    const state = stateOf(OPENING);
    const before = choicesOf(state);
    for (const [name, value] of Object.entries(choices)) {
      choose(state, name as keyof Choices, value as never);
    }
    const address = addressOf([differing(state, before)]);
    expect(address).not.toMatch(/[\s"<>#]/);
    const again = opened(address, OPENING);
    expect(choicesOf(again.state)).toEqual(choicesOf(state));
    expect(again.address).toBe(address);
    expect(again.state.error.value).toBeNull();
  });
});

test("what is not named is as the page opens", () => {
  const state = stateOf(OPENING);
  const before = choicesOf(state);
  choose(state, "layer", 0);
  choose(state, "view", "neuron");
  openAt(state, before, askedOf("head=1", 1)[0]);
  expect(choicesOf(state)).toEqual({ ...before, head: 1 });
});

test("a head that is not drawn takes the place of those that are", () => {
  const { state } = opened("head=1", { heads: [0], head: 0 });
  expect(state.heads.value).toEqual([1]);
  const other = opened("heads=1", { heads: [0], head: 0 });
  expect([other.state.head.value, other.state.heads.value]).toEqual([1, [1]]);
});

test("several views keep apart", () => {
  const [first, second] = askedOf("view=model&1.layer=1&2.layer=0&2.view=map&3.view=head", 2);
  expect([...first]).toEqual([
    ["view", "model"],
    ["layer", "1"],
    ["3.view", "head"],
  ]);
  expect(addressOf([new Map([["layer", "1"]]), second])).toBe("1.layer=1&2.layer=0&2.view=map");
});

describe("what a record cannot have is ignored, and said", () => {
  const hostile = [
    ["layer=99", "layer"],
    ["layer=-1", "layer"],
    ["layer=0.5", "layer"],
    ["layer=1e999", "layer"],
    ["layer=", "layer"],
    ["layer=null", "layer"],
    ["head=99", "head"],
    ["heads=0,99", "heads"],
    ["heads=[[0]]", "heads"],
    ["query=99", "query"],
    ['key="0"', "key"],
    ["also=99", "also"],
    ["view=constructor", "view"],
    ["view=%3Cscript%3Ealert(1)%3C/script%3E", "view"],
    ["stack=nowhere", "stack"],
    ["compared=b", "compared"],
    ["lens=__proto__", "lens"],
    ["sort=nothing&map_x=toString", "sort, map_x"],
    ["words=yes", "words"],
    ["segments=from:1-5", "segments"],
    ["segments=content nothing", "segments"],
    ['named_segments=[3,999,"x"]&segments=to:3-999', "named_segments, segments"],
    ["off=[0,99]", "off"],
    ["off=[99,0]", "off"],
    ["cut=[[99],null,null,null]", "cut"],
    ["cut=[null,null,[99],null]", "cut"],
    ["include_layers=0,99", "include_layers"],
    ["off=0,1", "off"],
    ["cut=0", "cut"],
    ["named_segments=1,5,x", "named_segments"],
    ["theme=%E0%A4%A", "theme"],
    ["__proto__=1", "an unknown name"],
    ["constructor=1&toString=2&%3Cb%3E=3", "3 unknown names"],
    ["2.layer=1", "an unknown name"],
    ["0.layer=1", "an unknown name"],
    ["Log in at evil.example", "an unknown name"],
    [`muted=${"1,".repeat(2 ** 16)}1`, "an unknown name"],
    [`query=${"[".repeat(60_000)}`, "query"],
  ] as const;
  test.for(hostile)("%.40s", ([address, ignored]) => {
    const { state, address: after } = opened(`${address}&arcs_shown=false`);
    const rest = address.length < 2 ** 16;
    expect(choicesOf(state)).toEqual({
      ...defaults(state.manifest.value.stacks[0].name),
      arcs_shown: !rest,
    });
    expect(state.error.value).toBe(
      `This page does not have all that its address asks for. Ignored: ${ignored}.`,
    );
    expect(after).toBe(rest ? "arcs_shown=false" : "");
  });
});
