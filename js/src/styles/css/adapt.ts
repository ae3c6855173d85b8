/** Adaptations to narrow views, touch screens, and the settings of the reader's system. */

export const ADAPT = `
@container (max-width: 1100px) { .swatches { gap: 6px 4px } .swatches button { width: 28px } }
[data-view=neuron] footer.open .status { height: 4.2em }
@container (max-width: 1000px) {
  footer.open .status { height: 4.2em }
  [data-view=neuron] footer.open .status { height: 5.6em }
}
@container (max-width: 760px) {
  /* One line has no room for both. */
  footer:not(.open) .about { display: none }
  .pair-chip { max-width: 40cqi }
  /* The icons are beside the tabs, and what changes the view below them. */
  [role=tablist], .common { order: -1 }
  .common { flex-basis: calc(100% - 345px) }
  header:not(:has([role=tab]:nth-child(4))) .common { flex-basis: calc(100% - 250px) }
  header:not(:has([role=tab]:nth-child(3))) .common { flex-basis: calc(100% - 160px) }
}
@container (max-width: 660px) {
  footer.open .status { height: 5.6em }
  :is([data-view=neuron], [data-view=model]) footer.open .status { height: 7em }
  header { padding: 8px 12px }
  .below .options { left: 12px; right: 12px }
  [role=tab] { padding: 0 8px }
  .control { padding: 0 7px }
  .column-headers { font-size: 12px }
  .notes, .alert { padding: 6px 12px }
  footer { padding: 4px 12px }
}
@media (pointer: coarse) {
  [role=tablist], .control, .room { height: 40px }
  .icon { width: 40px; height: 40px }
  .stepper button { min-width: 32px; height: 38px }
  [role=menu] > * { min-height: 40px }
  .pair-chip, .pair-chip button { height: 40px; border-radius: 20px }
  .swatches button { min-width: 32px; height: 32px }
  .strip::after { content: ""; position: absolute; inset: -12px }
}
/* Outlines in place of colours and shadows. Pictures keep their colours and backgrounds. */
@media (forced-colors: active) {
  .lines, .minimap, .stage, .neurons, .grid-stage, .map-stage, .cells, .preview, .swatches button, footer [style] { forced-color-adjust: none }
  .lines, .minimap, .stage, .neurons, .grid-stage, .map-stage, .cells { background: var(--background); color: var(--text) }
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
