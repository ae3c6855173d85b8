import { expect, test } from "vitest";
import { bytesOf, type Channel, Requests } from "../../src/data/requests.ts";
import { FakeModel } from "../model.ts";

const PARTS = [{ name: "weights", dtype: "f16", shape: [1, 1, 2] }];
const BYTES = [1, 2, 3, 4];

function conversation() {
  const model = new FakeModel();
  const controller = new AbortController();
  return { model, controller, requests: new Requests(model, controller.signal) };
}

/** Whether a promise is still waiting when everything due has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise((resolve) => setTimeout(resolve, 0, "later"));
  return (await Promise.race([promise, later])) === "later";
}

test("a request says what it is for", () => {
  const { model, requests } = conversation();
  void requests.block("encoder", 3);
  expect(model.sent).toEqual([{ id: expect.any(String), op: "block", stack: "encoder", layer: 3 }]);
});

test("every request has an id of its own, also among several views of one model", () => {
  const model = new FakeModel();
  for (const view of [0, 1]) {
    const requests = new Requests(model, new AbortController().signal);
    void requests.block("self", view);
    void requests.block("self", view);
  }
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
  const { model, requests } = conversation();
  const block = requests.block("self", 0);
  model.deliver({ id: model.sent[0].id, parts: PARTS }, [buffer]);
  const { parts, buffers } = await block;
  expect(parts).toEqual(PARTS);
  expect(buffers).toEqual([new Uint8Array(BYTES)]);
  expect([...bytesOf(buffer)]).toEqual(BYTES);
});

test("replies find their requests in any order", async () => {
  const { model, requests } = conversation();
  const blocks = [requests.block("self", 0), requests.block("self", 1)];
  for (const at of [1, 0]) {
    model.deliver({ id: model.sent[at].id, parts: [] }, [new Uint8Array([at])]);
  }
  for (const at of [0, 1]) expect((await blocks[at]).buffers[0][0]).toBe(at);
});

test("an error reply becomes an error with the kernel's own words", async () => {
  const { model, requests } = conversation();
  const block = requests.block("self", 9);
  model.deliver({ id: model.sent[0].id, error: "layer 9 does not exist" });
  await expect(block).rejects.toThrow("layer 9 does not exist");
});

test("a reply without buffers, which hosts may then leave out, is an empty block", async () => {
  const { model, requests } = conversation();
  const block = requests.block("self", 0);
  model.deliver({ id: model.sent[0].id, parts: [] });
  await expect(block).resolves.toEqual({ parts: [], buffers: [] });
});

test("what others say on the channel is ignored", async () => {
  const { model, requests } = conversation();
  const block = requests.block("self", 0);
  for (const content of [null, undefined, "text", {}, { id: 7 }, { id: "another.0", parts: [] }]) {
    model.deliver(content, []);
  }
  expect(await isPending(block)).toBe(true);
  model.deliver({ id: model.sent[0].id, parts: [] }, []);
  expect(await isPending(block)).toBe(false);
});

test("a second reply to one request changes nothing", async () => {
  const { model, requests } = conversation();
  const block = requests.block("self", 0);
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
  const requests = new Requests(channel, new AbortController().signal);
  await expect(requests.block("self", 4)).rejects.toThrow(
    "The kernel is gone, so layer 4 cannot be fetched: run the cell again.",
  );
});

test("an abort takes the listener away, and late replies reach no one", async () => {
  const { model, controller, requests } = conversation();
  const block = requests.block("self", 0);
  expect(model.listening).toBe(1);
  controller.abort();
  expect(model.listening).toBe(0);
  model.deliver({ id: model.sent[0].id, parts: PARTS }, []);
  expect(await isPending(block)).toBe(true);
});
