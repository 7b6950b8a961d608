// One run of tests/scale: a fleet is made, rests, is woken, is worked on and looked at, and loses its leader.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { viewAgain } from "../bench/goals/fleet.ts";
import { type Child, startChild } from "../bench/harness/child.ts";
import { type BenchStack, startStackArena } from "../bench/harness/stack.ts";
import { createChanger } from "./changes.ts";
import { type Growth, makeFleet, namespace, nodeName, ownerOf, serversPerOwner } from "./fleet.ts";
import { type Followed, type Follower, followChanges } from "./follow.ts";
import { readStores, type Stores, scrape, type Use, untilAllPassed, watchUse } from "./measure.ts";
import type { NodePlan, NodeStats } from "./peers/node.ts";
import type { Viewer, ViewersPlan, ViewersSeen } from "./peers/viewers.ts";
import { findProblems } from "./problems.ts";
import { type ListTimes, readLists } from "./readers.ts";

export type Plan = {
  servers: number;
  awake: number;
  changesPerSecond: number;
  viewers: number;
  seconds: number;
  /** The API server is one that neither schedules pods nor routes to Services. */
  isAlone: boolean;
};

export type Result = {
  plan: Plan;
  growth: Growth;
  empty: Use[];
  rest: Use[];
  storesAtRest: Stores;
  wave: { seconds: number; followed: Followed[]; use: Use[] } | undefined;
  work: Work | undefined;
  scrapeOfLifecycle: { ms: number; bytes: number };
  leaderAgainS: number;
  node: NodeStats;
  refusals: [string, number][];
  problems: [string, number][];
};

type Work = {
  followed: Followed[];
  lists: ListTimes[];
  use: Use[];
  seen: ViewersSeen;
  before: Stores;
  after: Stores;
  counts: number;
  seconds: number;
};

const services = [
  ...["identity", "lifecycle", "storage", "builds", "ops-watchdog", "gateway-internal", "gateway-external"],
].join(",");
const settings = [
  ...["lifecycle.stop_notice=0s", "lifecycle.wake_cooldown=0s"],
  // All operators of the run share one account.
  "gateway.streams_per_account=10000",
];
const restMs = 15_000;
const staffShare = 0.05;

type Parts = { stack: BenchStack; node: Child; viewers: Child; load: Child; say: (text: string) => void };

type Surroundings = {
  say: (text: string) => void;
  /** Resolves when the run has to end early; it ends what it started all the same. */
  interrupted: Promise<unknown>;
};

export async function simulate(plan: Plan, { say, interrupted }: Surroundings): Promise<Result> {
  const logDir = mkdtempSync(join(tmpdir(), "svc-scale-"));
  const ending: (() => Promise<void>)[] = [async () => rmSync(logDir, { recursive: true, force: true })];
  try {
    const args = ["--only", services, ...settings.flatMap((one) => ["--set", one])];
    const stack = await startStackArena({ detached: new Set() }, args);
    ending.push(stack.stop);
    const child = async (file: string) => {
      const started = await startChild(file, { logDir });
      ending.push(started.stop);
      return started;
    };
    const parts: Parts = {
      ...{ stack, say },
      node: await child("../scale/peers/node.ts"),
      viewers: await child("../scale/peers/viewers.ts"),
      load: await child("load/main.ts"),
    };
    return await Promise.race([run(plan, parts), interrupted.then(fail)]);
  } finally {
    for (const step of ending.reverse()) await step().catch((error: Error) => say(error.message));
  }
}

function fail(): never {
  throw new Error("interrupted");
}

async function run(plan: Plan, parts: Parts): Promise<Result> {
  const { stack, say, node } = parts;
  const about: NodePlan = {
    kubeconfig: stack.file().kubeconfig,
    namespace,
    name: nodeName,
    isAlone: plan.isAlone,
  };
  await node.ask("start", about);
  const empty = await resting(parts);
  say(`making ${plan.servers} servers`);
  const growth = await makeFleet(stack, plan.servers);
  say(`made in ${growth.createdS.toFixed(0)} s, listed after ${growth.listedS.toFixed(0)} s`);
  await untilAllPassed(stack, 600_000);
  const rest = await resting(parts);
  const storesAtRest = await readStores(stack);
  const follower = await followChanges(stack);
  const changer = createChanger(stack, follower, plan.servers);
  try {
    const wave = plan.awake > 0 ? await wakeWave(parts, { plan, changer, follower }) : undefined;
    const work = plan.seconds > 0 ? await working(parts, { plan, changer, follower }) : undefined;
    const scrapeOfLifecycle = await scrape(stack, "lifecycle");
    say("killing lifecycle");
    const leaderAgainS = await viewAgain(parts, stack);
    return {
      ...{ plan, growth, empty, rest, storesAtRest, wave, work, scrapeOfLifecycle, leaderAgainS },
      node: await node.ask<NodeStats>("stats"),
      refusals: [...changer.refusals()],
      problems: findProblems(stack.dir),
    };
  } finally {
    await follower.stop();
  }
}

async function resting({ stack }: Parts): Promise<Use[]> {
  const use = watchUse(stack);
  await pause(restMs);
  return use();
}

type Acting = { plan: Plan; changer: ReturnType<typeof createChanger>; follower: Follower };

async function wakeWave({ stack, say }: Parts, { plan, changer, follower }: Acting): Promise<Result["wave"]> {
  say(`waking ${plan.awake} servers at once`);
  const use = watchUse(stack);
  const seconds = await changer.wakeAll(plan.awake);
  say(`all run after ${seconds.toFixed(0)} s`);
  return { seconds, followed: follower.take(), use: await use() };
}

async function working(parts: Parts, { plan, changer, follower }: Acting): Promise<Work> {
  const { stack, say, load, node, viewers } = parts;
  const owners = Math.ceil(plan.servers / serversPerOwner);
  say(`opening ${plan.viewers} event streams`);
  await viewers.ask("open", {
    port: stack.owner.port,
    viewers: viewersOf(plan, stack),
  } satisfies ViewersPlan);
  await viewers.ask("take");
  const before = await readStores(stack);
  const { counts } = await node.ask<NodeStats>("stats");
  const use = watchUse(stack);
  say(`working for ${plan.seconds} s`);
  const end = AbortSignal.timeout(plan.seconds * 1_000);
  const [lists] = await Promise.all([
    readLists({ stack, load, count: plan.servers, owners }, end),
    changer.keepChanging(plan.changesPerSecond, end),
  ]);
  const used = await use();
  return {
    ...{ lists, before, use: used, seconds: plan.seconds },
    followed: follower.take(),
    seen: await viewers.ask<ViewersSeen>("take"),
    after: await readStores(stack),
    counts: (await node.ask<NodeStats>("stats")).counts - counts,
  };
}

/** One in twenty is an operator, who hears of every server; the others are owners, each with one stream. */
function viewersOf({ viewers, servers }: Plan, stack: BenchStack): Viewer[] {
  const path = "/api/v1/me/events";
  const staff = Math.ceil(viewers * staffShare);
  const owners = Math.ceil(servers / serversPerOwner);
  return Array.from({ length: viewers }, (_, at) =>
    at < staff
      ? { path, headers: stack.owner.headers }
      : { path, headers: ownerOf(stack, (at * 31) % owners).headers },
  );
}
