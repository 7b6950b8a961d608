// Two replicas of a service share its work; one of them is killed under load (docs/reference/data.md#database, docs/reference/data.md#leases).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { isWhole } from "@svc/config/testing";
import { connectKube, resources } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { type RawResponse, sendRequest } from "../security/raw-request.ts";
import { player, type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { pidOf } from "./processes.ts";

const name = "twofold";
const server = `/api/v1/internal/servers/${name}`;
/** All work goes on this long after a kill at the latest. */
const recoveryMs = 5_000;
const doubled = ["lifecycle", "identity", "gateway-internal"];

describe("two replicas of a service", { skip: isWhole ? false : "runs with npm test -- --whole" }, () => {
  let opened: StackFixture | undefined;
  const fixture = (): StackFixture => {
    assert.ok(opened, "the stack did not start");
    return opened;
  };
  before(async () => {
    const replicas = doubled.flatMap((service) => ["--replicas", `${service}=2`]);
    const settings = ["gateway.session_cache=1ms", "lifecycle.wake_cooldown=0s", "lifecycle.stop_notice=0s"];
    // A leader that died is followed after the span of its lease.
    settings.push("lifecycle.lease_duration=4s", "lifecycle.lease_renew=1s");
    opened = await startStackFixture([...replicas, ...settings.flatMap((setting) => ["--set", setting])]);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    const json = { name, subdomain: name, autostartPolicy: "public" };
    const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(created.status, 201, created.text);
    await phaseBecomes("Stopped");
  });
  after(() => opened?.stop());

  type Info = { phase: string; ready: boolean };

  async function phaseBecomes(phase: string): Promise<void> {
    await until(
      async () => {
        const reply = await fixture().asProxy({ path: `${server}/status` });
        return reply.status === 200 && (JSON.parse(reply.text) as Info).phase === phase;
      },
      60_000,
      `${name} to be ${phase}`,
    );
  }

  type Outcome = { at: number; what: string; result: number | string };

  type Caller = { what: string; ask: () => Promise<RawResponse> };

  /** Port of a process of the stack; stack.json tells that of the first gateway alone. */
  function portOf(process: string): number {
    const ports: unknown = JSON.parse(readFileSync(join(fixture().stack.dataDir, "ports.json"), "utf8"));
    const port = (ports as Record<string, number>)[process];
    assert.ok(port, `ports.json names no ${process}`);
    return port;
  }

  function callersOf(): Caller[] {
    const { asProxy, asOwner, stack } = fixture();
    const authorization = `Bearer ${stack.file().tokens.velocity}`;
    const joined = { method: "POST", path: `${server}/join-event`, json: { mc_uuid: player } };
    const second = portOf("gateway-internal-2");
    return [
      { what: "join", ask: () => asProxy(joined) },
      { what: "status", ask: () => asProxy({ path: `${server}/status` }) },
      {
        what: "join-2",
        ask: () => sendRequest(second, { ...joined, headers: { host: "proxy", authorization } }),
      },
      { what: "me", ask: () => asOwner({ path: "/api/v1/me" }) },
      { what: "fleet", ask: () => asOwner({ path: "/api/v1/fleet" }) },
    ];
  }

  /** Each caller asks the same thing again and again until `end`. */
  function startLoad(callers: readonly Caller[]): { outcomes: Outcome[]; end: () => Promise<void> } {
    const outcomes: Outcome[] = [];
    let isOver = false;
    const call = async ({ what, ask: send }: Caller) => {
      while (!isOver) {
        const at = Date.now();
        const result = await send().then(
          (reply) => reply.status,
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        outcomes.push({ at, what, result });
        // A caller that is refused waits a little, as any client does.
        if (result !== 200 && result !== 204) await new Promise((wake) => setTimeout(wake, 100));
      }
    };
    const running = callers.map(call);
    return {
      outcomes,
      end: async () => {
        isOver = true;
        await Promise.all(running);
      },
    };
  }

  const isWell = ({ result }: Outcome) => result === 200 || result === 204;

  /** Load, a kill in the middle of it, load again. Returns what failed, with milliseconds since the kill. */
  async function killUnderLoad(victim: string): Promise<Outcome[]> {
    const callers = callersOf();
    const load = startLoad(callers);
    const served = (since: number) =>
      until(
        () =>
          callers.every(({ what }) => {
            const own = load.outcomes.filter((one) => one.what === what && one.at >= since);
            return own.filter(isWell).length >= 20;
          }),
        30_000,
        "20 answers to each caller",
      );
    try {
      await served(0);
      const pid = pidOf(fixture().stack, victim);
      const killedAt = Date.now();
      process.kill(pid, "SIGKILL");
      await until(() => pidOf(fixture().stack, victim) !== pid, 30_000, `${victim} to be started again`);
      await served(Date.now());
      return load.outcomes.filter((one) => !isWell(one)).map((one) => ({ ...one, at: one.at - killedAt }));
    } finally {
      await load.end();
    }
  }

  function assertBrief(failed: readonly Outcome[], isAllowed: (one: Outcome) => boolean): void {
    const received = failed.map(({ at, what, result }) => `${what} ${result} at ${at} ms`).join("\n");
    assert.ok(failed.every(isAllowed), received);
    assert.ok(
      failed.every(({ at }) => at < recoveryMs),
      received,
    );
  }

  for (const victim of ["identity", "lifecycle-2"]) {
    test(`callers see at most a brief 503 when ${victim} is killed`, async () => {
      assertBrief(await killUnderLoad(victim), ({ result }) => result === 503);
    });
  }

  test("when a gateway is killed only its own callers are cut off, and only until it is back", async () => {
    const cut: Outcome["result"][] = ["ECONNRESET", "ECONNREFUSED", "EPIPE", 503];
    assertBrief(
      await killUnderLoad("gateway-internal-2"),
      ({ what, result }) => what === "join-2" && cut.includes(result),
    );
  });

  /** The replica that holds the lease; its identity ends in its pid and a random part. */
  async function leaderPid(): Promise<number> {
    const kube = connectKube({ kubeconfigFile: fixture().stack.file().kubeconfig });
    try {
      const { items } = await kube.list(resources.leases, {});
      const holder = items.find(({ metadata }) => metadata.name === "lifecycle-reconciler")?.spec
        ?.holderIdentity;
      return Number(/-(\d+)-[0-9a-f]{8}$/.exec(holder ?? "")?.[1]);
    } finally {
      kube.close();
    }
  }

  /** The living replica that leads; after a kill the lease of the one before has to run out first. */
  async function livingLeader(): Promise<number> {
    let leader = 0;
    await until(
      async () => {
        leader = await leaderPid();
        return ["lifecycle", "lifecycle-2"].some((one) => pidOf(fixture().stack, one) === leader);
      },
      30_000,
      "a living replica to lead",
    );
    return leader;
  }

  test("who changes a server finds the change in the next page, although leaders die in between", async () => {
    const path = `/api/v1/servers/${name}`;
    const page = () => fixture().asOwner({ path: "/api/v1/fleet?limit=5" });
    let changes = 0;
    const changeAndRead = async () => {
      changes += 1;
      const displayName = `Change ${changes}`;
      const changed = await fixture().asOwner({ method: "PATCH", path, json: { displayName } });
      if (changed.status !== 200) return assert.equal(changed.status, 503, changed.text);
      // What a dead leader had not written yet comes from the other replica, which hears of it from the cluster.
      const isSeen = async () => (await page()).text.includes(`"${displayName}"`);
      await until(isSeen, 2_000, `${displayName} in a page`);
    };
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 10; count++) await changeAndRead();
      const leader = await livingLeader();
      const changing = changeAndRead();
      process.kill(leader, "SIGKILL");
      await changing;
      const endAt = Date.now() + recoveryMs;
      while (Date.now() < endAt) await changeAndRead();
    }
  });

  test("one leader reconciles: each phase of a server happens once although a leader dies", async () => {
    const wake = { method: "POST", path: `${server}/wake`, json: { mc_uuid: player } };
    await until(
      async () => (await fixture().asProxy(wake)).status === 202,
      30_000,
      "the wake to be accepted",
    );
    const leader = await livingLeader();
    process.kill(leader, "SIGKILL");
    await phaseBecomes("Running");
    const stop = { method: "POST", path: `/api/v1/servers/${name}/stop` };
    await until(
      async () => (await fixture().asOwner(stop)).status === 202,
      30_000,
      "the stop to be accepted",
    );
    await phaseBecomes("Stopped");
    const subject = `svc.evt.lifecycle.server.phase-changed.${name}`;
    const events = await fixture().stack.svc("events", subject, "--since", "1h", "--no-follow", "--json");
    assert.equal(events.code, 0, events.stderr);
    const changes = events.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { data: { to: string } }).data.to);
    assert.deepEqual(changes.slice(changes.indexOf("Starting")), [
      "Starting",
      "Running",
      "Stopping",
      "Stopped",
    ]);
  });
});
