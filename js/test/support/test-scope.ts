import { onTestFinished } from "vitest";
import { Scope } from "../../src/scheduling/scope.ts";

/** A scope that ends with the test. */
export function testScope(): Scope {
  const scope = new Scope();
  onTestFinished(() => scope.end());
  return scope;
}
