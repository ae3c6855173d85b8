/** The address of a page, which follows its readers, and which they go back and forward through. */

import { effect } from "@preact/signals-core";
import { type Asked, addressOf, askedOf } from "../state/address.ts";

/** A view of the page. */
export interface Addressed {
  /** The choices that differ from the view as the page opens. */
  place(): Asked;
  goTo(asked: Asked): void;
}

/** The time without a change after which the address follows: browsers allow some three a second. */
const SETTLED_MS = 400;

/** A change of one of these is a step back. */
const STEP = /(^|\.)(view|stack|layer|head|example)$/;

/** The link to what the views show. */
export function linkTo(views: readonly Addressed[]): string {
  const address = addressOf(views.map((view) => view.place()));
  return location.href.split("#")[0] + (address && `#${address}`);
}

/** Keep the address of the page in step with its views. */
export function followAddress(views: readonly Addressed[]): void {
  const steps = (link: string) => {
    const asked = new URLSearchParams(new URL(link).hash.slice(1));
    return JSON.stringify([...asked].filter(([name]) => STEP.test(name)));
  };
  let last = linkTo(views);
  let waiting = 0;
  effect(() => {
    const link = linkTo(views);
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (link === last) return;
      try {
        history[steps(link) === steps(last) ? "replaceState" : "pushState"](null, "", link);
      } catch {
        // Some hosts have no address to write, as a page in a mail.
      }
      last = link;
    }, SETTLED_MS);
  });
  addEventListener("hashchange", () => {
    for (const [at, asked] of askedOf(location.hash.slice(1), views.length).entries()) {
      views[at].goTo(asked);
    }
    last = linkTo(views);
  });
}
