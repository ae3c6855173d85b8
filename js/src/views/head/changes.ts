/** The table of the pairs of tokens whose numbers differ most between two records. */

import { untracked } from "@preact/signals-core";
import type { AttentionMatrix } from "../../data/attention-matrix.ts";
import { button, setAttributes, tableElement, tableRow } from "../../parts/dom.ts";
import { numberAt, numberOf } from "../../parts/text.ts";
import type { Scope } from "../../scheduling/scope.ts";
import { seek } from "../../state/locks.ts";
import { placeOf } from "../shared/axes.ts";
import type { HeadContent } from "../shared/heads/words.ts";
import { type Link, strongestLinks } from "../shared/links.ts";

const COUNT = 7;

/** Hidden unless the matrix is a difference whose rows are here, and something differs. */
export function changesTable(
  scope: Scope,
  { state, axes, matrix, focused }: HeadContent,
): HTMLElement {
  const table = tableElement(null, ["query → key", "A", "B", "B − A"], []);
  table.className = "changes";
  const caption = table.createCaption();
  const [body] = table.tBodies;
  let shown: readonly Link[] = [];

  scope.scopedEffect((own) => {
    const current = matrix.value;
    const { sides, overview, name } = current;
    table.hidden = true;
    if (!sides || overview) return;
    caption.textContent = `Largest changes of ${name.replace(", B − A", "").replace("Head", "head")}`;
    const stop = untracked(() =>
      strongestLinks(
        current,
        axes,
        (done, links) => {
          if (done < 1) return;
          shown = links;
          table.hidden = !links.length;
          body.replaceChildren(...links.map((link) => rowOf(link, sides, current)));
          mark();
        },
        { limit: COUNT, all: true },
      ),
    );
    own.onEnd(stop);
  });
  scope.effect(mark);

  function rowOf(
    { query, key, weight: change }: Link,
    sides: readonly AttentionMatrix[],
    current: AttentionMatrix,
  ): HTMLElement {
    const name = `${axes.query.names[query]} → ${axes.key.names[key]}`;
    const go = () => seek(state, placeOf(axes, query, key));
    const numbers = [
      ...sides.map((side) => numberAt(side, query, key)),
      numberOf(current, change, current.rounding(query, key)),
    ];
    const row = tableRow(button({}, name, go), numbers);
    row.cells[3].className = change > 0 ? "more" : "less";
    return row;
  }

  function mark(): void {
    const { query, key } = focused.value;
    shown.forEach((link, at) => {
      const same = query.length === 1 && query[0] === link.query && key[0] === link.key;
      setAttributes(body.children[at] as HTMLElement, { "aria-current": `${same}` });
    });
  }

  return table;
}
