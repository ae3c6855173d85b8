/** Milliseconds; only a test that fails waits so long, also where the machine does much else. */
export const PATIENCE = 5_000;
