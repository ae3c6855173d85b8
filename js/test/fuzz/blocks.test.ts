/** Damaged blocks of a layer, from a page, a notebook's state, or a kernel. */

import { test } from "vitest";
import { checkNumbers, checkParts, layerShapes } from "../../src/data/check-block.ts";
import { type Block, decodeBlock, unpack } from "../../src/data/codec.ts";
import { LayerData } from "../../src/data/layer-data.ts";
import { readManifest } from "../../src/data/read-manifest.ts";
import { Requests } from "../../src/data/requests.ts";
import { FakeModel } from "../support/model.ts";
import { blockOf, CODED, RECORD } from "../support/vectors.ts";
import { zlib } from "../support/zlib.ts";
import { CAMPAIGN_PATIENCE, campaign } from "./campaign.ts";
import { below, bytesOf, jsonOf, oneOf, type Random } from "./mutate.ts";

const {
  stacks: [STACK],
  lenses: LENSES,
} = readManifest(RECORD.manifest);
const BLOCKS = STACK.layers.map((info) => ({
  info,
  block: blockOf(RECORD.blocks[`self.${info.number}`]),
}));

test("coded integers", { timeout: CAMPAIGN_PATIENCE }, () => {
  const seeds = CODED.map((sent) => blockOf(sent));
  return campaign("integers", 4000, (random) => {
    const { parts, buffers } = oneOf(random, seeds);
    const changed = buffers.map((own) => (below(random, 2) ? own : noisy(own, random)));
    decodeBlock({ parts, buffers: changed });
    return true;
  });
});

/** Its parts, its bytes, or both are not what they were. */
function damaged({ parts, buffers }: Block, random: Random): Block {
  const what = below(random, 3);
  return {
    parts: what === 0 ? parts : (jsonOf(parts, random) as Block["parts"]),
    buffers:
      what === 1 ? buffers : buffers.map((own) => (below(random, 2) ? own : noisy(own, random))),
    error: jsonOf({ largest: 0.01, rows: 4 }, random) as Block["error"],
  };
}

/** A damaged copy, most of the time of the same length. */
function noisy(own: Uint8Array, random: Random): Uint8Array {
  const changed = bytesOf(own, [own], random);
  if (below(random, 4) === 0) return changed;
  const out = own.slice();
  out.set(changed.subarray(0, out.length));
  return out;
}

test("blocks", { timeout: CAMPAIGN_PATIENCE }, () =>
  campaign("blocks", 3000, (random) => {
    const { info, block } = oneOf(random, BLOCKS);
    const { parts, buffers, error } = damaged(block, random);
    checkParts(parts, error, (own) => layerShapes(STACK, info, LENSES, own));
    const arrays = decodeBlock({ parts, buffers });
    checkNumbers(arrays);
    const layer = new LayerData(STACK, info, arrays, error);
    const head = info.heads - 1;
    const sizes = [layer.weightRow(head, 2).length, layer.weightColumn(head, 1).length];
    layer.query(head, 0);
    layer.key(head, 0);
    if (sizes.some((size) => size !== STACK.keys.labels.length)) throw TypeError();
    return true;
  }),
);

test("chunks", { timeout: CAMPAIGN_PATIENCE }, () => {
  const chunks = BLOCKS.map(({ info, block: { parts, buffers } }) => {
    return { info, parts, data: zlib(new Uint8Array(buffers.flatMap((own) => [...own]))) };
  });
  return campaign("chunks", 400, async (random) => {
    const { info, parts, data } = oneOf(random, chunks);
    const sent = below(random, 2) ? parts : (jsonOf(parts, random) as typeof parts);
    const packed = { parts: sent, error: null, data: bytesOf(data, [data], random) };
    checkParts(sent, null, (own) => layerShapes(STACK, info, LENSES, own));
    // Most changes are noticed by the checksum: without one, the same bytes are read.
    const block = await unpack(below(random, 2) ? packed : { ...packed, data });
    decodeBlock(block);
    return true;
  });
});

test("replies of a kernel", { timeout: CAMPAIGN_PATIENCE }, () => {
  const { parts, buffers } = BLOCKS[0].block;
  const reply = { parts, rounding: { largest: 0.01 } };
  return campaign("replies", 200, async (random) => {
    const model = new FakeModel();
    const controller = new AbortController();
    const requests = new Requests(model, controller.signal);
    const asked = requests.source().block("self", 0, controller.signal);
    while (!model.sent.length) await new Promise((resolve) => requestAnimationFrame(resolve));
    const [{ id }] = model.sent;
    const changed = jsonOf(reply, random);
    const sent = below(random, 2) ? [...buffers] : jsonOf([[0], {}, 2 ** 40, null], random);
    model.deliver(jsonOf({ id: "another" }, random), []);
    model.deliver({ ...(changed as object), id }, sent);
    try {
      const block = await asked;
      checkParts(block.parts, block.error, (own) =>
        layerShapes(STACK, STACK.layers[0], LENSES, own),
      );
      decodeBlock(block);
      return true;
    } finally {
      controller.abort();
    }
  });
});
