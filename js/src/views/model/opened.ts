/** The head that is opened in the model view, for its figure. */

import type { HeadPicture } from "../../figures/head.ts";
import { figurePalette } from "../../figures/palette.ts";
import { shownMatrix } from "../head/matrices.ts";
import { axesOf, lookOf } from "../shared/axes.ts";
import { headIn } from "../shared/layer-view.ts";
import type { Context } from "../shared/view.ts";

/** Throws while its layer is not here. */
export function openedPicture({ state, store }: Context): HeadPicture {
  const { stack, layer } = state.shown;
  const loaded = store.layer(stack.peek().name, layer.peek().number).peek();
  if (loaded.status !== "ready") {
    throw new Error("the head that is opened is not here; close it, or wait for its layer");
  }
  const { data } = loaded;
  const axes = axesOf(state, data.stack);
  const matrix = shownMatrix(state, data, axes, headIn(state, data));
  return {
    ...{ data, axes, pictured: matrix, matrices: [matrix] },
    look: lookOf(state, axes).peek(),
    where: `Layer ${data.info.number}`,
    lying: false,
    palette: figurePalette(state),
    begin: { ...state.begin },
    zoom: state.zoom.peek(),
    model: "",
  };
}
