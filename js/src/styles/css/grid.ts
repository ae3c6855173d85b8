/** The view of grids. */

export const GRID = `
.grid-view > .title { margin-bottom: 10px }
.grid-view > .title strong { font-weight: 600 }
.cells { position: relative; width: fit-content; cursor: pointer; -webkit-user-select: none; user-select: none }
.cells canvas { display: block }
.cells [role=gridcell] { position: absolute; border: 2px solid var(--accent); border-radius: 3px; pointer-events: none }
`;
