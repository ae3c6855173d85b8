/** The parts around the views: find box, menus, dialogs, notes. */

export const PARTS = `
/* Searching opens the box over the controls to its left, so that nothing moves. */
.find { position: relative; justify-content: center; width: 32px; padding: 0; gap: 6px; border-color: transparent; font-size: 17px; color: var(--muted); cursor: pointer }
.find svg { flex: none }
.find:focus-within { outline: 2px solid var(--accent); outline-offset: 1px }
.find input { position: absolute; inset: 0; width: 100%; height: 100%; min-width: 0; padding: 0; border: 0; outline: none; opacity: 0; background: none; font: inherit; color: var(--text); cursor: pointer }
.find:is(:focus-within, :has(input:not(:placeholder-shown))) {
  position: absolute; right: calc(100% + 4px); z-index: 1; width: min(260px, 56cqi); padding: 0 8px;
  border-color: var(--border); background: var(--background); font-size: inherit;
  input { position: static; flex: 1; height: 24px; opacity: 1; cursor: text }
}
.find input::placeholder { color: var(--muted); opacity: 1 }
.count { flex: none; font-size: 12px; white-space: nowrap; font-variant-numeric: tabular-nums }

.menu { position: relative }
[role=menu] {
  position: absolute; z-index: 3; top: calc(100% + 4px); right: 0; min-width: 130px; padding: 4px;
  background: var(--background); border: 1px solid var(--border); border-radius: 8px;
  box-shadow: 0 6px 24px rgb(0 0 0 / .18);
}
[role=menu] > * {
  display: flex; align-items: center; gap: 8px; min-height: 30px; padding: 0 12px;
  border-radius: 5px; white-space: nowrap; cursor: pointer;
}
[role=menu] > :hover, [role=menu] > :focus { background: var(--highlight) }
[role=menuitemradio]:not([aria-checked=true]) svg { visibility: hidden }

dialog {
  width: min(620px, 100vw - 24px); max-height: calc(100vh - 24px); padding: 0; overflow: auto;
  background: var(--background); color: var(--text); border: 1px solid var(--border); border-radius: 10px;
  box-shadow: 0 10px 40px rgb(0 0 0 / .3); white-space: normal;
}
dialog::backdrop { background: rgb(0 0 0 / .35) }
.dialog-inside { padding: 0 20px 18px }
.dialog-title {
  position: sticky; top: 0; display: flex; align-items: center; justify-content: space-between;
  margin: 0 -8px 0 0; padding: 8px 0; background: var(--background);
}
.strong { color: var(--text); font-weight: 500 }
dialog h2 { margin: 8px 0 4px; font-size: 13px; font-weight: 500; color: var(--muted) }
dialog dl { display: grid; grid-template-columns: 9em 1fr; gap: 3px 16px; margin: 0 }
dialog dt { font-weight: 600 } dialog dd { margin: 0; color: var(--muted) }
dialog p { margin: 0 0 8px }
dialog textarea { width: 100%; font: 12px/1.4 ui-monospace, monospace; color: inherit; background: var(--panel); border: 1px solid var(--border); border-radius: 6px; white-space: pre }
.tour { position: fixed; width: min(380px, 100vw - 24px); margin: 0 }
.tour::backdrop { background: none }
.tour-buttons { display: flex; align-items: center; justify-content: flex-end; gap: 8px; font-size: 13px }
.tour-buttons .label { flex: 1 }
.tour-buttons :disabled { opacity: .4; cursor: default }
dialog .control { background: var(--background) }
.tour-outline { position: absolute; z-index: 5; border: 2px solid var(--accent); border-radius: 8px; box-shadow: 0 0 0 9999px rgb(0 0 0 / .15); pointer-events: none }
.unseen { position: absolute; top: 0; left: 0; width: 1px; height: 1px; opacity: 0 }

.alert { display: flex; align-items: center; justify-content: space-between; gap: 16px; padding: 8px 20px; border-bottom: 1px solid var(--border); border-left: 3px solid var(--negative); background: var(--panel) }
.alert-text { min-width: 0; max-height: 8em; overflow: auto; overflow-wrap: anywhere; white-space: pre-wrap }
.alert .control { flex: none; background: var(--background) }

.notes { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 24px; padding: 6px 20px; border-bottom: 1px solid var(--border); background: var(--panel); color: var(--muted); font-size: 13px }
.doubt { padding-left: 10px; border-left: 3px solid var(--negative) }
.doubt.here { color: var(--text); font-weight: 500 }
.notes summary { cursor: pointer; border-radius: 4px; text-decoration: underline dotted; text-underline-offset: 3px }
.notes summary:hover { color: var(--text) }
.notes ul { max-height: 8em; margin: 4px 0; padding-left: 18px; overflow: auto; overflow-wrap: anywhere }
`;
