/** The view as a whole: header, body, footer. */

export const FRAME = `
:host { all: initial; display: block }
/* A width for hosts that ask the content for one, as a box of widgets does. It can shrink to nothing. */
:host::before { content: ""; display: grid; grid-template-columns: minmax(0, 1200px) }
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
  /* Menus open over sticky elements below. */
  position: relative; z-index: 4;
  display: flex; flex-wrap: wrap; align-items: center; gap: 8px;
  padding: 8px 20px; border-bottom: 1px solid var(--border);
}
[role=tablist], .control {
  display: inline-flex; align-items: center; height: 34px;
  border: 1px solid var(--border); border-radius: 7px;
}
[role=tablist] { overflow: clip; overflow-clip-margin: 4px }
[role=tab] {
  height: 100%; padding: 0 14px; border: 0; background: none; color: var(--muted);
}
[role=tab] + [role=tab] { border-left: 1px solid var(--border) }
.radios { display: flex; height: 100%; margin-left: 4px; border-left: 1px solid var(--border) }
.radios > * { padding: 0 12px; border: 0; background: none; color: var(--muted); white-space: nowrap }
.radios > * + * { border-left: 1px solid var(--border) }
.radios > :last-child { border-radius: 0 6px 6px 0 }
.radios > [aria-checked=true] { background: var(--accent); color: var(--onAccent) }
.record-names {
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 24px; padding: 5px 20px; font-size: 13px;
  border-bottom: 1px solid var(--border); background: var(--panel);
}
.record-name { min-width: 0; padding: 2px 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.record-name b { padding: 1px 6px; margin-right: 8px; border: 1px solid var(--border); border-radius: 4px; background: var(--background) }
.record-name mark { padding: 1px 3px; margin: 0 -3px; border-radius: 3px; background: var(--highlight); color: inherit; font-weight: 600 }
.remark { margin-left: auto; color: var(--muted) }
[role=tab]:first-child { border-radius: 6px 0 0 6px }
[role=tab]:last-child { border-radius: 0 6px 6px 0 }
[role=tab]:hover { color: var(--text) }
[role=tab][aria-selected=true] { background: var(--accent); color: var(--onAccent) }
.control { padding: 0 8px; gap: 4px }
.records { padding-right: 0 }
.stepper { gap: 0; padding-right: 2px }
.tools { display: contents }
.room { position: relative; flex: 1 1 0; min-width: 0; height: 34px; margin-left: -8px }
/* Not absolute while it is closed: Chromium would keep the controls of views that are left. */
.options { display: flex; flex-wrap: wrap; gap: 8px; height: 100%; margin-left: 8px; overflow: clip; overflow-clip-margin: 4px; outline: none }
.options .control { flex: none }
/* Closed, it may lie over the view. */
.options:not(.open) { pointer-events: none }
.options > * { pointer-events: auto }
.options:not(.open) .over { visibility: hidden }
.options.open {
  position: absolute; inset: 0 0 auto; z-index: 3; width: fit-content; height: auto; margin: -9px -9px -9px -1px; padding: 8px; overflow: visible;
  background: var(--background); border: 1px solid var(--border); border-radius: 8px; box-shadow: 0 6px 24px rgb(0 0 0 / .18);
}
.room.below { position: static }
.below .options { position: absolute; top: calc(100% + 5px); left: 20px; right: 20px }
.toggle { background: none; color: var(--muted) }
.toggle:hover { color: var(--text) }
.toggle[aria-pressed=true] { border-color: var(--accent); background: var(--highlight); color: var(--text) }
.label { color: var(--muted) }
.stepper button { min-width: 24px; min-height: 24px; border: 0; background: none; padding: 4px; line-height: 1 }
.idle { border-style: dashed }
.idle * { color: var(--muted) }
[role=spinbutton] { min-width: 1.4em; text-align: center; border-radius: 4px; font-variant-numeric: tabular-nums }
.control select { max-width: 24em; border: 0; text-overflow: ellipsis; background: var(--background); padding: 2px 0; min-height: 24px; field-sizing: content }
/* A long name would push other choices out of the row. */
.tools select { max-width: 11em }
/* What places and colours the points comes first. */
[data-view=map] .tools select { max-width: 8em }
[data-view=map] .options > .toggle { order: 1 }
@supports not (field-sizing: content) { .weighting select { max-width: 150px } }
.common { position: relative; flex: none; display: flex; margin-left: auto; align-items: center; justify-content: flex-end; gap: 4px }
.icon {
  flex: none; display: grid; place-items: center; width: 32px; height: 34px; padding: 0; border: 0; background: none;
  font-size: 17px; color: var(--muted); border-radius: 6px;
}
.icon:hover, .icon[aria-expanded=true] { color: var(--text) }
[aria-disabled=true] { opacity: .4; cursor: default }
svg { display: block; width: 1em; height: 1em }
.stroked { fill: none; stroke: currentColor; stroke-width: 1.4; stroke-linecap: round; stroke-linejoin: round }
.filled { fill: currentColor }

.body { padding: 16px 20px; min-height: 240px; max-height: var(--highest, 860px); overflow: auto; scrollbar-gutter: stable }
.layer-view { display: flow-root }
.notice { max-width: 60ch; margin: 40px auto; color: var(--muted); text-align: center }
.notice .control { margin-top: 10px; background: none }
.notice[role=alert] { color: var(--text); border-left: 3px solid var(--negative); padding-left: 12px; text-align: left }
/* Absent, not broken. */
.notice.absent { border-left-color: var(--border) }
.notice p { margin: 0 }
.overlay { position: absolute; inset: 0; pointer-events: none }

footer {
  display: flex; align-items: center; gap: 4px 16px; min-height: 36px; padding: 4px 20px;
  border-top: 1px solid var(--border); background: var(--panel); color: var(--muted);
  font-size: 13px; font-variant-numeric: tabular-nums;
}
/* Heights that do not depend on what is said, so that nothing moves when a text gets longer. */
.status, .about { height: 1.4em; overflow: hidden; white-space: pre; text-overflow: ellipsis }
.status { flex: 1 1 0; min-width: 0 }
/* Cut off between the entries of a legend. */
.about { flex: 0 1 auto; max-width: 45%; display: -webkit-box; white-space: pre-wrap; -webkit-box-orient: vertical; -webkit-line-clamp: 1 }
/* What is said of the part is longer, and the whole legend is a click away. */
[data-view=text] .about { max-width: 34% }
/* The chip takes the place of the legend. */
footer:not(.open):has(.pair-chip:not([hidden])) .about { display: none }
/* What the colours of heads mean: on lines of its own. */
.root:is([data-view=map], [data-view=model]) footer:not(.open) {
  flex-wrap: wrap;
  .about { order: 1; flex: 0 0 100%; max-width: none; height: auto; display: -webkit-box; -webkit-line-clamp: 3 }
  .about:empty { display: none }
}
.details { flex: none; padding: 0; border: 0; border-radius: 4px; background: none; color: var(--muted); text-decoration: underline dotted; text-underline-offset: 3px }
.details:hover { color: var(--text) }
footer.open {
  display: grid; grid-template-columns: 1fr auto auto; align-items: start;
  .status { height: 2.8em; white-space: pre-wrap }
  .about { grid-area: 2 / 1 / 2 / 3; max-width: none; height: auto; min-height: 1.4em; display: block }
  /* Where it was, so that the next click closes it. */
  .details { grid-area: 2 / 3; align-self: end }
}
.pair-chip {
  flex: none; display: flex; max-width: 320px; height: 26px; border: 1px solid var(--accent);
  border-radius: 13px; background: var(--background); font-size: 13px;
}
.pair-chip button { display: flex; align-items: center; height: 24px; padding: 0 4px 0 12px; border: 0; background: none; color: var(--text); white-space: pre }
.pair-chip button:first-child { min-width: 0 }
.pair-chip button:hover { text-decoration: underline }
.pair-chip .icon { width: 28px; padding: 0; font-size: 12px; color: var(--muted) }
.pair-chip strong { overflow: hidden; text-overflow: ellipsis; font-weight: 600 }
/* Text that follows the pointer. */
.live { position: relative; display: inline-block }
.live canvas { position: absolute; top: 0; left: 0; visibility: hidden }
.hovered .live { visibility: hidden }
.hovered .live canvas { visibility: visible }
/* A long label shrinks at its first part. */
bdi:has(.start) { display: inline-flex; max-width: clamp(6.5em, 9.5cqi, 20em); vertical-align: bottom }
.start { overflow: hidden; text-overflow: ellipsis }
.end { flex: none }
`;
