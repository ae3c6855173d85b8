/** Styles while a figure is painted, which the reader never sees. */

export const FIGURE = `
.figure .main > .body { flex: none; overflow: visible }
.figure.cropped .body { overflow: auto }
.figure .pairs { max-width: none; overflow: visible }
.figure :focus-visible { outline: none }
.figure:not(.cropped) .neurons > canvas { height: var(--down) !important; margin: 0 !important }
/* Controls. */
.figure :is(.some, .zoom, .panel-header button, .preview, .notch) { visibility: hidden }
.figure-heading, .figure-caption { position: absolute; top: 0; left: 0; padding: 0 20px 16px; white-space: pre-wrap }
.figure-heading { padding: 16px 20px 0; font-weight: 500 }
.figure-heading:empty, .figure-caption:empty { display: none }
.figure-caption { color: var(--muted); font-size: 13px }
.figure-caption bdi { display: inline }
.printing { position: absolute; visibility: hidden; height: 0; border: 0 }
/* In a frame, all of it is in sight. */
.paper canvas { display: block; max-width: 100%; height: auto; max-height: 100vh; object-fit: contain; object-position: left top }
`;
