/** Adaptations to narrow views, touch screens, and the settings of the reader's system. */

export const ADAPT = `
@container (max-width: 1100px) { .swatches { gap: 6px 4px } .swatches button { width: 28px } }
@container (max-width: 1000px) {
  /* Space for a second line of numbers, or of the legend. */
  footer { height: calc(4.2em + 19px) }
  .status { height: auto; min-height: 1.4em; max-height: 2.8em; flex: none; white-space: pre-wrap }
  .about { flex: 1; white-space: pre-wrap }
  :is([data-view=model], [data-view=map]) footer { height: auto; min-height: calc(4.2em + 19px) }
  [data-view=model] .status { height: 4.2em; max-height: none }
  [data-view=map] .status { height: 2.8em }
  /* Below, there is no room beside the numbers. */
  .pair-chip { position: static; align-self: flex-start; margin: 6px 12px 8px; max-width: calc(100% - 24px) }
  .pair-chip:not([hidden]) + footer .about { margin-right: 0 }
}
@container (max-width: 760px) {
  footer, [data-view=neuron] footer { height: calc(5.6em + 19px) }
  :is([data-view=model], [data-view=map]) footer { min-height: calc(5.6em + 19px) }
  [data-view=neuron] .status { height: 2.8em }
}
/* Searching opens the box over the controls to its left, so that nothing moves. */
@container (max-width: 1320px) {
  .find { position: relative; justify-content: center; width: 32px; padding: 0; border-color: transparent; font-size: 17px; cursor: pointer }
  .find input { position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; cursor: pointer }
  .find:is(:focus-within, :has(input:not(:placeholder-shown))) {
    position: absolute; right: calc(100% + 4px); z-index: 1; width: min(260px, 56cqi); padding: 0 8px;
    border-color: var(--border); background: var(--background); font-size: inherit;
    input { position: static; height: 24px; opacity: 1; cursor: text }
  }
}
@container (max-width: 900px) {
  .narrow-only { display: grid }
  .options {
    display: none; position: absolute; z-index: 3; top: calc(100% - 4px); left: 12px; right: 12px; flex-wrap: wrap; gap: 8px; width: fit-content;
    padding: 12px; outline: none; background: var(--background); border: 1px solid var(--border); border-radius: 8px; box-shadow: 0 6px 24px rgb(0 0 0 / .18);
  }
  .options.open { display: flex }
}
@container (max-width: 660px) {
  [data-view=neuron] footer { height: calc(7em + 15px) }
  [data-view=neuron] .status { height: 4.2em; max-height: none }
  [data-view=model] .status { height: 5.6em }
  [data-view=map] .status { height: 4.2em; max-height: none }
  header { gap: 8px; padding: 8px 12px }
  [role=tab] { padding: 0 11px }
  .control { padding: 0 7px }
  .column-headers { font-size: 12px }
  .notes, .alert { padding: 6px 12px }
  footer { padding: 6px 12px }
}
@media (pointer: coarse) {
  [role=tablist], .control { height: 40px }
  .icon { width: 40px; height: 40px }
  .stepper button { min-width: 32px; height: 38px }
  [role=menu] > * { min-height: 40px }
  .pair-chip, .pair-chip button { height: 40px; border-radius: 20px }
  .swatches button { min-width: 32px; height: 32px }
  .strip::after { content: ""; position: absolute; inset: -12px }
}
/* Outlines in place of colours and shadows. Pictures keep their colours and backgrounds. */
@media (forced-colors: active) {
  .lines, .minimap, .stage, .neurons, .grid-stage, .map-stage, .preview, .swatches button, footer [style] { forced-color-adjust: none }
  .lines, .minimap, .stage, .neurons, .grid-stage, .map-stage { background: var(--background); color: var(--text) }
  [role=tab][aria-selected=true], .toggle[aria-pressed=true], [role=menu] > :focus {
    forced-color-adjust: none; background: Highlight; color: HighlightText;
  }
  .tokens [role=option].focused { outline: 1px solid; outline-offset: -1px }
  .tokens [role=option][aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px }
  .swatches button { border: 1px solid CanvasText }
  .swatches button.current { outline: 2px solid Highlight; outline-offset: 2px }
  :focus-visible, .find:focus-within { outline-color: Highlight }
  [aria-disabled=true] { opacity: 1; color: GrayText }
  .veil { display: none }
}
`;
