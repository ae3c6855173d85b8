/**
 * The model view: grid, means, the head that is opened, the preview.
 *
 * The canvases lie below everything else of the grid. Browsers keep a layer for each canvas in or
 * near sight, and would need another one for what lies above it.
 */

export const MODEL = `
.grid-stage { position: relative }
[role=grid] { isolation: isolate; border-radius: 6px; font-size: 12px; color: var(--muted); font-variant-numeric: tabular-nums }
[role=grid] [role=row] { position: relative; display: flex; height: var(--rowPitch) }
[role=grid] [role=row].column-names { position: sticky; top: -16px; z-index: 2; height: calc(var(--top) - 6px); margin-bottom: 6px; background: var(--background); box-shadow: 0 0 0 100vmax var(--background); clip-path: inset(0 -100vmax) }
[role=columnheader], .column-means > .mean { flex: none; width: calc(var(--across) + var(--gap)); text-align: center; line-height: calc(var(--top) - 6px) }
.corner { position: sticky; left: -20px; z-index: 1; flex: none; width: var(--left); background: var(--background) }
.directions { display: flex; flex-direction: column; justify-content: center; height: 100%; padding-right: 6px; line-height: 15px; text-align: right; white-space: nowrap }
.order { position: absolute; top: 0; left: calc(var(--left) + var(--gap) / 2); line-height: calc(var(--top) - 6px); white-space: pre }
.mean-name { flex: none; overflow: hidden; line-height: 1.15; white-space: pre; text-overflow: ellipsis }
.wide .column-names .mean-name { white-space: nowrap }
.column-names .mean-name { align-self: center; width: calc(var(--summary) + 16px); margin-right: -16px; padding-left: 10px }
[role=rowheader] {
  position: sticky; left: -20px; z-index: 1; flex: none; display: flex; align-items: center; justify-content: center;
  width: calc(var(--left) - 4px); height: var(--rowPitch); margin: -2px 4px 0 0; padding: 0 0 calc(var(--rowPitch) - var(--down) - 4px) 0;
  white-space: pre; background: var(--background);
}
.warning { color: var(--negative) }
.thumbnails { position: absolute; z-index: -1; top: var(--top); left: var(--left) }
.thumbnails canvas { display: block; content-visibility: auto }
[role=gridcell] { position: relative; flex: none; width: var(--across); height: var(--down); margin: 0 calc(var(--gap) / 2); border-radius: 7px; cursor: pointer }
[role=gridcell]:where(:hover, [aria-selected=true])::after { content: ""; position: absolute; inset: 0 0 calc(-1 * var(--below)); border-radius: 6px; outline-offset: 1.5px; pointer-events: none }
[role=gridcell]:hover::after { outline: 1.5px solid var(--muted) }
[role=gridcell][aria-selected=true]::after { outline: 2.5px solid var(--accent) }
.caption { position: absolute; top: calc(100% + 6px); left: 0; right: 0; font-size: 11px; line-height: 14px; text-align: center }
[aria-selected=true] .caption { color: var(--text); font-weight: 600 }
.mean { display: flex; align-items: center; gap: 6px; line-height: 1.2 }
[role=row] > .mean { position: absolute; right: 0; width: var(--summary); height: var(--down); padding-left: 10px }
.narrow [role=row] > .mean { padding-left: 12px; flex-direction: column-reverse; justify-content: center; align-items: flex-start; gap: 2px }
.bar { position: relative; flex: 1; height: 4px; border-radius: 2px; background: var(--border) }
.bar i { position: absolute; top: 0; bottom: 0; left: var(--from); width: var(--length); border-radius: 2px; background: var(--muted) }
.column-means { display: flex; padding-top: 4px }
.column-means .mean-name { width: calc(var(--left) + 18px); margin-left: -18px; padding-right: 6px; text-align: right }
/* Its name is above the other means, so one line is enough. */
:is(.wide, .narrow) .column-means .mean-name { height: 1.15em }
.column-means > .mean { flex-direction: column-reverse; gap: 3px; line-height: 1.2 }
.narrow [role=row] > .mean .bar { flex: none; width: 32px }
.column-means .bar { flex: none; width: var(--across) }

.opened { position: absolute; z-index: 1 }
.opened .head-view.side-by-side { justify-content: flex-start; gap: 56px }
.opened > [role=region] {
  position: sticky; left: 0; padding: 10px 16px 16px; border: 1px solid var(--accent); border-radius: 8px;
  background: var(--panel);
}
.notch {
  position: absolute; top: -6px; width: 12px; height: 12px; margin-left: -6px; transform: rotate(45deg);
  border: solid var(--accent); border-width: 1px 0 0 1px; background: var(--panel);
}
.panel-header {
  position: sticky; top: calc(var(--top) - 22px); z-index: 1; display: flex; align-items: center; gap: 8px;
  margin: -10px -16px 0; padding: 10px 16px 8px; border-radius: 7px 7px 0 0; background: var(--panel);
}
.opened .matrix { top: calc(var(--top) + 24px) }
.panel-header .title { flex: 1; margin: 0 }
.panel-header button { flex: none; padding: 2px 8px; border: 1px solid var(--border); border-radius: 6px; background: var(--background); color: var(--muted); font-size: 13px }
.panel-header button:hover { color: var(--text) }

.ranking { font-size: 13px; font-variant-numeric: tabular-nums }
.ranking table { width: 100%; max-width: 1200px; border-collapse: collapse }
.ranking :is(th, td) { padding: 3px 8px; font-weight: 400; text-align: right; white-space: nowrap }
.ranking thead :is(th, td) { position: sticky; top: -16px; z-index: 1; padding: 8px; background: var(--background); box-shadow: inset 0 -1px var(--border); color: var(--muted) }
.ranking button:not(.control) { padding: 2px 4px; border: 0; border-radius: 4px; background: none }
.ranking thead button:hover, .ranking [aria-sort] button { color: var(--text) }
.ranking [aria-sort] button { font-weight: 600 }
.ranking [aria-sort] button::after { content: " ↓" }
.ranking tbody tr { cursor: pointer }
.ranking tbody tr:hover { background: var(--panel) }
.ranking tbody tr[aria-current] { background: var(--highlight) }
.ranking tbody td:first-child { color: var(--muted) }
.ranking tbody th button { font-weight: 600 }
.ranking .kind { text-align: left }
.ranking .bar-cell { width: 30% }
.ranking .bar { display: block }
.ranking > .control { margin-top: 10px; background: none }

.metrics { font-size: 12px; font-variant-numeric: tabular-nums; white-space: nowrap }
.metrics div { display: flex; justify-content: space-between; gap: 8px }
.metrics span:first-child { overflow: hidden; color: var(--muted); text-overflow: ellipsis }
.preview {
  position: absolute; z-index: 3; box-sizing: content-box; padding: 8px 12px 10px; pointer-events: none;
  background: var(--background); border: 1px solid var(--border); border-radius: 8px;
  box-shadow: 0 6px 24px rgb(0 0 0 / .22);
}
.preview canvas { display: block; margin: 0 auto 8px }
@media (forced-colors: active) {
  [role=gridcell][aria-selected=true]::after { outline: 3px solid Highlight }
  .bar, .bar i { forced-color-adjust: none }
  .bar { background: Canvas } .bar i { background: CanvasText }
}
`;
