/** The map: points, and the detail beside them. */

export const MAP = `
.map-stage { display: flex; flex-direction: column; gap: 20px }
.map-stage.wide { flex-direction: row; align-items: flex-start; gap: 40px }
.map-stage > [role=listbox] { position: relative; flex: none; border-radius: 6px; contain: layout; -webkit-user-select: none; user-select: none }
/* Longer detail scrolls beside it. */
.map-stage.wide > [role=listbox] { position: sticky; top: 0 }
/* Of the canvas alone: browsers would keep it for each of thousands of options. */
.map-stage > [role=listbox] > canvas { touch-action: pan-y }
.map-stage canvas { display: block }
.options-of-map { position: absolute; inset: 0; display: flex; flex-direction: column; align-items: flex-start; pointer-events: none }
.options-of-map > * { flex: none }
.map-detail { flex: 1; min-width: 0; font-variant-numeric: tabular-nums }
.map-detail section { position: relative; margin-top: 14px; padding-top: 10px }
/* Not a border, of which figures would draw all sides. */
.map-detail section::after { content: ""; position: absolute; top: 0; left: 0; width: 100%; height: 1px; background: var(--border) }
.map-detail .title { overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
/* Named heads have long words. Two lines for all, so that nothing moves from head to head. */
.map-detail > .named { display: -webkit-box; height: 2.8em; white-space: normal; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
.measures { display: flex; gap: 16px; align-items: flex-start }
.measures:is(.intervals, .with-null) { flex-wrap: wrap; gap: 10px 16px }
.measures canvas { flex: none; margin-top: 4px }
.measures table { flex: 1; min-width: 0; border-collapse: collapse; font-size: 12px }
.measures.with-null table { flex-basis: 280px }
.measures.intervals table { flex-basis: 320px }
.measures :is(th, td) { padding: 1.5px 0 1.5px 12px; font-weight: 400; text-align: right; white-space: nowrap }
.measures thead :is(th, td) { max-width: 112px; padding-bottom: 4px; white-space: normal; line-height: 1.25; vertical-align: bottom; border-bottom: 1px solid var(--border); color: var(--muted) }
.measures thead th:nth-child(n + 3) { min-width: 112px }
.measures tbody th { width: 99%; padding-left: 0; color: var(--muted); text-align: left; white-space: normal; overflow-wrap: anywhere; line-height: 1.25 }
.measures tbody td { font-weight: 600 }
.measures tbody td.range { color: var(--muted); font-weight: 400 }
.measures caption { caption-side: bottom; padding-top: 4px; color: var(--muted); text-align: left }
.similar ul { display: flex; justify-content: space-between; gap: 14px; margin: 6px 0 0; padding: 0; list-style: none }
.similar button { display: block; padding: 0; border: 0; background: none; font-size: 12px }
.similar canvas { max-width: 100% }
.similar i { display: block; height: 2.5px; margin: 5px 0 3px; border-radius: 2px }
.similar-name { display: flex; justify-content: space-between; color: var(--muted) }
.similar strong { color: var(--text); font-weight: 500 }
.of-head { display: flex; gap: 16px; margin-bottom: 10px }
.of-head canvas { flex: none }
.of-head > div { flex: 1; min-width: 0 }
.rules { margin-top: 4px; color: var(--muted); font-size: 12px }
.examples .title { display: flex; align-items: center; gap: 6px }
.examples .control { height: 26px; margin-left: auto }
.examples ul { margin: 4px 0 0; padding: 0; list-style: none }
.examples li button { display: flex; gap: 10px; align-items: baseline; width: 100%; padding: 4px 6px; border: 0; background: none; font-size: 12px; text-align: left }
.examples li button:enabled:hover { background: var(--panel) }
.examples li button:disabled { color: var(--muted) }
.examples li button[aria-busy=true] { opacity: .5 }
.examples .which { flex: none; width: 74px; color: var(--muted) }
.examples .value { flex: none; width: 46px; font-weight: 600; text-align: right }
.examples .text { flex: 1; min-width: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.map-links .title { white-space: normal }
.map-links figure { margin: 4px 0 0 }
.map-links .faded { opacity: .35 }
.map-links figcaption { display: -webkit-box; margin-top: 4px; overflow: hidden; overflow-wrap: anywhere; -webkit-box-orient: vertical; -webkit-line-clamp: 2; color: var(--muted); font-size: 12px }
`;
