/** Tests of the cache: resources in use stay, others as long as there is room. */

import { effect, type ReadonlySignal } from "@preact/signals-core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Absent, type Loaded, ResourceCache } from "../../src/data/resource-cache.ts";
import { watch } from "../support/watch.ts";

interface Asked {
  readonly key: string;
  readonly signal: AbortSignal;
  give(bytes?: number): Promise<void>;
  fail(reason: unknown): Promise<void>;
}

/** A cache with room for 10 bytes, and what was asked for. */
function cache() {
  const asked: Asked[] = [];
  const changed = vi.fn();
  const made = new ResourceCache(10, changed);
  const settled = () => new Promise<void>((resolve) => setTimeout(resolve));
  const ask = (key: string) => (signal: AbortSignal) =>
    new Promise<{ data: string; bytes: number }>((resolve, reject) => {
      asked.push({
        ...{ key, signal },
        give: (bytes = 4) => {
          resolve({ data: `the ${key}`, bytes });
          return settled();
        },
        fail: (reason) => {
          reject(reason);
          return settled();
        },
      });
    });
  const get = (key: string) => made.get(key, ask(key));
  /** Watched, arrived, and let go of. */
  const visit = async (key: string, bytes?: number) => {
    const [state, before] = [get(key), asked.length];
    const end = watch(state);
    await asked[before]?.give(bytes);
    end();
    return state;
  };
  return {
    cache: made,
    asked,
    changed,
    get,
    visit,
    settled,
    fetch: (key: string) => made.fetch(key, ask(key)),
  };
}

const statuses = (...states: ReadonlySignal<Loaded<string>>[]) =>
  states.map((state) => state.peek().status);

describe("room", () => {
  test("is made by what was watched longest ago", async () => {
    const { asked, get, visit } = cache();
    const [a, b] = [await visit("a"), await visit("b")];
    await visit("a");
    const c = await visit("c");
    expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c"]);
    expect(statuses(a, b, c)).toEqual(["ready", "loading", "ready"]);
    expect(get("b")).toBe(b);
  });

  test("is never made by what is watched", async () => {
    const { cache: made, asked, get, visit } = cache();
    const held = ["a", "b", "c"].map(get);
    held.forEach(watch);
    for (const { give } of asked) await give(8);
    expect(statuses(...held)).toEqual(["ready", "ready", "ready"]);
    expect(made.held).toBe(24);
    // The cache has no room for d once it is released and e arrives.
    const d = await visit("d");
    const e = await visit("e");
    expect(statuses(...held, d, e)).toEqual(["ready", "ready", "ready", "loading", "ready"]);
  });

  test("was lost: who holds the signal and comes back gets it again", async () => {
    const { asked, visit } = cache();
    const a = await visit("a", 8);
    await visit("b", 8);
    expect(statuses(a)).toEqual(["loading"]);
    const seen: string[] = [];
    const end = effect(() => {
      seen.push(a.value.status);
    });
    await asked[2].give(8);
    end();
    expect(asked.map(({ key }) => key)).toEqual(["a", "b", "a"]);
    expect(seen).toEqual(["loading", "ready"]);
  });
});

describe("what is let go of", () => {
  test("is called off, but not if it is taken up again at once", async () => {
    const { asked, get, settled } = cache();
    const a = get("a");
    watch(a)();
    watch(a);
    await settled();
    expect([asked.length, asked[0].signal.aborted]).toEqual([1, false]);
    const b = get("b");
    watch(b)();
    await settled();
    expect(asked[1].signal.aborted).toBe(true);
  });

  test("is called off as often as it was asked for", async () => {
    const { cache: made, asked, get, settled } = cache();
    const leave = watch(get("a"));
    made.again();
    leave();
    await settled();
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  });

  test("is kept where it comes all the same", async () => {
    const { asked, get, settled } = cache();
    const a = get("a");
    watch(a)();
    await settled();
    await asked[0].give();
    watch(a);
    expect([statuses(a), asked.length]).toEqual([["ready"], 1]);
  });

  test("is asked for again where it did not come, and is wanted meanwhile", async () => {
    const { asked, get, settled } = cache();
    const a = get("a");
    watch(a)();
    await settled();
    watch(a);
    expect(asked.length).toBe(1);
    await asked[0].fail(asked[0].signal.reason);
    expect(asked.length).toBe(2);
    await asked[1].give();
    expect(statuses(a)).toEqual(["ready"]);
  });
});

describe("what is fetched", () => {
  test("is there when it is watched", async () => {
    const { asked, get, fetch, changed } = cache();
    expect(fetch("a")).toBe(true);
    expect(fetch("a")).toBe(false);
    await asked[0].give();
    expect(changed).toHaveBeenCalledTimes(1);
    expect(fetch("a")).toBe(false);
    watch(get("a"));
    expect(statuses(get("a"))).toEqual(["ready"]);
    expect(asked.length).toBe(1);
  });

  test("is kept, also where it was watched long ago, before what was watched since", async () => {
    const { asked, get, fetch, visit } = cache();
    const [a, b] = [await visit("a"), await visit("b")];
    const end = watch(get("c"));
    await asked[2].give();
    expect(statuses(a, b)).toEqual(["loading", "ready"]);
    fetch("a");
    await asked[3].give();
    expect(statuses(a, b)).toEqual(["ready", "loading"]);
    end();
  });

  test("and does not come has not failed before someone watches", async () => {
    const { asked, get, fetch } = cache();
    fetch("a");
    await asked[0].fail(new Error("no"));
    const a = get("a");
    expect(statuses(a)).toEqual(["loading"]);
    watch(a);
    await asked[1].fail(new Error("no"));
    expect(a.peek()).toEqual({ status: "failed", message: "no" });
  });
});

describe("what is asked for again", () => {
  test("comes with the first answer, whichever that is", async () => {
    for (const first of [0, 1]) {
      const { cache: made, asked, get } = cache();
      const a = get("a");
      const seen = vi.fn();
      onTestFinished(effect(() => seen(a.value.status)));
      made.again();
      expect(asked.length).toBe(2);
      await asked[first].give();
      await asked[1 - first].give();
      expect(seen.mock.calls).toEqual([["loading"], ["ready"]]);
    }
  });

  test("has failed when the last question has", async () => {
    const { cache: made, asked, get } = cache();
    const a = get("a");
    watch(a);
    made.again();
    await asked[0].fail(new Error("too late"));
    expect(statuses(a)).toEqual(["loading"]);
    await asked[1].fail(new Error("no"));
    expect(a.peek()).toEqual({ status: "failed", message: "no" });
  });

  test("is what is watched and has not come", async () => {
    const { cache: made, asked, get, fetch } = cache();
    watch(get("a"));
    await asked[0].give();
    fetch("b");
    const end = watch(get("c"));
    end();
    made.again();
    expect(asked.map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });
});

test("what is not there has failed, but is not broken", async () => {
  const { asked, get } = cache();
  const a = get("a");
  watch(a);
  await asked[0].fail(new Absent("left out"));
  expect(a.peek()).toEqual({ status: "failed", message: "left out", absent: true });
});

test("it waits for what is watched alone", async () => {
  const { cache: made, asked, get, fetch } = cache();
  fetch("a");
  expect(made.waiting).toBe(false);
  watch(get("b"));
  expect(made.waiting).toBe(true);
  await asked[1].give();
  expect(made.waiting).toBe(false);
});
