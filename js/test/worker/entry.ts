/** The worker alone, as a module that tests can start. */

import { serve } from "../../src/worker/main.ts";

serve();
