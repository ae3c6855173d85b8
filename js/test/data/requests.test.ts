import { describe, expect, test } from "vitest";
import { bytesOf, type Channel, Requests } from "../../src/data/requests.ts";
import { eventually } from "../support/eventually.ts";
import { FakeModel } from "../support/model.ts";
import { twoFrames } from "../support/place.ts";

const PARTS = [{ name: "weights", dtype: "f16", shape: [1, 1, 2] }];
const BYTES = [1, 2, 3, 4];
/** The signal of a caller that keeps waiting. */
const WANTED = new AbortController().signal;

/** Waits until this number of requests has been sent: one at a time, each with a frame. */
const sent = (model: FakeModel, count: number) =>
  eventually(() => expect(model.sent.length).toBe(count));

function conversation() {
  const model = new FakeModel();
  const controller = new AbortController();
  return { model, controller, source: new Requests(model, controller.signal).source() };
}

/** True if a promise is still pending when everything due has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setTimeout(resolve, 0, "later"));
  return (await Promise.race([promise, later])) === "later";
}

test("a request says what it is for", async () => {
  const { model, source } = conversation();
  void source.block("encoder", 3, WANTED);
  await sent(model, 1);
  expect(model.sent).toEqual([{ id: expect.any(String), op: "block", stack: "encoder", layer: 3 }]);
});

test("every request has an id of its own, also among several views of one model", async () => {
  const model = new FakeModel();
  for (const view of [0, 1]) {
    const source = new Requests(model, new AbortController().signal).source();
    void source.block("self", view, WANTED);
    void source.rows("self", view)("key", 3, WANTED);
  }
  await sent(model, 4);
  expect(new Set(model.sent.map(({ id }) => id)).size).toBe(4);
});

const larger = new Uint8Array([9, 9, 9, ...BYTES, 9]).buffer;

test.for([
  { host: "an ArrayBuffer", buffer: new Uint8Array(BYTES).buffer },
  { host: "a DataView", buffer: new DataView(new Uint8Array(BYTES).buffer) },
  { host: "a DataView into a larger buffer", buffer: new DataView(larger, 3, 4) },
  { host: "a Uint8Array into a larger buffer", buffer: new Uint8Array(larger, 3, 4) },
  { host: "a Uint16Array", buffer: new Uint16Array(new Uint8Array(BYTES).buffer) },
])("a reply with $host gives the block", async ({ buffer }) => {
  const { model, source } = conversation();
  const block = source.block("self", 0, WANTED);
  await sent(model, 1);
  const rounding = { largest: 0.001, rows: 16 };
  model.deliver({ id: model.sent[0].id, parts: PARTS, rounding }, [buffer]);
  const { parts, buffers, error } = await block;
  expect(parts).toEqual(PARTS);
  expect(error).toEqual(rounding);
  expect(buffers).toEqual([new Uint8Array(BYTES)]);
  expect([...bytesOf(buffer)]).toEqual(BYTES);
});

test("replies find their requests in any order", async () => {
  const { model, source } = conversation();
  const row = (position: number) => source.rows("self", 2)("query", position, WANTED);
  const asked = [source.block("self", 0, WANTED), row(1)];
  await sent(model, 2);
  const { op, stack, layer, side, position } = model.sent[1] as never;
  expect([op, stack, layer, side, position]).toEqual(["row", "self", 2, "query", 1]);
  for (const at of [1, 0]) {
    model.deliver({ id: model.sent[at].id, parts: [] }, [new Uint8Array([at])]);
  }
  for (const at of [0, 1]) expect((await asked[at]).buffers[0][0]).toBe(at);
});

test("an error reply becomes an error with the kernel's own words", async () => {
  const { model, source } = conversation();
  const block = source.block("self", 9, WANTED);
  await sent(model, 1);
  model.deliver({ id: model.sent[0].id, error: "layer 9 does not exist" });
  await expect(block).rejects.toThrow("layer 9 does not exist");
});

test("a reply without buffers, which hosts may then leave out, is an empty block", async () => {
  const { model, source } = conversation();
  const block = source.block("self", 0, WANTED);
  await sent(model, 1);
  model.deliver({ id: model.sent[0].id, parts: [] });
  await expect(block).resolves.toEqual({ parts: [], buffers: [] });
});

test("what others say on the channel is ignored", async () => {
  const { model, source } = conversation();
  const block = source.block("self", 0, WANTED);
  await sent(model, 1);
  for (const content of [null, undefined, "text", {}, { id: 7 }, { id: "another.0", parts: [] }]) {
    model.deliver(content, []);
  }
  expect(await isPending(block)).toBe(true);
  model.deliver({ id: model.sent[0].id, parts: [] }, []);
  expect(await isPending(block)).toBe(false);
});

test("a second reply to one request changes nothing", async () => {
  const { model, source } = conversation();
  const block = source.block("self", 0, WANTED);
  await sent(model, 1);
  const { id } = model.sent[0];
  model.deliver({ id, parts: PARTS }, [new Uint8Array(BYTES)]);
  model.deliver({ id, error: "too late" }, []);
  await expect(block).resolves.toMatchObject({ parts: PARTS });
});

test("where sending throws, as after a kernel's restart, the error says what to do", async () => {
  const channel: Channel = {
    on() {},
    off() {},
    send() {
      throw new Error("Cannot send");
    },
  };
  const source = new Requests(channel, new AbortController().signal).source();
  await expect(source.block("self", 4, WANTED)).rejects.toThrow(
    "The kernel is gone, so layer 4 cannot be fetched: run the cell again.",
  );
});

describe("blocks take turns", () => {
  const reply = (model: FakeModel, at: number) =>
    model.deliver({ id: model.sent[at].id, parts: PARTS }, [new Uint8Array(BYTES)]);

  test("the next one is asked for when the last has come", async () => {
    const { model, source } = conversation();
    const blocks = [0, 1, 2].map((layer) => source.block("self", layer, WANTED));
    for (const at of [0, 1, 2]) {
      await sent(model, at + 1);
      await twoFrames();
      expect(model.sent.length).toBe(at + 1);
      reply(model, at);
    }
    // The one wanted last is wanted most.
    expect(model.sent.map(({ layer }) => layer)).toEqual([2, 1, 0]);
    await Promise.all(blocks);
  });

  test("what is not wanted any more by then is never asked for", async () => {
    const { model, source } = conversation();
    for (let layer = 0; layer < 30; layer++) {
      const controller = new AbortController();
      const block = source.block("self", layer, controller.signal);
      if (layer % 3 === 0) await twoFrames();
      if (layer === 29) break;
      controller.abort();
      if (layer > 0) await expect(block).rejects.toThrow("abort");
    }
    expect(model.sent.map(({ layer }) => layer)).toEqual([0]);
    reply(model, 0);
    await sent(model, 2);
    expect(model.sent[1].layer).toBe(29);
  });

  test("an answer to what was sent is one, wanted or not", async () => {
    const { model, source } = conversation();
    const controller = new AbortController();
    const block = source.block("self", 0, controller.signal);
    await sent(model, 1);
    controller.abort();
    reply(model, 0);
    await expect(block).resolves.toMatchObject({ parts: PARTS });
    expect(model.sent.length).toBe(1);
  });

  test("an answer that does not come does not hold up the others", async () => {
    const { model, source } = conversation();
    void source.block("self", 0, WANTED);
    await sent(model, 1);
    void source.block("self", 1, WANTED);
    await eventually(() => expect(model.sent.length).toBe(2));
  });

  test("nor does a row, which may take long", async () => {
    const { model, source } = conversation();
    void source.rows("self", 0)("key", 0, WANTED);
    await sent(model, 1);
    void source.block("self", 1, WANTED);
    await twoFrames();
    expect(model.sent.map(({ op }) => op)).toEqual(["row", "block"]);
  });
});

test("a row that is not wanted any more is called off", async () => {
  const { model, source } = conversation();
  const controller = new AbortController();
  const row = source.rows("self", 0)("key", 5, controller.signal);
  await sent(model, 1);
  const { id } = model.sent[0];
  controller.abort();
  expect(model.sent[1]).toEqual({ op: "abort", of: [id] });
  model.deliver({ id, aborted: true });
  await expect(row).rejects.toThrow("abort");
});

test("the end takes the listener away, and late replies reach no one", async () => {
  const { model, controller, source } = conversation();
  const block = source.block("self", 0, WANTED);
  await sent(model, 1);
  void source.block("self", 1, WANTED);
  expect(model.listening).toBe(1);
  controller.abort();
  expect(model.listening).toBe(0);
  const [{ id }, ...others] = model.sent;
  expect(others).toEqual([{ op: "abort", of: [id] }]);
  model.deliver({ id, parts: PARTS }, []);
  expect(await isPending(block)).toBe(true);
  await twoFrames();
  expect(model.sent.length).toBe(2);
});

test.for([2 ** 40, "text", [1, 2], null, {}])("%j is not taken for bytes", (data) => {
  expect(() => bytesOf(data)).toThrow("Bytes are missing.");
});

test.for([[2 ** 40], 7, {}, [null]])(
  "a reply with buffers %j is an error to read",
  async (sent_) => {
    const { model, source } = conversation();
    const block = source.block("self", 0, WANTED);
    await sent(model, 1);
    model.deliver({ id: model.sent[0].id, parts: PARTS }, sent_);
    await expect(block).rejects.toThrow("The kernel's reply with layer 0 is damaged.");
  },
);

describe("a reply in pieces", () => {
  const text = { parts: [{ name: "é", dtype: "f16", shape: [2] }], rounding: null };
  const buffers = [new Uint8Array(0), new Uint8Array([1, 2, 3]), new Uint8Array([4, 5])];

  /** The messages with pieces of up to 20 bytes. */
  function split(id: string, content: object = text): [content: object, buffers: DataView[]][] {
    const all = [new TextEncoder().encode(JSON.stringify({ id, ...content })), ...buffers];
    const sizes = all.map(({ length }) => length);
    const whole = new Uint8Array(all.flatMap((bytes) => [...bytes]));
    return Array.from({ length: Math.ceil(whole.length / 20) }, (_, n) => {
      return [{ id, at: 20 * n, sizes }, [new DataView(whole.slice(20 * n, 20 * n + 20).buffer)]];
    });
  }

  async function asked() {
    const { model, source } = conversation();
    const block = source.block("self", 0, WANTED);
    await sent(model, 1);
    return { model, block, id: model.sent[0].id };
  }

  test("is the reply, in whatever order they come, and if one comes twice", async () => {
    const { model, block, id } = await asked();
    const [first, ...others] = split(id).reverse();
    for (const piece of [first, first, ...others.slice(0, -1), first]) model.deliver(...piece);
    expect(await isPending(block)).toBe(true);
    const last = others[others.length - 1];
    model.deliver(...last);
    model.deliver(...last);
    const { parts, buffers: joined } = await block;
    expect(parts).toEqual(text.parts);
    expect(joined).toEqual(buffers);
  });

  test("of several requests at once is each one's own", async () => {
    const { model, source } = conversation();
    const asked_ = [source.block("self", 0, WANTED), source.rows("self", 0)("key", 5, WANTED)];
    await sent(model, 2);
    const [one, other] = model.sent.map(({ id }, at) =>
      split(id, { parts: [{ ...text.parts[0], name: `${at}` }] }),
    );
    for (const [at, piece] of one.entries()) {
      model.deliver(...piece);
      model.deliver(...other[at]);
    }
    const names = (await Promise.all(asked_)).map(({ parts }) => parts[0].name);
    expect(names).toEqual(["0", "1"]);
  });

  test("of a request that was called off, or of nobody's, reaches no one", async () => {
    const { model, source } = conversation();
    const controller = new AbortController();
    const row = source.rows("self", 0)("key", 5, controller.signal);
    await sent(model, 1);
    const { id } = model.sent[0];
    const [first, ...others] = split(id);
    model.deliver(...first);
    controller.abort();
    model.deliver({ id, aborted: true });
    for (const piece of [...others, ...split("another.0")]) model.deliver(...piece);
    await expect(row).rejects.toThrow("abort");
  });

  test("that is followed by an error is that error", async () => {
    const { model, block, id } = await asked();
    model.deliver(...split(id)[0]);
    model.deliver({ id, error: "the memory is full" });
    await expect(block).rejects.toThrow("the memory is full");
  });

  test.for([
    { sizes: [2, 3], buffers: [] },
    { sizes: 7, buffers: [new Uint8Array(7)] },
    { sizes: [2 ** 60], buffers: [new Uint8Array(7)] },
    { sizes: [2, 3], buffers: [new Uint8Array(6)] },
    { sizes: [2, 3], buffers: [new Uint8Array(5)] },
  ])("that is damaged is an error to read: $sizes, $buffers", async ({ sizes, buffers }) => {
    const { model, block, id } = await asked();
    model.deliver({ id, at: 0, sizes }, buffers);
    await expect(block).rejects.toThrow("The kernel's reply with layer 0 is damaged.");
  });
});
