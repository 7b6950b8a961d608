import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Pod } from "@svc/kube";
import { restartPolicies } from "@svc/proto";
import { hungRunOf } from "../crash/hung-run.ts";
import { effectsOf, refused, seconds } from "../testing/decisions.ts";
import {
  aPod,
  aServer,
  defaults,
  failedSince,
  now,
  observedRunning,
  secondsBefore,
} from "../testing/observed.ts";
import { decide } from "./decide.ts";
import { decideHang, needsLastLine, type Signs } from "./hang.ts";
import type { Observed } from "./observed.ts";

const policy = (when_hung: restartPolicies.RestartPolicy["when_hung"]) => ({
  ...restartPolicies.defaultRestartPolicy,
  when_hung,
});
const minutes = (count: number) => now - count * 60_000;

describe("a server that does not answer", () => {
  type Case = [what: string, when: Parameters<typeof policy>[0], signs: Partial<Signs>, mayRestart: boolean];
  const table: readonly Case[] = [
    ["is restarted by default, as any start that ran out of time", "restart", { lastLineAt: now }, true],
    ["is left alone where its policy says so, however long it is silent", "leave", { lostAt: 0 }, false],
    [
      "is left alone while its log goes on: it generates a world, or saves one",
      "restart_if_silent",
      { lastLineAt: minutes(1) },
      false,
    ],
    ["is left alone while its log cannot be read", "restart_if_silent", { lastLineAt: undefined }, false],
    ["is left alone just before its time is up", "restart_if_silent", { lastLineAt: minutes(9.9) }, false],
    [
      "is restarted once neither RCON nor log has said anything",
      "restart_if_silent",
      { lastLineAt: minutes(10) },
      true,
    ],
    [
      "is left alone when RCON was lost a moment ago, and the log is old",
      "restart_if_silent",
      { lostAt: minutes(2) },
      false,
    ],
    [
      "has twice the time with players on",
      "restart_if_silent",
      { players: 3, lastLineAt: minutes(19) },
      false,
    ],
    [
      "has twice the time when nobody knows who is on",
      "restart_if_silent",
      { players: undefined, lastLineAt: minutes(19) },
      false,
    ],
    [
      "is restarted after twice the time with players on",
      "restart_if_silent",
      { players: 3, lastLineAt: minutes(20) },
      true,
    ],
  ];
  for (const [what, when, signs, mayRestart] of table)
    test(what, () => {
      const all: Signs = { lostAt: minutes(60), lastLineAt: minutes(60), players: 0, ...signs };
      assert.equal(decideHang(policy(when), all, now) === undefined, mayRestart);
    });
});

const podOf = (startedAt: string | undefined, isLeaving = false): Pod => {
  const pod = aPod({ isReady: true, isLeaving });
  const state = startedAt === undefined ? {} : { running: { startedAt } };
  const status = { ...pod.status, containerStatuses: [{ name: "minecraft", restartCount: 0, state }] };
  return { ...pod, status };
};
const old = podOf(secondsBefore(7_200));

describe("a run that hangs", () => {
  const lost = failedSince(400, "ReadinessTimeout");
  const table: [what: string, hangs: boolean, ...Parameters<typeof hungRunOf>][] = [
    ["has a process from before RCON was lost", true, lost, old],
    ["is not a start that is late", false, lost, podOf(secondsBefore(399))],
    ["is not a start whose node's clock is a little behind", false, lost, podOf(secondsBefore(401.5))],
    ["is not one whose process has ended", false, lost, podOf(undefined)],
    ["is not one whose pod is being deleted", false, lost, podOf(secondsBefore(7_200), true)],
    ["is not a server that runs", false, { ...lost, phase: "Running" }, old],
  ];
  for (const [what, hangs, status, pod] of table)
    test(what, () => assert.equal(hungRunOf(status, pod) !== undefined, hangs));
});

describe("the automatic restart of a hung server", () => {
  // Lost for ten minutes; the deadline has passed, and the first restart is due.
  const hung = (restart: object, changes: Partial<Observed> = {}): Observed =>
    observedRunning({
      server: aServer({ restart }),
      status: failedSince(600, "ReadinessTimeout"),
      pod: old,
      probe: refused,
      ...changes,
    });
  const kill = ["save-world", "delete-pod"];
  const isStarting = (observed: Observed) => decide(observed, now).status.phase === "Starting";

  test("goes on by default, and tries to save the world first", () => {
    const observed = hung({});
    assert.deepEqual(effectsOf(decide(observed, now)).slice(-2), kill);
    assert.ok(isStarting(observed));
  });

  test("never happens where the policy leaves it alone; it is asked again as often as one that runs", () => {
    const plan = decide(hung({ whenHung: "leave" }), now);
    assert.deepEqual(effectsOf(plan).includes("delete-pod"), false);
    assert.equal(plan.status.phase, "Failed");
    assert.deepEqual(plan.requeue, { afterMs: defaults.count_interval });
    assert.match(
      plan.status.conditions?.find(({ type }) => type === "Ready")?.message ?? "",
      /leaves it alone/,
    );
  });

  test("waits for silence where the policy says so", () => {
    const restart = { whenHung: "restart_if_silent", silentMinutes: 5 };
    const silent = { memory: { ...hung({}).memory, lostPlayers: 0 } };
    assert.ok(needsLastLine(hung(restart)));
    assert.ok(!isStarting(hung(restart, { ...silent, lastLineAt: now - seconds(60) })));
    assert.ok(!isStarting(hung(restart, { ...silent, lastLineAt: undefined })));
    assert.ok(isStarting(hung(restart, { ...silent, lastLineAt: now - seconds(301) })));
    assert.ok(!isStarting(hung(restart, { lastLineAt: now - seconds(301) })), "players may be on");
  });

  test("of a start that is late is the same whatever the policy", () => {
    const late = podOf(secondsBefore(590));
    const plan = decide(hung({ whenHung: "leave" }, { pod: late }), now);
    assert.equal(plan.status.phase, "Starting");
    assert.deepEqual(effectsOf(plan).slice(-1), ["delete-pod"]);
    assert.ok(!effectsOf(plan).includes("save-world"));
  });

  test("is not needed when it answers again", () => {
    const back = hung({ whenHung: "leave" }, { probe: { kind: "reached", count: { online: 0, max: 20 } } });
    assert.equal(decide(back, now).status.phase, "Running");
  });
});
