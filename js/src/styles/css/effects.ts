/** The panel of what is off, beside the view or below it, and the marks of heads that are. */

export const EFFECTS = `
.main { display: flex; align-items: stretch; min-width: 0 }
.main > .body { flex: 1; min-width: 0 }
.effects {
  position: relative; flex: none; width: clamp(300px, 33cqi, 340px); max-height: var(--highest, 860px); padding: 16px 20px; overflow: auto;
  border-left: 1px solid var(--border); font-size: 13px; font-variant-numeric: tabular-nums;
}
.off-row { display: flex; align-items: baseline; gap: 8px }
.off-chips { flex: 1; display: flex; flex-wrap: wrap; gap: 6px; max-height: 128px; overflow: auto; padding: 2px }
.off-chip {
  display: flex; align-items: center; gap: 6px; height: 26px; padding: 0 9px; border: 1px solid var(--border); border-radius: 13px;
  background: none; font-size: 12px;
}
.off-chip span { flex: none; color: var(--muted); font-size: 10px }
.off-chip.cut { max-width: 100% }
.off-chip bdi { overflow: hidden; text-overflow: ellipsis; white-space: pre }
.off-chip:hover { border-color: var(--muted) }
.off-chip:hover span { color: var(--text) }
.off-row .some { margin-right: -8px }
.effects .unseen { height: 1px; overflow: hidden; white-space: nowrap; pointer-events: none }
.effects .remark { margin: 6px 0 4px; color: var(--muted); font-size: 12px }
.shown-attention { margin: 4px 0 14px; padding: 0 10px; background: none }
.shown-attention[aria-pressed=true] { background: var(--highlight); color: var(--text) }
.effects h3 { margin: 0 0 6px; font-size: 13px; font-weight: 500; overflow-wrap: anywhere }
.effects .notice { margin: 0; text-align: left }
.effect[aria-busy] > * { opacity: .5 }
/* Bars end before the numbers. */
.predictions { display: flex }
.predictions .list { flex: 1; min-width: 0 }
.predictions .head { display: flex; justify-content: space-between; height: 22px; color: var(--muted); font-size: 12px }
.predictions svg { flex: none; width: 44px; height: auto; margin-top: 22px }
.predictions path { fill: none; stroke-width: 1.2 }
.predictions path.first { stroke-width: 2 }
.predictions path.less { stroke: var(--negative) }
.predictions path.more { stroke: var(--positive) }
.predictions path.gone { stroke-dasharray: 3 3; opacity: .6 }
.prediction { display: flex; align-items: center; gap: 6px; height: 22px; padding-right: 2px; background: linear-gradient(var(--highlight), var(--highlight)) left center / calc(var(--p) * (100% - 42px)) 18px no-repeat; border-radius: 3px }
.prediction bdi { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: pre }
.prediction.first { font-weight: 600 }
.effects :is(.rank, .p) { flex: none; color: var(--muted); font-size: 12px; font-weight: 400 }
.prediction .rank { width: 1.6em; text-align: right }
.prediction.first .p { color: var(--text) }
.effects dl { margin: 12px 0 0; padding-top: 8px; border-top: 1px solid var(--border); font-size: 12px; line-height: 20px }
.effects dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 12px }
.effects dt { color: var(--muted) }
.effects dd { margin: 0 0 0 auto; white-space: nowrap }
.states { width: 100%; border-collapse: collapse }
.states :is(th, td) { padding: 0 6px 0 0; font-weight: 400; line-height: 22px; text-align: left }
.states thead th { color: var(--muted); font-size: 12px }
.states :is(thead th:last-child, .p) { padding-right: 2px; text-align: right }
.states .rank { width: 2.4em; text-align: right }
.states tbody tr { background: linear-gradient(var(--highlight), var(--highlight)) left center / calc(var(--p) * (100% - 52px)) 18px no-repeat }
.states bdi { overflow-wrap: anywhere; white-space: pre-wrap }
.off-button[aria-pressed=true] { color: var(--negative) }
.off-buttons { display: flex; margin-left: -4px }
.off-button[aria-disabled=true] { opacity: .45 }
.swatches button.off { outline: 1.5px dashed var(--text); outline-offset: 1px; text-decoration: line-through }
[role=gridcell].off::before { content: ""; position: absolute; inset: -2px; border: 1.5px dashed var(--text); border-radius: 7px; pointer-events: none }
@container (max-width: 900px) {
  .main { flex-direction: column }
  .effects { width: auto; max-height: var(--below, 440px); border-left: 0; border-top: 1px solid var(--border) }
}
@media (forced-colors: active) {
  .effects :is(path, .prediction, tr, .remark span) { forced-color-adjust: none }
  .effects :is(.prediction, tr) { background: none; color: CanvasText }
}
`;
