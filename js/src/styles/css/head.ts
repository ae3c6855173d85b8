/** The head view: swatches, tokens, lines, matrix. */

export const HEAD = `
.head-view { display: flex; flex-direction: column; gap: 24px 32px }
.head-view.side-by-side { flex-direction: row; justify-content: space-between; align-items: flex-start }
.left { min-width: 0 }
.stepper .count { min-width: 4.4em; text-align: center }
.swatch-row { display: flex; flex-wrap: wrap; align-items: center; gap: 8px 6px; margin-bottom: 4px }
.swatch-row.unused { visibility: hidden }
.swatches { flex: 0 1 auto; display: flex; flex-wrap: wrap; gap: 8px 6px }
.some { border: 0; border-radius: 6px; padding: 3px 8px; background: none; color: var(--muted); font-size: 12px }
.some:hover:not([aria-disabled=true]) { background: var(--panel); color: var(--text) }
.some[aria-disabled=true] { opacity: .5; cursor: default }
.swatches button {
  position: relative; width: 33px; height: 24px; padding: 0 6px; border: 0; border-radius: 6px;
  font-size: 12px; color: var(--muted); font-variant-numeric: tabular-nums;
}
.swatches button.current::after { content: ""; position: absolute; left: 5px; right: 5px; bottom: -5px; height: 2px; border-radius: 1px; background: var(--text) }
.swatches button.moves::before { content: ""; position: absolute; left: 10%; bottom: 2px; height: 3px; border-radius: 1px; width: calc(.8 * var(--moved)); background: currentColor; opacity: .7 }
.swatches button:focus-visible { outline-offset: 2px }
.pairs { display: flex; gap: 6px; width: fit-content; max-width: 100%; overflow-x: auto }
.pairs.vertical { padding-top: 16px }
.title:has(+ .pairs) { margin-top: 10px }
.strip-names { position: absolute; bottom: 100%; left: 0; font-size: 11px; color: var(--muted); white-space: nowrap }
.strip-names.right { left: auto; right: 0 }
.horizontal .strip-names { display: none }
.changes { width: 100%; margin-top: 20px; border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums }
.changes caption { padding-bottom: 4px; text-align: left; font-size: 13px; font-weight: 600 }
.changes :is(th, td) { padding: 2px 0 2px 12px; font-weight: 400; text-align: right; white-space: nowrap }
.changes thead th { border-bottom: 1px solid var(--border); color: var(--muted) }
.changes th:first-child { width: 99%; padding-left: 0; text-align: left; white-space: normal; overflow-wrap: anywhere }
.changes tr[aria-current=true] { background: var(--highlight) }
.changes button { padding: 0 4px; border: 0; background: none; text-align: left }
.changes .more { color: var(--positive) }
.changes .less { color: var(--negative) }
.norms { position: relative; flex: none; width: 86px; font-size: 11px; color: var(--muted) }
.norms .bar i { left: 0 }
.norms .heading { position: absolute; bottom: 100%; right: 0; display: flex; max-width: 140px; white-space: pre }
.norms .heading .name { overflow: hidden; text-overflow: ellipsis }
.norms .row { display: flex; align-items: center; gap: 6px }
.norms .row span { width: 34px; text-align: right; font-variant-numeric: tabular-nums }
.pairs.horizontal { flex-direction: column; gap: 2px; padding-top: 12px }
.titled { width: fit-content; max-width: 100% }
.titles { display: flex; justify-content: space-between; gap: 16px; margin-bottom: 6px; padding: 0 8px; color: var(--muted); font-size: 13px; white-space: nowrap }
.tokens:focus-visible { outline-offset: -2px }
/* The ring is on the option that keys act on. */
:is(.tokens, .chips):focus-visible:has(.focused) { outline: none }
:is(.tokens, .chips):focus-visible .focused { outline: 2px solid var(--accent); outline-offset: -2px }
.tokens { position: relative; flex: none; cursor: pointer; -webkit-user-select: none; user-select: none; border-radius: 4px }
.tokens.line { display: flex; height: 30px; width: max-content }
.tokens [role=option] { display: flex; align-items: center; padding: 0 8px; border-radius: 4px }
.tokens [role=option] span { white-space: pre }
.tokens.line [role=option] { justify-content: center }
.tokens .generated span { text-decoration: underline dotted 1.5px var(--accent); text-underline-offset: 4px }
.tokens .found span { text-decoration: underline 2px var(--accent); text-underline-offset: 3px }
.tokens.column.query [role=option] { justify-content: flex-end }
.tokens:not(.faded) .special { color: var(--muted) }
.tokens .focused { background: var(--highlight) }
.tokens [aria-selected=true] { background: var(--highlight); box-shadow: inset 0 0 0 2px var(--lock, var(--accent)); font-weight: 600 }
.veil { position: absolute; top: 0; left: 0; pointer-events: none }
.window { flex: none; overflow: auto; overscroll-behavior: contain; overflow-anchor: none; scrollbar-width: none }
.horizontal .window { overflow-y: hidden }
.minimap { position: relative; flex: none; margin: 0 -6px }
.horizontal .minimap { margin: -2px 0 }
.strip { position: absolute; inset: 0 0 0 auto; cursor: pointer; touch-action: none }
.minimap.key .strip { inset: 0 auto 0 0 }
.horizontal .minimap.query .strip { inset: auto 0 0 }
.horizontal .minimap.key .strip { inset: 0 0 auto }
.lines { position: relative; flex: none }
.dimmed { opacity: 0 }
.matrix { flex: none; position: sticky; top: 0 }
.title {
  margin: 2px 0 6px; color: var(--muted); font-size: 13px; white-space: pre-wrap; overflow-wrap: anywhere; text-wrap: balance;
}
.title strong { color: var(--text); font-weight: 500 }
.title.zoomable { display: flex; align-items: flex-start; justify-content: space-between; gap: 8px }
.title.narrow { flex-direction: column }
.zoom { flex: none; display: flex; gap: 4px }
.zoom button { min-width: 24px; height: 24px; padding: 0 6px; border: 1px solid var(--border); border-radius: 6px; background: var(--background); color: var(--muted); line-height: 1 }
.zoom button:hover:not([aria-disabled=true]) { color: var(--text) }
.stage { position: relative; width: fit-content; cursor: crosshair }
.stage[tabindex] { touch-action: pan-x pan-y; -webkit-user-select: none; user-select: none }
.stage.zoomed { touch-action: none }
.stage.moving { cursor: grabbing }
.stage:focus-visible { border-radius: 4px }
:is(.minimap, .stage) canvas, .base { display: block }
`;
