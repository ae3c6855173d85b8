/** Milliseconds; only a test that fails waits so long, also where the machine does much else. */
export const PATIENCE = 60_000;
