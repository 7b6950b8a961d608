import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ContainerStatus, ObjectMeta, Pod } from "@svc/kube";
import { endedRunOf, hangOf, logOf } from "./ended-run.ts";

const minute = (text: string) => `2026-03-02T10:${text}Z`;
const end = (number: number, finishedAt: string, reason = "Error") => ({
  exitCode: 1,
  reason,
  startedAt: minute("00:00"),
  finishedAt,
  containerID: `c${number}`,
});
const pod = (game: Partial<ContainerStatus>, metadata: Partial<ObjectMeta> = {}, status = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "survival-0", uid: "u", creationTimestamp: minute("00:00"), ...metadata },
  status: { containerStatuses: [{ name: "minecraft", restartCount: 0, ...game }], ...status },
});
const running = { running: { startedAt: minute("09:00") } };
const deletion = { deletionTimestamp: minute("10:00"), deletionGracePeriodSeconds: 300 };

type Case = [what: string, pod: Pod, key: string | undefined, log?: "current" | "previous"];
const table: readonly Case[] = [
  ["a pod that is pending", pod({}), undefined],
  ["a server that runs", pod({ state: running }), undefined],
  ["a run that has just ended", pod({ state: { terminated: end(0, minute("05:00")) } }), "u c0", "current"],
  [
    "a run after which the next one runs",
    pod({ state: running, lastState: { terminated: end(0, minute("05:00")) } }),
    "u c0",
    "previous",
  ],
  [
    "a run after which the cluster waits",
    pod({
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: { terminated: end(0, minute("05:00")) },
    }),
    "u c0",
    "current",
  ],
  [
    "the newer of two",
    pod({
      state: { terminated: end(1, minute("06:00")) },
      lastState: { terminated: end(0, minute("05:00")) },
    }),
    "u c1",
    "current",
  ],
  ["a server that was stopped", pod({ state: { terminated: end(0, minute("05:01")) } }, deletion), undefined],
  [
    "a server that crashed just before it was stopped",
    pod({ state: { terminated: end(0, minute("04:59")) } }, deletion),
    "u c0",
    "current",
  ],
  [
    "a server that had crashed before and was stopped later",
    pod(
      { state: { terminated: end(1, minute("05:01")) }, lastState: { terminated: end(0, minute("03:00")) } },
      deletion,
    ),
    "u c0",
    "current",
  ],
  ["an end without a time", pod({ state: { terminated: { exitCode: 1 } } }), undefined],
  [
    "a pod that was thrown out",
    pod({}, {}, { phase: "Failed", reason: "Evicted", containerStatuses: [] }),
    "u evicted",
  ],
];

describe("the end that is reported", () => {
  for (const [what, given, key, log] of table)
    test(what, () => {
      const run = endedRunOf(given);
      assert.equal(run?.key, key);
      if (run) assert.equal(logOf(given, run), log);
    });

  test("of a pod that was thrown out says so, whatever its container says", () => {
    const evicted = { phase: "Failed", reason: "Evicted" };
    const run = endedRunOf(pod({ state: { terminated: end(0, minute("05:00")) } }, {}, evicted));
    assert.deepEqual([run?.key, run?.reason, run?.exitCode], ["u c0", "Evicted", 1]);
  });
});

describe("a hang that is reported", () => {
  const ready = (reason: string) => [
    { type: "Ready", status: "False" as const, reason, message: "", lastTransitionTime: minute("20:00") },
  ];
  const status = {
    phase: "Failed" as const,
    startRequestedAt: minute("15:00"),
    conditions: ready("ReadinessTimeout"),
  };
  const hanging = pod({ state: running });

  test("is a run that had answered, once its time is up; its log is the one that goes on", () => {
    const run = hangOf({ status }, hanging);
    assert.deepEqual([run?.startedAt, run?.endedAt], [new Date(minute("09:00")), new Date(minute("15:00"))]);
    assert.ok(run);
    assert.equal(logOf(hanging, run), "current");
    assert.equal(logOf(pod({ state: { running: { startedAt: minute("16:00") } } }), run), undefined);
    assert.equal(endedRunOf(hanging), undefined);
  });

  test("is none before that, for another reason, or of a start that is late", () => {
    assert.equal(hangOf({ status: { ...status, phase: "Starting" } }, hanging), undefined);
    assert.equal(hangOf({ status: { ...status, conditions: ready("StartupTimeout") } }, hanging), undefined);
    assert.equal(hangOf({ status: { ...status, startRequestedAt: minute("09:00") } }, hanging), undefined);
    assert.equal(hangOf({}, hanging), undefined);
  });
});
