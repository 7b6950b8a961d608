// Random walks through the states: some invariants hold whatever happens in whatever order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createRandomIntegers } from "@svc/mesh/testing";
import {
  aPod,
  aServer,
  aService,
  aStatefulSet,
  now as begin,
  observedNew,
  password,
} from "../testing/observed.ts";
import { decide } from "./decide.ts";
import { needsProbe, type Observed, type Probe } from "./observed.ts";
import type { Plan } from "./plan.ts";

const probes: Probe[] = [
  { kind: "failed", problem: "refused" },
  { kind: "reached" },
  { kind: "reached", count: { online: 0, max: 20 } },
  { kind: "reached", count: { online: 3, max: 20 } },
];

type Model = { observed: Observed; desired: "Running" | "Stopped"; image: string; now: number };

function change(model: Model, random: (below: number) => number): void {
  const event = random(9);
  if (event === 0) model.desired = "Running";
  else if (event === 1) model.desired = "Stopped";
  else if (event === 2) model.image = `svc.local/demo-server:${random(3)}`;
  else if (event === 3 && model.observed.statefulSet?.spec.replicas === 1) {
    model.observed = { ...model.observed, pod: aPod({ isReady: random(3) > 0 }) };
  } else if (event === 4) model.observed = { ...model.observed, pod: undefined };
  else if (event === 5) model.observed = { ...model.observed, holder: random(2) ? "backup" : undefined };
  model.now += random(120_000);
}

function observeModel(model: Model, random: (below: number) => number): Observed {
  const server = aServer({
    desiredState: model.desired,
    image: model.image,
    idle: { autoStopEnabled: true, emptySecondsBeforeStop: 60 },
  });
  const { pod } = model.observed;
  const isReady = pod?.status?.conditions?.[0]?.status === "True";
  const set = model.observed.statefulSet;
  const status = { ...set?.status, replicas: pod ? 1 : 0, readyReplicas: isReady ? 1 : 0 };
  const seen: Observed = {
    ...model.observed,
    server,
    statefulSet: set && { ...set, status },
    probe: { kind: "none" },
  };
  const isProbed = needsProbe(seen, model.now);
  return isProbed ? { ...seen, probe: probes[random(probes.length)] ?? seen.probe } : seen;
}

/** Applies the effects as a cluster would. */
function applyPlan(model: Model, observed: Observed, plan: Plan): void {
  let next = { ...observed, status: plan.status, memory: plan.memory };
  for (const effect of plan.effects) {
    if (effect.kind === "create-service" || effect.kind === "patch-service") {
      next = { ...next, service: aService(next.server), headless: aService(next.server) };
    }
    if (effect.kind === "create-secret") next = { ...next, secret: { kind: "present", password } };
    if (effect.kind === "create-stateful-set" || effect.kind === "update-stateful-set") {
      next = { ...next, statefulSet: aStatefulSet(next.server, { replicas: 1 }) };
    }
    if (effect.kind === "scale-down")
      next = { ...next, statefulSet: aStatefulSet(next.server, { replicas: 0 }), pod: undefined };
    if (effect.kind === "delete-pod") next = { ...next, pod: undefined };
    if (effect.kind === "set-desired-stopped") model.desired = "Stopped";
  }
  model.observed = next;
}

function check(observed: Observed, plan: Plan): void {
  const { status, requeue } = plan;
  const { phase } = status;
  assert.notEqual(phase, "Unknown");
  assert.equal(
    status.ready === true,
    phase === "Running" && status.conditions?.find((c) => c.type === "Ready")?.status === "True",
  );
  if (phase === "Running") assert.equal(status.startRequestedAt, undefined);
  if (phase === "Starting") assert.ok(status.startRequestedAt !== undefined);
  if (phase !== "Running") {
    assert.equal(status.emptySince, undefined);
    assert.equal(status.stopNoticeAt, undefined);
  }
  if (phase === "Starting" || phase === "Stopping" || phase === "Stopped")
    assert.equal(status.endpoint?.mode, "fallback");
  assert.ok((status.autoRestarts ?? 0) <= 3);
  // Only a state that waits for a change alone has no timer.
  if (requeue === "on-change") assert.ok(phase === "Stopped" || phase === "Failed");
  else assert.ok(Number.isFinite(requeue.afterMs) && requeue.afterMs >= 0);
  // A locked world is never started.
  const starts = plan.effects.some(({ kind }) => kind === "create-stateful-set");
  if (observed.holder !== undefined) assert.equal(starts, false);
}

test("whatever happens, ready means Running, waiting has a timer, and a locked world is not started", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandomIntegers(seed);
    const model: Model = {
      observed: observedNew(),
      desired: "Stopped",
      image: "svc.local/demo-server:0",
      now: begin,
    };
    for (let step = 0; step < 80; step++) {
      change(model, random);
      const observed = observeModel(model, random);
      const plan = decide(observed, model.now);
      try {
        check(observed, plan);
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}: ${JSON.stringify(plan.status)}`, { cause: error });
      }
      applyPlan(model, observed, plan);
    }
  }
});

test("a server that is asked to stop and left alone comes to rest", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = createRandomIntegers(seed);
    const model: Model = {
      observed: observedNew(),
      desired: "Running",
      image: "svc.local/demo-server:0",
      now: begin,
    };
    for (let step = 0; step < 40; step++) {
      change(model, random);
      const observed = observeModel(model, random);
      applyPlan(model, observed, decide(observed, model.now));
    }
    model.desired = "Stopped";
    for (let step = 0; step < 6; step++) {
      model.now += 31_000;
      const observed = observeModel(model, random);
      applyPlan(model, observed, decide(observed, model.now));
    }
    assert.equal(model.observed.status.phase, "Stopped", `seed ${seed}`);
  }
});
