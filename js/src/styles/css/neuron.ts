/** The neuron view: columns, names that stay in sight. */

export const NEURON = `
.neuron-view { position: relative; min-width: 100% }
.both-records [role=group] + [role=group] { margin-top: 24px }
.column-headers { position: sticky; z-index: 3; top: -16px; height: 40px; background: var(--background); font-size: 13px; line-height: 1.35; color: var(--muted) }
.column-headers div { position: absolute; display: grid }
.column-headers span { overflow: hidden; white-space: nowrap; text-overflow: ellipsis }
.column-headers .at-end { padding-right: 12px; justify-items: end }
.column-headers .detail { font-size: 12px }
.column-headers .altered { padding-left: 5px; border-left: 3px solid var(--negative); color: var(--text); font-weight: 500 }
.neurons { display: grid; min-height: var(--down); justify-items: start; align-items: start }
.neurons > * { grid-area: 1 / 1 }
.neurons canvas { cursor: pointer }
.neurons .lines { z-index: 1 }
.softmax-strip { position: sticky; top: 24px }
.neurons .softmax-strip canvas { display: block; cursor: pointer; touch-action: none }
.query-names { pointer-events: none }
.neurons .tokens, .sink { position: sticky; left: -20px; z-index: 2; pointer-events: auto; background: var(--background) }
.neurons .tokens [role=option] { padding: 0 4px }
.sink { display: flex; align-items: center; padding: 0 4px; font-size: 13px; font-style: italic; color: var(--muted) }
.neuron-list { z-index: 1; display: flex; cursor: pointer; touch-action: pan-y; -webkit-user-select: none; user-select: none }
.neuron-list [role=option] { flex: 1; min-width: 0 }
`;
