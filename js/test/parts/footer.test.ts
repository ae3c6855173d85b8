import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { page } from "vitest/browser";
import { el } from "../../src/parts/dom.ts";
import { footer } from "../../src/parts/footer.ts";
import { colored, type Phrase, pair, strong, token } from "../../src/parts/text.ts";
import { styleSheet } from "../../src/styles/style-sheet.ts";
import { place } from "../support/place.ts";
import { testScope } from "../support/test-scope.ts";

const LONG = `supercalifragilistic${"x".repeat(300)}expialidocious`;

function mounted(status: Phrase, width = 600) {
  const [said, legend] = [signal<Phrase>(status), signal<Phrase>(["25 tokens"])];
  const host = place(el("div", {}));
  host.style.width = `${width}px`;
  const shadow = host.attachShadow({ mode: "open" });
  shadow.adoptedStyleSheets = [styleSheet()];
  const scope = testScope();
  const element = footer(scope, said, legend, signal(false));
  shadow.append(el("div", { class: "root" }, element));
  return { said, legend, host, scope };
}

const status = page.getByRole("status");

test("says all of it, and keeps it for what has no room", () => {
  mounted([strong("Layer 2  "), ...pair("it", LONG), " 0.250 · ", colored("red", "■")]);
  const said = `Layer 2  it → ${LONG} 0.250 · ■`;
  expect(status.element().textContent).toBe(said);
  expect(status.element()).toHaveAttribute("title", said);
});

test.for([500, 600, 1000, 1400])(
  "at %i px, numbers after the longest labels stay in sight",
  (width) => {
    const strongest = [1, 2, 3].flatMap((head) => [token(LONG), ` 0.123 (head ${head}) · `]);
    mounted(["Layer 10  ", token(LONG, true), strong(" →"), ...strongest, "Esc releases"], width);
    (page.getByRole("button", { name: "Details" }).element() as HTMLElement).click();
    const element = status.element();
    expect(element.scrollWidth).toBeLessThanOrEqual(element.clientWidth);
    expect(element.scrollHeight).toBeLessThanOrEqual(element.clientHeight);
    // And the end of each label, which may be what tells them apart.
    const outer = element.getBoundingClientRect();
    for (const end of element.querySelectorAll("bdi > :last-child")) {
      expect(end.textContent).toBe("cious");
      const box = end.getBoundingClientRect();
      expect(box.width).toBeGreaterThan(0);
      expect(box.right).toBeLessThanOrEqual(outer.right + 1);
    }
  },
);

test("short labels are one piece, and accents stay with their letters", () => {
  const accented = `${"n".repeat(20)}e\u0301abcd`;
  mounted([token("tokenization"), token(accented)]);
  const [short, long] = status.element().querySelectorAll("bdi");
  expect(short.children.length).toBe(0);
  expect(long.lastElementChild?.textContent).toBe("e\u0301abcd");
});

test.for([500, 800, 1400])("at %i px, its height does not depend on what it says", (width) => {
  const { said, legend, host } = mounted([], width);
  const heights = new Set<number>();
  for (const text of ["", "a word", "many words ".repeat(100)]) {
    said.value = [text];
    heights.add(host.getBoundingClientRect().height);
    legend.value = [text];
    heights.add(host.getBoundingClientRect().height);
  }
  expect(heights.size).toBe(1);
});

test.for([500, 800, 1400])("at %i px, all of a legend is in sight once it is opened", (width) => {
  const { legend, host } = mounted(["Layer 2"], width);
  (page.getByRole("button", { name: "Details" }).element() as HTMLElement).click();
  legend.value = ["weights within ±0.0005 · ".repeat(5)];
  const about = host.shadowRoot?.querySelector(".about") as HTMLElement;
  expect(about.scrollHeight).toBeLessThanOrEqual(about.clientHeight);
  expect(about.scrollWidth).toBeLessThanOrEqual(about.clientWidth);
});
