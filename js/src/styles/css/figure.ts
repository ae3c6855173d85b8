/** The view while a figure of it is painted, and the words around it: none of this is seen. */

export const FIGURE = `
.figure .body { overflow: visible }
.figure.cropped .body { overflow: auto }
.figure .pairs { max-width: none; overflow: visible }
.figure :focus-visible { outline: none }
.figure .lines .base { transition: none }
/* What is there to be clicked. */
.figure :is(.some, .zoom, .panel-head button, .preview, .notch) { visibility: hidden }
.heading, .caption { position: absolute; top: 0; left: 0; padding: 0 20px 16px; white-space: pre-wrap }
.heading { padding: 16px 20px 0; font-weight: 500 }
.heading:empty, .caption:empty { display: none }
.caption { color: var(--muted); font-size: 13px }
.caption bdi { display: inline }
`;
