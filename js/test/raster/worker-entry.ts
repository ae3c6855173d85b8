/** The worker alone, as a module that tests can start. */

import { serve } from "../../src/raster/worker/main.ts";

serve();
