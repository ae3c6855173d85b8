/** The head view of a vision model: two pictures, chips, the strongest keys, a map per head. */

export const PICTURE = `
.picture-view { display: flex; flex-direction: column; gap: 18px; min-width: 0 }
.picture-view .title { min-height: 1.4em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
.picture-view > .swatch-row { margin: 0 }
.picture-top { display: flex; flex-direction: column; gap: 18px }
.picture-top.wide { flex-direction: row; justify-content: space-between; gap: 32px }
.picture-pair { position: relative; flex: 1 1 auto; display: flex; justify-content: space-between; min-width: 0 }
.picture-side { flex: none }
.picture-stage { position: relative; width: fit-content; cursor: crosshair; touch-action: pan-y; border-radius: 2px }
.picture-stage canvas { display: block }
:is(.picture-stage, .cells) [role=row] { position: static; height: 0 }
:is(.picture-stage, .cells) [role=gridcell] { position: absolute; margin: 0; border-radius: 0; pointer-events: none }
:is(.picture-stage, .cells) [role=gridcell]::after { content: none }
.chips { display: flex; flex-wrap: wrap; gap: 6px; max-height: 62px; overflow: auto; margin: -2px -2px 8px; padding: 2px; border-radius: 14px; width: fit-content }
.chips [role=option] {
  display: flex; align-items: center; gap: 6px; height: 26px; padding: 0 10px; border: 1px solid var(--border);
  border-radius: 13px; font-size: 12px; cursor: pointer; white-space: nowrap; -webkit-user-select: none; user-select: none;
}
.chips.many { gap: 3px; max-height: 104px; border-radius: 6px }
.chips.many [role=option] { height: 22px; padding: 0 6px; border-radius: 5px }
.chips .focused { background: var(--highlight) }
.chips [aria-selected=true] { background: var(--highlight); border-color: var(--accent); font-weight: 600 }
.picture-view .number { font-variant-numeric: tabular-nums }
.chips .number { color: var(--muted); min-width: 3em; text-align: right }
.chips .number:empty { display: none }
.weight-bar { display: flex; height: 6px; border-radius: 2px; overflow: hidden }
.chips .weight-bar { width: 44px; background: var(--border) }
.grids { display: flex; gap: 16px; overflow-x: auto; padding: 4px; margin: -4px; border-radius: 6px }
.grids [role=option] { flex: none; display: grid; grid-template-columns: auto auto; column-gap: 8px; min-height: 44px; align-content: center; font-size: 12px; color: var(--muted); cursor: pointer }
.grids canvas { grid-row: span 2; border-radius: 3px }
.grids span { align-self: end }
.grids b { font-weight: 600; color: var(--text); font-variant-numeric: tabular-nums; min-width: 2.6em }
.grids [aria-selected=true] canvas { outline: 2px solid var(--accent); outline-offset: 2px }
.grids [aria-selected=true] span { color: var(--text) }
.grids :hover:not([aria-selected=true]) > canvas { outline: 1.5px solid var(--muted); outline-offset: 2px }
.picture-numbers { margin-top: 14px }
.picture-numbers > .title { white-space: normal }
.picture-numbers dl { margin: 0; font-size: 12px; line-height: 21px }
.picture-numbers dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 12px }
.picture-numbers dt { color: var(--muted); white-space: nowrap }
.picture-numbers dd { margin: 0; white-space: nowrap; font-variant-numeric: tabular-nums }
.strongest { flex: none; font-size: 12px }
.strongest h3 { margin: 2px 0 6px; font-size: 13px; line-height: 1.4; font-weight: 500 }
.strongest .columns { display: flex; justify-content: space-between; padding-bottom: 4px; border-bottom: 1px solid var(--border); color: var(--muted) }
.strongest ol { margin: 0; padding: 0; list-style: none }
.strongest li { display: grid; grid-template-columns: 24px minmax(70px, 1fr) minmax(20px, 84px) 3.9em; align-items: center; gap: 8px; height: 30px; cursor: pointer; border-radius: 4px; break-inside: avoid }
.strongest.long li { grid-template-columns: 24px 1fr 44px 3.9em }
.strongest li:hover { background: var(--panel) }
.strongest canvas { width: 24px; height: 24px }
.strongest .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.strongest .number { text-align: right }
.picture-top:not(.wide) .strongest ol { columns: 230px 2; column-gap: 28px }
/* Two lines for the title of the smaller picture, and as many for the other. */
.long-titles .picture-side > .title { height: 2.8em; white-space: normal }
.picture-view > section > .title { white-space: normal }
.maps { display: flex; flex-wrap: wrap; gap: 12px 10px }
.map { display: block; padding: 0; border: 0; background: none; text-align: left; border-radius: 6px }
.map canvas { display: block; border-radius: 5px }
.map .line { display: block; height: 3px; margin: 12px 2px 4px; border-radius: 1.5px }
.map .caption { position: static; display: flex; justify-content: space-between; padding: 0 2px; color: var(--muted) }
.map[aria-pressed=true] canvas { outline: 2px solid var(--accent); outline-offset: 2px }
.map[aria-pressed=true] .caption span:first-child { color: var(--text); font-weight: 600 }
.map:hover:not([aria-pressed=true]) canvas { outline: 1.5px solid var(--muted); outline-offset: 2px }
`;
