// Replicas that are killed in the middle of a run, or work on it at the same time: each server is asked at most once.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { many } from "@svc/config/testing";
import { until } from "@svc/mesh/testing";
import { createGroupFixture, type GroupFixture } from "../testing/group/group-fixture.ts";
import { countDownTo, type KillPoint, killAtEachPoint } from "../testing/kill-point.ts";
import {
  openScheduleFixture,
  running,
  type ScheduleFixture,
  stopped,
} from "../testing/schedule/schedule-fixture.ts";
import { passOverRuns, type RunnerDeps } from "./runner.ts";

let base: ScheduleFixture;
let fixture: GroupFixture;
/** Dependencies of every replica. */
let common: RunnerDeps;
/** Servers that were asked to start, in this order: what the cluster took. */
const asked: string[] = [];
before(async () => {
  base = await openScheduleFixture(["lifecycle.max_running_servers=60"]);
  fixture = createGroupFixture(base);
  const { kube } = fixture.deps;
  const patch: typeof kube.patch = async (resource, target, about) => {
    const result = await kube.patch(resource, target, about);
    asked.push(target.name);
    return result;
  };
  common = { ...fixture.deps, kube: { ...kube, patch } };
});
after(() => base.close());

/** A replica that is killed just before or just after its n-th effect. */
function withKillPoint(deps: RunnerDeps, point: KillPoint) {
  const { counted, isKilled } = countDownTo(point);
  const { groups, kube, store } = deps;
  const { audits } = store;
  const counting: RunnerDeps = {
    ...deps,
    groups: { ...groups, move: counted("move", groups.move) },
    kube: { ...kube, patch: counted("patch", kube.patch) },
    store: {
      ...store,
      recordWake: counted("wake", store.recordWake),
      audits: {
        ...audits,
        admit: counted("admit", audits.admit),
        settle: counted("settle", audits.settle),
      },
    },
  };
  return { deps: counting, isKilled };
}

/** Sets the phase that the operator would derive from the desired state. */
async function settle(name: string): Promise<void> {
  const { spec, status } = await base.getServer(name);
  const wanted = spec.desiredState === "Running" ? running : stopped;
  if (status?.phase !== wanted.phase) await base.setState(name, wanted);
}

let made = 0;
async function makeGroup() {
  made += 1;
  const names = ["a", "b", "c"].map((one) => `${one}-killed-${made}`);
  for (const name of names) await base.makeServer(name, stopped);
  const [first = "", ...others] = names;
  return { names, id: await fixture.makeGroup([[first], others]) };
}

const isOver = async (id: string) => (await fixture.run(id)).state !== "running";

async function goOn(
  deps: RunnerDeps,
  { id, names }: { id: string; names: readonly string[] },
): Promise<void> {
  for (let left = 10; left > 0 && !(await isOver(id)); left--) {
    await passOverRuns(deps);
    for (const name of names) await settle(name);
  }
}

/** False when the run had fewer effects. */
async function die(killPoint: KillPoint): Promise<boolean> {
  const group = await makeGroup();
  const { id, names } = group;
  const victim = withKillPoint(common, killPoint);
  await fixture.begin(id, "start");
  for (let left = 10; left > 0 && !victim.isKilled() && !(await isOver(id)); left--) {
    let hasPassed = false;
    void passOverRuns(victim.deps).then(() => {
      hasPassed = true;
    });
    await until(() => hasPassed || victim.isKilled());
    if (!victim.isKilled()) for (const name of names) await settle(name);
  }
  await goOn(common, group);
  const run = await fixture.run(id);
  const about = `killed ${killPoint.when} effect ${killPoint.at}: ${JSON.stringify(run)}`;
  assert.equal(run.state, "done", about);
  assert.deepEqual(asked.filter((name) => names.includes(name)).sort(), names, about);
  // Of a change that was under way the entry says so.
  await base.deps.store.audits.sweep(0);
  const entries = await fixture.audited(names);
  for (const name of names) assert.ok(entries.includes(`server.wake ${name}`), about);
  await fixture.sleep(names);
  return victim.isKilled();
}

test("a replica that is killed at any effect of a run leaves one that another one ends, with no server asked twice", async () => {
  const at = await killAtEachPoint(die);
  assert.ok(at > 10, `only ${at} effects were seen`);
});

test("a server that a killed replica had asked, and that somebody stopped since, is not started again", async () => {
  const { id, names } = await makeGroup();
  const [first = ""] = names;
  let isAsked = false;
  const { kube } = common;
  const patch = async (...about: Parameters<typeof kube.patch>) => {
    await kube.patch(...about);
    isAsked = true;
    return new Promise<never>(() => {});
  };
  await fixture.begin(id, "start");
  void passOverRuns({ ...common, kube: { ...kube, patch: patch as typeof kube.patch } });
  await until(() => isAsked);
  await base.setState(first, stopped);
  await goOn(common, { id, names });
  assert.equal((await base.getServer(first)).spec.desiredState, "Stopped");
  assert.equal((await fixture.run(id)).stages[0]?.[0]?.result, "changed");
});

test("three replicas that lead at the same time ask each server once", async () => {
  for (let left = many(20, 5); left > 0; left--) {
    const group = await makeGroup();
    await fixture.begin(group.id, "start");
    for (let rounds = 10; rounds > 0 && !(await isOver(group.id)); rounds--) {
      await Promise.all([1, 2, 3].map(() => passOverRuns(common)));
      for (const name of group.names) await settle(name);
    }
    assert.equal((await fixture.run(group.id)).state, "done");
    assert.deepEqual(asked.filter((name) => group.names.includes(name)).sort(), group.names);
    await fixture.sleep(group.names);
  }
});
