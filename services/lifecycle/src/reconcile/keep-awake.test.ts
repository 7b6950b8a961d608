import assert from "node:assert/strict";
import { test } from "node:test";
import { describeTable } from "../testing/decision-table.ts";
import {
  aServer,
  defaults,
  emptyRunning,
  now,
  observedNew,
  observedRunning,
  secondsBefore,
} from "../testing/observed.ts";
import { nextProbeAt } from "./observed.ts";

const after = (seconds: number) => secondsBefore(-seconds);
const day = 86_400;
const kept = (until: string, since = secondsBefore(60)) =>
  aServer({ idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600, keptAwake: { since, until } } });
const emptyFor = (seconds: number) => ({ ...emptyRunning, emptySince: secondsBefore(seconds) });
const reasonsOf = (notes: readonly { reason: string }[]) => notes.map(({ reason }) => reason);
const running = { phase: "Running", reason: "RconReached" } as const;

describeTable("a server that is kept awake", [
  {
    fact: "does not stop although it was empty for the whole idle time",
    observed: observedRunning({ server: kept(after(3_600)), status: emptyFor(7_200) }),
    ...running,
    requeue: 30_000,
    effects: [],
    more: ({ status }) => assert.equal(status.emptySince, secondsBefore(7_200)),
  },
  {
    fact: "starts its idle clock as any other",
    observed: observedRunning({ server: kept(after(3_600)) }),
    ...running,
    requeue: 30_000,
    effects: [],
    more: ({ status }) => assert.equal(status.emptySince, secondsBefore(0)),
  },
  {
    fact: "is counted exactly when its time ends",
    observed: observedRunning({ server: kept(after(7)), status: emptyFor(7_200) }),
    ...running,
    requeue: 7_000,
    effects: [],
  },
  {
    fact: "is stopped at the end of its time when it was empty for long enough",
    observed: observedRunning({ server: kept(secondsBefore(0)), status: emptyFor(600) }),
    ...running,
    requeue: 10_000,
    effects: ["set-desired-stopped"],
    more: ({ notes }) => assert.deepEqual(reasonsOf(notes), ["IdleStop"]),
  },
  {
    fact: "goes on after the end of its time until its idle time is over",
    observed: observedRunning({ server: kept(secondsBefore(0)), status: emptyFor(593) }),
    ...running,
    requeue: 7_000,
    effects: ["end-keep-awake"],
    more: ({ notes }) => assert.deepEqual(reasonsOf(notes), ["KeepAwakeEnded"]),
  },
  {
    fact: "is not counted longer than a bound that was lowered since",
    observed: observedRunning({
      server: kept(after(day), secondsBefore(7_200)),
      status: emptyFor(7_200),
      settings: { ...defaults, keep_awake_longest: 3_600_000 },
    }),
    ...running,
    requeue: 10_000,
    effects: ["set-desired-stopped"],
  },
  {
    fact: "loses what kept it only once a request is handled, because each is written against one version",
    observed: observedRunning({
      server: aServer(
        { idle: { ...kept(secondsBefore(1)).spec.idle } },
        { annotations: { "svc.internal/start-retry": "now" } },
      ),
    }),
    ...{ phase: "Running", reason: "" },
    requeue: 0,
    effects: ["remove-annotation"],
  },
  {
    fact: "is not started by it, and a pass is due when its time ends",
    observed: observedNew({
      server: { ...kept(after(3 * day)), spec: { ...kept(after(3 * day)).spec, desiredState: "Stopped" } },
    }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: 3 * day * 1_000,
    effects: [],
  },
  {
    fact: "loses it at the end also while it is stopped",
    observed: observedNew({
      server: {
        ...kept(secondsBefore(1)),
        spec: { ...kept(secondsBefore(1)).spec, desiredState: "Stopped" },
      },
    }),
    phase: "Stopped",
    reason: "Stopped",
    requeue: "on-change",
    effects: ["end-keep-awake"],
  },
]);

test("a server without an idle stop is counted as always", () => {
  const server = aServer({
    idle: {
      autoStopEnabled: false,
      emptySecondsBeforeStop: 600,
      keptAwake: { since: secondsBefore(9), until: after(5) },
    },
  });
  const observed = observedRunning({ server, memory: { misses: 0, probedAt: now, joinedUntil: 0 } });
  assert.equal(nextProbeAt(observed), now + 30_000);
});
