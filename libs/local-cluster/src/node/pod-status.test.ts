import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ContainerStatus, Pod } from "../controllers/objects.ts";
import { type PodView, statusOf } from "./pod-status.ts";

const now = Date.parse("2026-01-01T00:01:00Z");
const begun = "2026-01-01T00:00:00Z";

const waiting = { state: { waiting: { reason: "ContainerCreating" } } };
const running = { state: { running: { startedAt: begun } }, ready: true };
const exited = (exitCode: number) => ({
  state: { terminated: { exitCode, reason: "Completed", startedAt: begun, finishedAt: begun } },
});

const container = (name: string, state: object): ContainerStatus =>
  ({
    ...{ name, image: "demo:1", imageID: "", restartCount: 0, ready: false, started: false, lastState: {} },
    ...state,
  }) as ContainerStatus;

type Given = {
  restartPolicy?: string;
  init?: object[];
  main: object[];
  ending?: PodView["ending"];
  before?: object[];
};

function viewOf({ restartPolicy = "Always", init = [], main, ending, before = [] }: Given): PodView {
  const pod = { metadata: { name: "p" }, spec: { restartPolicy }, status: { conditions: before } };
  return {
    pod: pod as unknown as Pod,
    init: init.map((state, at) => container(`init-${at}`, state)),
    main: main.map((state, at) => container(`main-${at}`, state)),
    ...{ podIP: "127.64.0.1", hostIP: "127.0.0.1", startTime: begun, ending },
  };
}

const phases: [fact: string, given: Given, phase: string][] = [
  ["waits for its containers", { main: [waiting] }, "Pending"],
  ["waits for its init containers", { init: [running], main: [waiting] }, "Pending"],
  ["runs once each container has run", { init: [exited(0)], main: [running, running] }, "Running"],
  ["waits for the last container", { main: [running, waiting] }, "Pending"],
  ["runs on when a container has ended that starts again", { main: [exited(1)] }, "Running"],
  [
    "has succeeded when all ended well",
    { restartPolicy: "Never", main: [exited(0), exited(0)] },
    "Succeeded",
  ],
  ["has failed when one did not", { restartPolicy: "Never", main: [exited(0), exited(2)] }, "Failed"],
  [
    "has failed when an init container did",
    { restartPolicy: "Never", init: [exited(1)], main: [waiting] },
    "Failed",
  ],
  [
    "tries an init container again",
    { restartPolicy: "OnFailure", init: [exited(1)], main: [waiting] },
    "Pending",
  ],
  ["tries again only what failed", { restartPolicy: "OnFailure", main: [exited(0), exited(1)] }, "Running"],
  ["has succeeded on failure alone", { restartPolicy: "OnFailure", main: [exited(0)] }, "Succeeded"],
  [
    "ends for a reason of its own",
    { main: [running], ending: { phase: "Failed", reason: "DeadlineExceeded" } },
    "Failed",
  ],
];

describe("a pod", () => {
  for (const [fact, given, phase] of phases)
    test(fact, () => assert.equal(statusOf(viewOf(given), now).phase, phase));

  const conditionOf = (given: Given, type: string) =>
    statusOf(viewOf(given), now).conditions?.find((one) => one.type === type);

  test("names the containers that are not ready", () => {
    const { status, reason, message } = conditionOf({ main: [running, waiting] }, "Ready") ?? {};
    assert.deepEqual(
      [status, reason, message],
      ["False", "ContainersNotReady", "containers with unready status: [main-1]"],
    );
  });

  test("names the init containers that have not ended", () => {
    const { status, message } =
      conditionOf({ init: [exited(0), running], main: [waiting] }, "Initialized") ?? {};
    assert.deepEqual([status, message], ["False", "containers with incomplete status: [init-1]"]);
  });

  test("that is over is not ready, and says why", () => {
    const given = { restartPolicy: "Never", main: [exited(0)] };
    assert.equal(conditionOf(given, "Ready")?.reason, "PodCompleted");
    assert.equal(conditionOf({ ...given, main: [exited(1)] }, "Ready")?.reason, "PodFailed");
  });

  test("keeps the time of a condition that stays, and the conditions of others", () => {
    const before = [
      { type: "Ready", status: "True", lastTransitionTime: begun },
      { type: "example.svc/gate", status: "True", lastTransitionTime: begun },
    ];
    const of = (main: object[]) => statusOf(viewOf({ main, before }), now).conditions ?? [];
    const timeOf = (main: object[]) => of(main).find(({ type }) => type === "Ready")?.lastTransitionTime;
    assert.deepEqual([timeOf([running]), timeOf([waiting])], [begun, "2026-01-01T00:01:00Z"]);
    assert.deepEqual(of([running]).at(-1), before[1]);
  });
});
