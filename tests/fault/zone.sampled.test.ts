// An installation with two replicas of every service, two proxies and three servers of NATS loses one process after the other
// and then a whole zone, under load (docs/performance.md, G27).

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isWhole, wholeOnly } from "@svc/config/testing";
import { patience, until } from "@svc/local-stack/testing";
import { type Visitor, visit } from "../flow/visitor.ts";
import { type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { behindBalancer } from "./balancer.ts";
import { assertChanges, outcomesOf, tell, timesOf } from "./figures.ts";
import { isSuccess, type Load, startLoad } from "./load.ts";
import { findPid } from "./processes.ts";

const name = "steady";
const twofold = [
  ...["identity", "lifecycle", "storage", "builds", "ops-watchdog"],
  ...["gateway-internal", "gateway-external", "proxy"],
];
const natsServers = ["nats", "nats-2", "nats-3"];
const zone = [...twofold.map((service) => `${service}-2`), "nats-2"];
/** How long load goes on before and after, and how long a zone is away. */
const calmMs = isWhole ? 3_000 : 1_500;
const downMs = isWhole ? 10_000 : 4_000;
const limits = { readMs: 1_500, changeMs: 3_000 };

const span = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe("an installation of two zones", () => {
  let opened: StackFixture | undefined;
  let balanced: StackFixture | undefined;
  const fixture = (): StackFixture => {
    assert.ok(balanced, "the stack did not start");
    return balanced;
  };
  before(async () => {
    const replicas = [...twofold.map((service) => `${service}=2`), "nats=3"];
    opened = await startStackFixture([
      ...["--only", [...twofold, "login-gate", "lobby"].join(",")],
      ...replicas.flatMap((one) => ["--replicas", one]),
      ...["--set", "gateway.session_cache=1ms"],
    ]);
    balanced = behindBalancer(opened);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    const json = { name, subdomain: name, autostartPolicy: "public" };
    const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(created.status, 201, created.text);
  });
  after(() => opened?.stop());

  /** Load around a fault. Ends with everything answered. */
  async function under(fault: () => Promise<void>): Promise<Load> {
    const load = startLoad(fixture(), name);
    try {
      await span(calmMs);
      await fault();
      await span(calmMs);
    } finally {
      await load.end();
    }
    return load;
  }

  /** Kills the processes, and again whenever the stack has started one, until the time is over. Returns when all are back. */
  async function keepDown(names: readonly string[], forMs: number): Promise<void> {
    const { stack } = fixture();
    const end = performance.now() + forMs;
    const killed = new Set<number>();
    do {
      for (const one of names) {
        const pid = findPid(stack, one);
        if (pid === undefined || killed.has(pid)) continue;
        process.kill(pid, "SIGKILL");
        killed.add(pid);
      }
      await span(50);
    } while (performance.now() < end);
    const isBack = (one: string) => !killed.has(findPid(stack, one) ?? [...killed][0] ?? 0);
    await until(() => names.every(isBack), 60_000, `${names} to be back`);
  }

  /** Changes in flight at a gateway that dies have no answer; everything else has one, and nothing is lost or doubled. */
  async function assertServed(load: Load, losesGateway: boolean): Promise<void> {
    const failed = load.outcomes.filter((one) => !isSuccess(one));
    const isCut = ({ kind, status }: (typeof failed)[number]) =>
      losesGateway && kind === "change" && status === 0;
    assert.deepEqual(
      failed.filter((one) => !isCut(one)),
      [],
    );
    await assertChanges(fixture(), load, name);
    if (!isWhole) return;
    assert.ok(timesOf(outcomesOf(load, "read")).max <= limits.readMs * patience);
    assert.ok(timesOf(outcomesOf(load, "change")).p99 <= limits.changeMs * patience);
  }

  for (const victim of [...natsServers, ...twofold.map((service) => `${service}-2`)]) {
    test(
      `${victim} is killed: every request is answered, no change is lost or doubled`,
      wholeOnly,
      async (context) => {
        const load = await under(() => keepDown([victim], 0));
        tell((line) => context.diagnostic(line), load);
        await assertServed(load, victim.startsWith("gateway"));
      },
    );
  }

  test("zone-2 is killed: every read is answered, no change is lost or doubled, and players stay", async (context) => {
    const { stack } = fixture();
    const visitors: Visitor[] = [];
    try {
      visitors.push(await visit(stack, "stays", stack.file().root_domain));
      const load = await under(async () => {
        const away = keepDown(zone, downMs);
        visitors.push(await visit(stack, "comes", stack.file().root_domain));
        await away;
      });
      tell((line) => context.diagnostic(line), load);
      await assertServed(load, true);
      for (const visitor of visitors) await visitor.hears(/enter this code/);
    } finally {
      await Promise.allSettled(visitors.map(({ leave }) => leave()));
    }
  });
});
