import { signal } from "@preact/signals-core";
import { expect, test } from "vitest";
import { Scope } from "../../src/scheduling/scope.ts";

test("an ended scope runs no effect, and cleaned up after the last run", () => {
  const scope = new Scope();
  const value = signal(0);
  const log: string[] = [];
  scope.effect(() => {
    const now = value.value;
    log.push(`run ${now}`);
    return () => log.push(`clean up ${now}`);
  });
  value.value = 1;
  scope.end();
  value.value = 2;
  expect(log).toEqual(["run 0", "clean up 0", "run 1", "clean up 1"]);
});

test("a scope ends its children once, and a child alone leaves it be", () => {
  const scope = new Scope();
  const ended: string[] = [];
  const [first, second] = [scope.child(), scope.child()];
  first.onEnd(() => ended.push("first"));
  second.onEnd(() => ended.push("second"));
  first.end();
  expect([...ended, scope.signal.aborted]).toEqual(["first", false]);
  scope.end();
  scope.end();
  expect(ended).toEqual(["first", "second"]);
});

test("what begins in an ended scope ends at once", () => {
  const scope = new Scope();
  scope.end();
  const ended: string[] = [];
  scope.onEnd(() => ended.push("own"));
  scope.child().onEnd(() => ended.push("child"));
  expect(ended).toEqual(["own", "child"]);
});

test("each run of a scoped effect ends what the run before began", () => {
  const scope = new Scope();
  const value = signal(0);
  const alive = new Set<number>();
  scope.scopedEffect((own) => {
    const now = value.value;
    alive.add(now);
    own.onEnd(() => alive.delete(now));
  });
  value.value = 1;
  expect([...alive]).toEqual([1]);
  scope.end();
  expect([...alive]).toEqual([]);
});
