/** The text view: running text, the answer below it, the lists beside it. */

export const TEXT = `
.text-columns { display: grid; gap: 24px }
.text-columns.beside { grid-template-columns: minmax(0, 1.6fr) minmax(0, 1fr); gap: 36px }
/* One line, so that nothing below moves while the pointer is on a token. */
.text-columns .title { margin: 0 0 8px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; color: var(--muted) }
.text-columns .title strong { color: var(--text); font-weight: 600 }
.text-columns .note { margin: 6px 0 10px; font-size: 12px; color: var(--muted) }
.sinks { display: flex; font-variant-numeric: tabular-nums; flex-wrap: wrap; gap: 6px; align-items: center; margin: 0 0 16px; font-size: 12px; color: var(--muted) }
.sinks .counted { display: contents }
.sinks .chip { padding: 2px 10px; border: 1px solid var(--border); border-radius: 12px }
.sinks b { color: var(--text); font-weight: 400 }
.message { display: grid; grid-template-columns: 72px minmax(0, 1fr); gap: 14px; margin-bottom: 16px }
.message > .said:only-child { grid-column: 2 }
.role { position: sticky; top: 0; align-self: start; margin: 0; font-size: 12px; font-weight: 400; line-height: 28px; text-align: right; color: var(--muted) }
.said { position: relative; isolation: isolate; padding-left: 14px; border-left: 2px solid var(--border) }
.said > canvas { position: absolute; z-index: -1; top: 0; left: 14px }
.prose { font-size: 15px; line-height: 28px; white-space: pre-wrap; overflow-wrap: anywhere; cursor: default; user-select: text; -webkit-user-select: text }
.prose .block + .block { margin-top: 10px }
.text-picture { display: flex; gap: 8px 14px; justify-content: space-between; margin: 4px 0; line-height: 1.4; white-space: normal; user-select: none; -webkit-user-select: none; forced-color-adjust: auto }
.pictures { flex: 1; min-width: 0 }
.pictures > div { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 14px }
.text-picture canvas { border-radius: 3px }
.text-picture > button { align-self: start; height: auto; padding: 2px 10px; font-size: 12px }
.pictures .grids { flex: 1 0 165px; display: grid; grid-template-columns: repeat(auto-fill, minmax(min(150px, 100%), max-content)); gap: 8px 16px; align-content: start; grid-auto-rows: max-content; overflow: hidden auto }
.pictures .grids [role=option] { justify-content: start }
.right .strongest { margin-bottom: 16px }
.strongest.two ol { columns: 2; column-gap: 28px }
.prose .code { padding: 4px 10px; border: 1px solid var(--border); border-radius: 5px; font: 13px/22px ui-monospace, monospace }
.prose sup { padding-inline-end: 2px; font-size: 10px; line-height: 1; vertical-align: 5px; color: var(--muted); user-select: none; -webkit-user-select: none }
/* Bolder without being wider, so that no line breaks elsewhere than where shades were measured. */
.prose sup.marked { color: var(--accent); -webkit-text-stroke: .5px }
/* In sight while the prompt scrolls, over the padding of the body. */
.docked { display: flow-root; position: sticky; z-index: 1; bottom: -16px; background: var(--background); border-top: 1px solid var(--border) }
.docked .said { max-height: 152px; overflow-y: auto }
.beside .right { position: sticky; top: 0; align-self: start }
.prompt { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 10px }
.reader { position: relative; outline-offset: -2px }
.take { position: absolute; z-index: 2; padding: 2px 10px; border: 1px solid var(--accent); border-radius: 5px; background: var(--background); font-size: 12px; color: var(--accent) }
.prompt-strip canvas { position: sticky; top: 8px; display: block; cursor: pointer }
.dock { padding-top: 12px }
.dock .said { border-color: var(--accent) }
.written { font-size: 15px; line-height: 30px; white-space: pre-wrap; outline-offset: -2px }
.written [role=option] { padding: 3px 0; border-radius: 3px; cursor: pointer; background-color: color-mix(in srgb, var(--accent) calc(45% * var(--looks, 0)), transparent) }
.player { display: flex; gap: 12px; align-items: center; margin: 0 0 14px 88px; font-size: 12px; font-variant-numeric: tabular-nums; color: var(--muted) }
.player input { flex: 0 9 260px; min-width: 80px; accent-color: var(--accent) }
.play, .count-sinks, .check button { padding: 2px 10px; border: 1px solid var(--border); border-radius: 5px; background: none; font-size: 12px; color: var(--text) }
.count-sinks[aria-pressed=true] { border-color: var(--accent); color: var(--accent) }
.written .mark { margin-left: 6px; font-size: 12px; color: var(--muted) }
.written [role=option]:hover { outline: 1px solid var(--muted) }
.written [aria-selected=true] { outline: 1.5px solid var(--accent) }
.message-bar { display: flex; gap: 2px; height: 16px }
.message-bar i { min-width: 1px; border-radius: 2px; background: var(--border) }
.message-bar i:nth-last-child(2) { background: var(--highlight) }
.text-columns table { width: 100%; border-collapse: collapse; table-layout: fixed; font-size: 13px; font-variant-numeric: tabular-nums }
.text-columns thead th { padding: 0 0 4px; border-bottom: 1px solid var(--border); font-size: 12px; font-weight: 400; text-align: right; color: var(--muted) }
.text-columns thead th:first-child { text-align: left }
.text-columns td { padding: 3px 0; text-align: right }
.text-columns .range { color: var(--muted) }
.parts th:nth-child(2) { width: 74px }
.parts th:nth-child(3), .parts th:nth-child(4) { width: 52px }
.with-cuts th:nth-child(2) { width: 58px }
.with-cuts th:nth-child(3) { width: 44px }
.with-cuts th:nth-child(4) { width: 56px }
.parts tbody th { display: flex; gap: 6px; align-items: baseline; min-width: 0; padding: 3px 0; font-weight: 400; text-align: left }
.parts .number { flex: none; width: 18px; font-size: 11px; text-align: right; color: var(--muted) }
.parts th button, .carriers th button, .more { overflow: hidden; padding: 0; border: 0; background: none; text-align: left; white-space: nowrap; text-overflow: ellipsis }
.parts th .close { flex: none; padding: 0 3px; color: var(--muted) }
.parts tr.marked { font-weight: 700 }
.parts tr.marked .number { color: var(--accent) }
.parts tr.pointed, .parts tr:has([aria-pressed=true]) { background: var(--highlight) }
.parts .range { font-weight: 400 }
.more { margin: 6px 0 18px 24px; font-size: 12px; color: var(--muted) }
.parts thead button, .parts td button { padding: 0; border: 0; background: none }
.parts td svg, .parts thead svg { width: 12px; height: 12px; vertical-align: -2px; margin-right: 3px; color: var(--muted) }
.parts .less, .without .marked td { color: color-mix(in srgb, var(--negative) 72%, var(--text)); font-weight: 700 }
.parts td [aria-pressed=true] { text-decoration: underline; text-underline-offset: 3px }
.with-cuts th:nth-child(5) { width: 66px }
.without { margin: 0 0 16px 88px }
.without .chip { padding: 2px 10px; border: 1px solid var(--border); border-radius: 12px; background: none }
.without th:first-child { width: 34%; font-weight: 400; text-align: left }
.without thead th { overflow: hidden; text-overflow: ellipsis }
.without .note { line-height: 20px }
.without .kept { color: var(--text) }
.without mark { color: var(--text); background: color-mix(in srgb, var(--negative) 16%, transparent) }
.figure :is(.docked, .right) { position: static; border: 0 }
/* A figure paints one box for all lines of a text. */
.figure .without mark { background: none; text-decoration: underline }
.figure .docked .said { max-height: none }
.figure .text-columns .title, .figure .parts th button { white-space: normal }
.figure :is(.prompt-strip, .play, .count-sinks, .take, .parts .close, .parts .more, .check button, .without .close, .text-picture > button) { display: none }
.check { margin-top: 10px }
.check button { padding: 3px 12px }
.carriers .current th button { color: var(--accent); font-weight: 700 }
.check td:first-child { text-align: left; color: var(--muted) }
.tick-bar { position: relative; display: block; height: 7px; margin-left: 10px }
.tick-bar i { position: absolute; inset: 0 auto 0 0; border-radius: 2px; background: var(--accent) }
.tick-bar i + i { top: -3px; bottom: -3px; width: 1px; border-radius: 0; background: var(--text) }
.carriers { display: flex; flex-wrap: wrap; gap: 20px; align-items: flex-start }
.carriers canvas { flex: none; cursor: pointer }
.carriers table { flex: 1; min-width: 180px }
.carriers tbody th { font-weight: 400; text-align: left }
@container (max-width: 700px) {
  .message { grid-template-columns: minmax(0, 1fr); gap: 0 }
  .message > .said:only-child { grid-column: auto }
  .message .role { position: static; line-height: 20px; text-align: left }
  .player, .without { margin-left: 0 }
}
@media (forced-colors: active) {
  /* No backplates over the lines below tokens. */
  .prose, .written, .text-columns i { forced-color-adjust: none; color: CanvasText }
  .prose sup, .prose sup.marked { color: inherit }
  .prose .marked { text-decoration: underline }
  .written [aria-selected=true] { outline: 2px solid Highlight }
  .parts tr.pointed, .parts tr:has([aria-pressed=true]) { outline: 1px solid Highlight }
  .text-columns i, .message-bar i:nth-last-child(2) { background: CanvasText }
  .tick-bar i + i { background: Highlight }
  .carriers canvas { background: var(--background) }
}
`;
