// NATS, PostgreSQL or the Kubernetes API server is killed and started again under load: how long callers go on to see
// errors once the dependency can answer again.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { wholeOnly } from "@svc/config/testing";
import { connectKube, resources } from "@svc/kube";
import { patience } from "@svc/local-stack/testing";
import pg from "pg";
import { type StackFixture, startStackFixture } from "../security/stack-fixture.ts";
import { isSuccess, type Load, startLoad } from "./load.ts";
import { parentOf, pidOf } from "./processes.ts";

const name = "steady";
const calmMs = 3_000;
const outageMs = 3_000;
/** How long load goes on after the dependency is back. */
const afterMs = 10_000;
/** The aim is 2 s; a slow machine must not fail the suite. */
const boundMs = 6_000;
const probeMs = 10;
const services = ["identity", "lifecycle", "storage", "builds", "ops-watchdog"];

type Probe = () => Promise<unknown>;

describe("a dependency that is restarted", wholeOnly, () => {
  let opened: StackFixture | undefined;
  const fixture = (): StackFixture => {
    assert.ok(opened, "the stack did not start");
    return opened;
  };
  before(async () => {
    const replicas = services.flatMap((service) => ["--replicas", `${service}=2`]);
    opened = await startStackFixture([...replicas, "--set", "gateway.session_cache=1ms"]);
    assert.equal((await opened.redeem()).status, 200);
    await opened.leaveSetup();
    const json = { name, subdomain: name, autostartPolicy: "public" };
    const created = await opened.asOwner({ method: "POST", path: "/api/v1/servers", json });
    assert.equal(created.status, 201, created.text);
  });
  after(() => opened?.stop());

  /** Kills the process, keeps it down for `outageMs`, and resolves once the probe succeeds again. */
  async function restart(process_: string, probe: Probe): Promise<{ downAt: number; upAt: number }> {
    const pid = pidOf(fixture().stack, process_);
    // The supervisor would start it again at once.
    const supervisor = parentOf(pid);
    process.kill(supervisor, "SIGSTOP");
    const downAt = performance.now();
    try {
      process.kill(pid, "SIGKILL");
      await delay(outageMs);
    } finally {
      process.kill(supervisor, "SIGCONT");
    }
    for (;;) {
      try {
        await probe();
        return { downAt, upAt: performance.now() };
      } catch {
        await delay(probeMs);
      }
    }
  }

  const probes: Record<string, Probe> = {
    nats: () => greetingOf(fixture().stack.file().nats_url),
    postgres: async () => {
      const client = new pg.Client({ connectionString: fixture().stack.file().database_url });
      client.on("error", () => {});
      await client.connect();
      await client.query("select 1").finally(() => client.end());
    },
    "local-cluster": async () => {
      const kube = connectKube({ kubeconfigFile: fixture().stack.file().kubeconfig });
      await kube.list(resources.namespaces, { timeoutMs: 1_000 });
    },
  };

  for (const [dependency, probe] of Object.entries(probes)) {
    test(`callers see no errors soon after ${dependency} is back`, async (context) => {
      await probe();
      const load = startLoad(fixture(), name, [
        (send) => {
          const json = { displayName: `Steady ${Date.now()}` };
          const path = `/api/v1/servers/${name}`;
          send("change", "rename", () => fixture().asOwner({ method: "PATCH", path, json }));
        },
      ]);
      let times: { downAt: number; upAt: number };
      try {
        await delay(calmMs);
        times = await restart(dependency, probe);
        await delay(afterMs);
      } finally {
        await load.end();
      }
      const figures = measure(load, times);
      for (const line of figures.lines) context.diagnostic(line);
      assert.equal(figures.errorsBefore, 0, "errors before the outage");
      assert.ok(figures.lastErrorMs <= boundMs * patience, `errors for ${figures.lastErrorMs} ms`);
    });
  }

  type Figures = { lines: string[]; errorsBefore: number; lastErrorMs: number };

  /** Errors by when they were answered, relative to the moment the dependency could answer again. */
  function measure(load: Load, { downAt, upAt }: { downAt: number; upAt: number }): Figures {
    const errors = load.outcomes.filter((one) => !isSuccess(one));
    const errorsBefore = errors.filter(({ sentAt, ms }) => sentAt + ms < downAt).length;
    const lastErrorMs = Math.round(Math.max(0, ...errors.map(({ sentAt, ms }) => sentAt + ms - upAt)));
    const lines = [
      `down for ${Math.round(upAt - downAt)} ms; ${errors.length} of ${load.outcomes.length} requests failed; ` +
        `the last error came ${lastErrorMs} ms after it was back`,
    ];
    for (const what of new Set(load.outcomes.map((one) => one.what))) {
      const own = errors.filter((one) => one.what === what);
      const sent = Math.round(Math.max(0, ...own.map(({ sentAt }) => sentAt - upAt)));
      const answered = Math.round(Math.max(0, ...own.map(({ sentAt, ms }) => sentAt + ms - upAt)));
      const statuses = [...new Set(own.map(({ status }) => status))].join(", ");
      lines.push(
        `${what}: ${own.length} errors (${statuses}); the last one was sent ${sent} ms and answered ${answered} ms after`,
      );
    }
    return { lines, errorsBefore, lastErrorMs };
  }
});

/** Resolves when the server sends its first line. */
function greetingOf(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) });
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed")));
    socket.once("data", () => {
      resolve();
      socket.destroy();
    });
  });
}
