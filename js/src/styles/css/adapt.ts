/** Adaptations to narrow views, touch screens, and the settings of the reader's system. */

export const ADAPT = `
@container (max-width: 1320px) {
  footer { flex-direction: column; gap: 2px }
  .status { max-width: none }
  .about { text-align: left }
}
@container (max-width: 1100px) { .swatches { gap: 6px 4px } .swatches button { width: 28px } }
@container (max-width: 1000px) {
  /* Space for a second line of numbers. */
  footer { min-height: calc(4.2em + 19px); justify-content: flex-start }
  .status { height: auto; min-height: 1.4em; max-height: 2.8em; white-space: pre-wrap }
}
@container (max-width: 760px) {
  footer { min-height: calc(5.6em + 19px) }
  .about { height: 2.8em; white-space: pre-wrap }
  [data-view=neuron] .status { height: 2.8em }
}
@container (max-width: 990px) { .find { flex: 1 1 200px; max-width: 260px } }
@container (max-width: 660px) {
  :is([data-view=model], [data-view=neuron]) .status { height: 4.2em; max-height: none }
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
  .swatches button { min-width: 32px; height: 32px }
  .strip::after { content: ""; position: absolute; inset: -12px }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important } }
/* Outlines in place of colours and shadows. Pictures keep their colours and backgrounds. */
@media (forced-colors: active) {
  .lines, .minimap, .stage, .neurons, .grid-stage, .preview, .swatches button, footer [style] { forced-color-adjust: none }
  .lines, .minimap, .stage, .neurons, .grid-stage { background: var(--background); color: var(--text) }
  [role=tab][aria-selected=true], .toggle[aria-pressed=true], [role=menu] > :focus {
    forced-color-adjust: none; background: Highlight; color: HighlightText;
  }
  .tokens [role=option].focused { outline: 1px solid; outline-offset: -1px }
  .tokens [role=option][aria-selected=true] { outline: 2px solid Highlight; outline-offset: -2px }
  .swatches button { border: 1px solid CanvasText }
  .swatches button.current { outline: 2px solid Highlight; outline-offset: 2px }
  :focus-visible, .find:focus-within { outline-color: Highlight }
  [aria-disabled=true] { opacity: 1; color: GrayText }
  .tokens span { color: inherit !important }
}
`;
