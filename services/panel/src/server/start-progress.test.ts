import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isStarting, outlookOf, problemOf, type StartFacts, shareOf, stepStates } from "./start-progress.ts";

const now = Date.parse("2026-01-01T12:00:00.000Z");
const startEstimate = { p50: 40, p95: 80 };
const since = (seconds: number, more: Partial<StartFacts> = {}): StartFacts => ({
  phase: "Starting",
  startRequestedAt: new Date(now - seconds * 1_000).toISOString(),
  startEstimate,
  ...more,
});
const condition = (type: string, reason: string, message = "") => ({
  type,
  status: "False" as const,
  reason,
  message,
  lastTransitionTime: new Date(now).toISOString(),
});
const withReasons = (pod: string, ready = "PodNotReady", more: Partial<StartFacts> = {}): StartFacts => ({
  phase: "Starting",
  conditions: [condition("Ready", ready, "ready message"), condition("PodStarted", pod, "pod message")],
  ...more,
});

test("a server starts from the wake until it runs", () => {
  assert.equal(isStarting({ phase: "Stopped", desiredState: "Running" }), true);
  assert.equal(isStarting({ phase: "Starting", desiredState: "Running" }), true);
  assert.equal(isStarting({ phase: "Stopped", desiredState: "Stopped" }), false);
  assert.equal(isStarting({ phase: "Running", desiredState: "Running" }), false);
  assert.equal(isStarting({ phase: "Failed", desiredState: "Running" }), false);
});

describe("what is promised", () => {
  const rows: [fact: string, facts: StartFacts, outlook: ReturnType<typeof outlookOf>][] = [
    ["a first start promises nothing", since(9, { startEstimate: undefined }), { kind: "unknown" }],
    ["a wake without a sign takes as long as usual", since(0), { kind: "about", seconds: 40 }],
    ["a start takes the rest of it", since(12.5), { kind: "about", seconds: 30 }],
    ["at p50 nothing has run out", since(40), { kind: "soon" }],
    ["up to p95 it is usual", since(80), { kind: "soon" }],
    ["then it is not", since(81), { kind: "late" }],
  ];
  for (const [fact, facts, outlook] of rows)
    test(fact, () => assert.deepEqual(outlookOf(facts, now), outlook));
});

test("the bar never goes back, slows down and is never full", () => {
  const shares = [0, 10, 40, 60, 80, 120, 300, 900, 100_000].map((seconds) => shareOf(since(seconds), now));
  assert.deepEqual(
    shares,
    [...shares].sort((a, b) => a - b),
  );
  assert.equal(shares[0], 0);
  assert.ok((shares.at(-1) ?? 1) < 1);
  const speed = (from: number, to: number) =>
    (shareOf(since(to), now) - shareOf(since(from), now)) / (to - from);
  assert.ok(
    speed(0, 40) > speed(40, 80) && speed(40, 80) > speed(80, 300) && speed(80, 300) > speed(300, 900),
  );
});

test("an even estimate fills the bar without a step", () => {
  const even = { startEstimate: { p50: 10, p95: 10 } };
  assert.ok(shareOf(since(10.01, even), now) < 0.93);
});

test("without an estimate the bar follows the steps", () => {
  const shares = ["PodPending", "VolumePending", "ImagePulling", "ContainerRunning"].map((reason) =>
    shareOf(withReasons(reason), now),
  );
  assert.deepEqual(shares, [0.1, 0.3, 0.5, 0.7]);
});

describe("the steps", () => {
  const rows: [fact: string, facts: StartFacts, states: string][] = [
    [
      "before any sign the first is under way",
      { phase: "Stopped", desiredState: "Running" },
      "running waiting waiting waiting waiting",
    ],
    ["a volume that is attached", withReasons("VolumePending"), "done running waiting waiting waiting"],
    ["an image that is fetched", withReasons("ImagePulling"), "done done running waiting waiting"],
    ["an image that is not there", withReasons("ImagePullFailed"), "done done failed waiting waiting"],
    ["a process that starts", withReasons("ContainerRunning"), "done done done running waiting"],
    ["a process that crashed", withReasons("ContainerCrashed"), "done done done failed waiting"],
    [
      "a console that does not answer yet",
      withReasons("ContainerRunning", "RconNotReachable"),
      "done done done done running",
    ],
    [
      "no answer in time",
      withReasons("ContainerRunning", "ReadinessTimeout", { phase: "Failed" }),
      "done done done done failed",
    ],
    ["no node for it", withReasons("PodUnschedulable"), "failed waiting waiting waiting waiting"],
  ];
  for (const [fact, facts, states] of rows)
    test(fact, () =>
      assert.equal(
        stepStates(facts)
          .map(({ state }) => state)
          .join(" "),
        states,
      ),
    );
});

describe("the problem", () => {
  const rows: [fact: string, facts: StartFacts, problem: ReturnType<typeof problemOf>][] = [
    ["none while all goes well", withReasons("ImagePulling"), undefined],
    [
      "of the pod comes before the time that ran out",
      withReasons("ImagePullFailed", "StartupTimeout"),
      { reason: "ImagePullFailed", detail: "pod message" },
    ],
    [
      "of the time has no detail of its own",
      withReasons("ContainerRunning", "StartupTimeout"),
      { reason: "StartupTimeout", detail: undefined },
    ],
    [
      "of the settings says which",
      withReasons("", "InvalidSpec"),
      { reason: "InvalidSpec", detail: "ready message" },
    ],
    [
      "of a locked world",
      { phase: "Stopped", conditions: [condition("Ready", "MaintenanceInProgress")] },
      { reason: "MaintenanceInProgress", detail: undefined },
    ],
    ["of a reason that is not known here is none", withReasons("", "SomethingNew"), undefined],
  ];
  for (const [fact, facts, problem] of rows) test(fact, () => assert.deepEqual(problemOf(facts), problem));
});
