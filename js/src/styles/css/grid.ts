/** The view of grids. */

export const GRID = `
.grid-view > .title { display: -webkit-box; margin-bottom: 10px; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2 }
.figure .grid-view > .title { display: block }
.grid-view > .title strong { font-weight: 600 }
.cells { position: relative; width: fit-content; cursor: pointer; -webkit-user-select: none; user-select: none }
.cells canvas { display: block }
/* The inner line sets it off from cells of its own colour. */
.cells [role=gridcell] { border: 2px solid var(--accent); box-shadow: inset 0 0 0 1px var(--background) }
`;
