/** The colours of a figure: dark only where the reader chose so, for most pages are white. */

import type { State } from "../state/state.ts";
import { palette } from "../styles/theme.ts";

export const figurePalette = ({ theme }: State) => palette(theme.peek() === "dark");
