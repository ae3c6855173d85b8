/** The style of everything inside the shadow root. Colours come from the palette. */

const CSS = `
:host { all: initial; display: block }
* { box-sizing: border-box }
.root {
  outline: none; container-type: inline-size; position: relative; display: flex; flex-direction: column; overflow: hidden;
  border: 1px solid var(--border); border-radius: 8px;
  background: var(--background); color: var(--text); color-scheme: light;
  font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  -webkit-font-smoothing: antialiased;
}
.root[data-theme=dark] { color-scheme: dark }
[hidden] { display: none !important }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
button, select { font: inherit; color: inherit; cursor: pointer }

header {
  display: flex; flex-wrap: wrap; align-items: center; gap: 10px 16px;
  padding: 10px 20px; border-bottom: 1px solid var(--border);
}
[role=tablist], .control {
  display: inline-flex; align-items: center; height: 34px;
  border: 1px solid var(--border); border-radius: 7px;
}
[role=tablist] { overflow: clip; overflow-clip-margin: 4px }
[role=tab] {
  height: 100%; padding: 0 16px; border: 0; background: none; color: var(--muted);
}
[role=tab] + [role=tab] { border-left: 1px solid var(--border) }
[role=tab]:first-child { border-radius: 6px 0 0 6px }
[role=tab]:last-child { border-radius: 0 6px 6px 0 }
[role=tab]:hover { color: var(--text) }
[role=tab][aria-selected=true] { background: var(--accent); color: var(--onAccent) }
.control { padding: 0 10px; gap: 4px }
.label { color: var(--muted) }
.stepper button { border: 0; background: none; padding: 4px; line-height: 1 }
.stepper button:disabled { opacity: .3; cursor: default }
[role=spinbutton] { min-width: 1.4em; text-align: center; border-radius: 4px; font-variant-numeric: tabular-nums }
.control select { border: 0; background: var(--background); padding: 2px 0 }
.icon { margin-left: auto; border: 0; background: none; padding: 4px 8px; font-size: 17px; color: var(--muted); border-radius: 6px }
.icon:hover { color: var(--text) }
.help {
  position: absolute; z-index: 3; top: 52px; right: 16px; padding: 12px 18px;
  background: var(--background); border: 1px solid var(--border); border-radius: 8px;
  box-shadow: 0 6px 24px rgb(0 0 0 / .18);
}
.help dl { display: grid; grid-template-columns: auto auto; gap: 4px 18px; margin: 0 }
.help dt { font-weight: 600 } .help dd { margin: 0; color: var(--muted) }

.notes { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 24px; padding: 6px 20px; border-bottom: 1px solid var(--border); background: var(--panel); color: var(--muted); font-size: 13px }
.doubt { padding-left: 10px; border-left: 3px solid var(--negative) }
.doubt.here { color: var(--text); font-weight: 500 }
.notes summary { cursor: pointer; border-radius: 4px; text-decoration: underline dotted; text-underline-offset: 3px }
.notes summary:hover { color: var(--text) }
.notes ul { max-height: 8em; margin: 4px 0; padding-left: 18px; overflow: auto; overflow-wrap: anywhere }

.body { padding: 16px 20px; min-height: 240px; max-height: 860px; overflow: auto; scrollbar-gutter: stable }
.notice { max-width: 60ch; margin: 40px auto; color: var(--muted); text-align: center }
.notice[role=alert] { color: var(--text); border-left: 3px solid var(--negative); padding-left: 12px; text-align: left }
.overlay { position: absolute; inset: 0; pointer-events: none }

.head-view { display: flex; gap: 32px; justify-content: space-between; align-items: flex-start }
.pairs { flex: 1; min-width: 0 }
.swatches { display: flex; flex-wrap: wrap; gap: 8px 6px; margin-bottom: 16px }
.swatches button {
  flex: 0 1 38px; min-width: 26px; height: 24px; padding: 0 6px; border: 0; border-radius: 6px;
  font-size: 12px; color: var(--muted); font-variant-numeric: tabular-nums;
}
.swatches button.current { box-shadow: 0 4px 0 -1px var(--background), 0 5px 0 0 var(--text) }
.swatches button:focus-visible { outline-offset: 2px }
.columns { display: grid; gap: 6px }
.tokens { min-width: 0; cursor: pointer; user-select: none; border-radius: 4px }
.tokens [role=option] { display: flex; align-items: center; padding: 0 8px; border-radius: 4px; overflow: hidden }
.tokens [role=option] span { overflow: hidden; text-overflow: ellipsis; white-space: pre }
.tokens.query [role=option] { justify-content: flex-end }
.tokens:not(.faded) .special { color: var(--muted) }
.tokens .focused { background: var(--highlight) }
.tokens [aria-selected=true] { background: var(--highlight); box-shadow: inset 0 0 0 1.5px var(--accent); font-weight: 600 }
.tokens [aria-selected=true] span { opacity: 1 !important }
.lines { position: relative; min-width: 0 }
.lines .base { display: block; transition: opacity .1s }
.lines .base.dimmed { opacity: 0 }
.matrix { flex: none; position: sticky; top: 0 }
.title {
  margin: 2px 0 6px; color: var(--muted); font-size: 13px;
  overflow: hidden; white-space: pre; text-overflow: ellipsis;
}
.title strong { color: var(--text); font-weight: 500 }
.stage { position: relative; width: fit-content; cursor: crosshair }
.stage canvas { display: block }

.neuron-view { position: relative }
.neuron-view { overflow-x: auto; overflow-y: clip }
.column-heads { position: sticky; z-index: 1; top: -16px; height: 26px; background: var(--background); font-size: 13px; color: var(--muted) }
.column-heads span { position: absolute; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.neurons { position: relative }
.neurons canvas { position: absolute; inset: 0; cursor: pointer }
.neurons .tokens { position: absolute; top: 0 }
.neurons .tokens [role=option] { justify-content: flex-end; padding: 0 4px }

.model-view { overflow-x: auto }
.grid-stage { position: relative; margin: 0 auto }
[role=grid] { position: absolute; inset: 0; border-radius: 6px }
[role=rowheader] { position: absolute; display: flex; align-items: center; justify-content: center; padding-right: 8px; font-size: 12px; white-space: pre; color: var(--muted) }
.warning { color: var(--negative) }
[role=gridcell] { position: absolute; border-radius: 7px; cursor: pointer }
[role=gridcell]:hover { outline: 1.5px solid var(--muted); outline-offset: 2px }
[role=gridcell][aria-selected=true] { outline: 2.5px solid var(--accent); outline-offset: 2px }
.grid-stage > canvas { position: absolute; inset: 0 }
.preview canvas { display: block }
.preview {
  position: absolute; z-index: 2; padding: 8px 12px 12px; pointer-events: none;
  background: var(--background); border: 1px solid var(--border); border-radius: 8px;
  box-shadow: 0 6px 24px rgb(0 0 0 / .22);
}

footer {
  display: flex; justify-content: space-between; gap: 24px; padding: 8px 20px;
  border-top: 1px solid var(--border); background: var(--panel); color: var(--muted);
  font-size: 13px; font-variant-numeric: tabular-nums;
}
/* One line each, so that nothing below moves when a text gets longer. */
.status, .about { min-width: 0; min-height: 1.4em; overflow: hidden; white-space: pre; text-overflow: ellipsis }
.status { flex: none; max-width: 80% }
.about { flex: 0 1 auto; text-align: right }
footer .strong { color: var(--text); font-weight: 500 }
@container (max-width: 1320px) {
  footer { flex-direction: column; gap: 2px }
  .status { max-width: none }
  .about { text-align: left }
}
@container (max-width: 660px) {
  header { gap: 8px; padding: 8px 12px }
  [role=tab] { padding: 0 11px }
  .control { padding: 0 7px }
  .column-heads { font-size: 12px }
  .notes { padding: 6px 12px }
  footer { padding: 6px 12px }
  .status { white-space: pre-wrap; height: 2.8em }
}
@media (prefers-reduced-motion: reduce) { .lines .base { transition: none } }
`;

let sheet: CSSStyleSheet | undefined;

/** One sheet for every view of the page. */
export function styleSheet(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
