/** The view of grids. */

export const GRID = `
.grid-view > .title { display: -webkit-box; margin-bottom: 10px; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
.figure .grid-view > .title { display: block }
.grid-view > .title strong { font-weight: 600 }
.cells { position: relative; display: grid; grid-template-columns: auto auto; width: fit-content; cursor: pointer; -webkit-user-select: none; user-select: none }
/* Labels stay in sight, and the corner covers what is scrolled below both. */
.cells > :is(i, .of-rows, .of-columns) { position: sticky; z-index: 1; background: var(--background) }
.cells > :is(i, .of-columns) { top: -16px }
.cells > :is(i, .of-rows) { left: -20px }
.cells > i:first-child { z-index: 2 }
/* The inner line sets it off from cells of its own colour. */
.cells [role=gridcell] { border: 2px solid var(--accent); box-shadow: inset 0 0 0 1px var(--background) }
`;
