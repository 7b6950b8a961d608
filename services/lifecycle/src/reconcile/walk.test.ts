// Random walks through the states: whatever happens in whatever order, some things always hold.

import assert from "node:assert/strict";
import { test } from "node:test";
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

/** A small generator with a seed, so that a walk that fails can be walked again. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const probes: Probe[] = [
  { kind: "failed", problem: "refused" },
  { kind: "reached" },
  { kind: "reached", count: { online: 0, max: 20 } },
  { kind: "reached", count: { online: 3, max: 20 } },
];

type World = { observed: Observed; desired: "Running" | "Stopped"; image: string; now: number };

function happen(world: World, random: (below: number) => number): void {
  const event = random(9);
  if (event === 0) world.desired = "Running";
  else if (event === 1) world.desired = "Stopped";
  else if (event === 2) world.image = `svc.local/demo-server:${random(3)}`;
  else if (event === 3 && world.observed.statefulSet?.spec.replicas === 1) {
    world.observed = { ...world.observed, pod: aPod({ isReady: random(3) > 0 }) };
  } else if (event === 4) world.observed = { ...world.observed, pod: undefined };
  else if (event === 5) world.observed = { ...world.observed, holder: random(2) ? "backup" : undefined };
  world.now += random(120_000);
}

function look(world: World, random: (below: number) => number): Observed {
  const server = aServer({
    desiredState: world.desired,
    image: world.image,
    idle: { autoStopEnabled: true, emptySecondsBeforeStop: 60 },
  });
  const { pod } = world.observed;
  const isReady = pod?.status?.conditions?.[0]?.status === "True";
  const set = world.observed.statefulSet;
  const status = { ...set?.status, replicas: pod ? 1 : 0, readyReplicas: isReady ? 1 : 0 };
  const seen: Observed = {
    ...world.observed,
    server,
    statefulSet: set && { ...set, status },
    probe: { kind: "none" },
  };
  const isAsked = needsProbe(seen, world.now);
  return isAsked ? { ...seen, probe: probes[random(probes.length)] ?? seen.probe } : seen;
}

/** What the cluster makes of the effects. */
function carryOut(world: World, observed: Observed, plan: Plan): void {
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
    if (effect.kind === "set-desired-stopped") world.desired = "Stopped";
  }
  world.observed = next;
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
  // Only what waits for a change alone may wait without a timer.
  if (requeue === "on-change") assert.ok(phase === "Stopped" || phase === "Failed");
  else assert.ok(Number.isFinite(requeue.afterMs) && requeue.afterMs >= 0);
  // Nothing that holds a world is ever overrun.
  const starts = plan.effects.some(({ kind }) => kind === "create-stateful-set");
  if (observed.holder !== undefined) assert.equal(starts, false);
}

test("whatever happens, ready means Running, waiting has a timer, and a held world is not started", () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = createRandom(seed);
    const world: World = {
      observed: observedNew(),
      desired: "Stopped",
      image: "svc.local/demo-server:0",
      now: begin,
    };
    for (let step = 0; step < 80; step++) {
      happen(world, random);
      const observed = look(world, random);
      const plan = decide(observed, world.now);
      try {
        check(observed, plan);
      } catch (error) {
        throw new Error(`seed ${seed}, step ${step}: ${JSON.stringify(plan.status)}`, { cause: error });
      }
      carryOut(world, observed, plan);
    }
  }
});

test("a server that is left alone comes to rest where it was asked to", () => {
  for (let seed = 1; seed <= 100; seed++) {
    const random = createRandom(seed);
    const world: World = {
      observed: observedNew(),
      desired: "Running",
      image: "svc.local/demo-server:0",
      now: begin,
    };
    for (let step = 0; step < 40; step++) {
      happen(world, random);
      const observed = look(world, random);
      carryOut(world, observed, decide(observed, world.now));
    }
    world.desired = "Stopped";
    for (let step = 0; step < 6; step++) {
      world.now += 31_000;
      const observed = look(world, random);
      carryOut(world, observed, decide(observed, world.now));
    }
    assert.equal(world.observed.status.phase, "Stopped", `seed ${seed}`);
  }
});
