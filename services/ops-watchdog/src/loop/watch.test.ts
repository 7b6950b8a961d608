import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { testProgram } from "@svc/config/test-program";
import { until } from "@svc/local-stack/testing";
import type { TestDatabase } from "@svc/store/testing";
import { createLogger } from "@svc/telemetry";
import type { Command } from "../host/command.ts";
import { createWatchdogDatabase } from "../testing/fixture.ts";
import { startWatchLoop, watchOnce } from "./watch.ts";

const log = createLogger("test", "silent");

describe("the loop", () => {
  let database: TestDatabase;
  before(async () => {
    database = await createWatchdogDatabase();
  });
  after(() => database?.drop());
  const start = (databaseUrl: string, asked: Command["do"][]) =>
    startWatchLoop({
      ...{ settings: { watch_every: 20, watch_first: 0 }, databaseUrl, log },
      run: async (command) => void asked.push(command.do),
    });

  test("runs on one replica at a time, and on the next when that one ends", async () => {
    const [one, two]: [Command["do"][], Command["do"][]] = [[], []];
    const first = start(database.url, one);
    await until(() => one.length > 0);
    const second = start(database.url, two);
    const seen = one.length;
    await until(() => one.length > seen + 5);
    assert.deepEqual(two, []);
    await first.close();
    await until(() => two.length > 0);
    await second.close();
  });

  test("runs on every replica without a database", async () => {
    const asked: Command["do"][] = [];
    const loops = [1, 2].map(() => start("postgres://x:y@127.0.0.1:1/x", asked));
    await until(() => asked.length > 4);
    await Promise.all(loops.map((loop) => loop.close()));
  });

  test("records a run that fails with its reason, and looks at nothing then", async () => {
    const asked: Command[] = [];
    await watchOnce(
      {
        log,
        run: async (command) => {
          asked.push(command);
          if (command.do === "watch") throw new Error("it crashed");
        },
      },
      new AbortController().signal,
    );
    assert.deepEqual(asked, [
      { do: "watch", dry_run: false },
      { do: "record-failed-watch", reason: "it crashed" },
    ]);
  });
});

test("ops-watchdog that starts without PostgreSQL and NATS lives, is not ready, and watches", async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-watch-"));
  const set = ["ops_watchdog.watch_first=0s", `ops_watchdog.state_dir=${join(dir, "state")}`];
  const child = spawn(process.execPath, [testProgram(join(import.meta.dirname, "../main.ts"))], {
    env: {
      ...process.env,
      SVC_SET: [...set, `ops_watchdog.bundle_dir=${join(dir, "bundles")}`].join("\n"),
      SVC_NATS_URL: "nats://127.0.0.1:1",
      SVC_DATABASE_URL: "postgres://x:y@127.0.0.1:1/x",
      SVC_KUBECONFIG: join(dir, "none"),
      SVC_HEALTH_PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    let port: number | undefined;
    createInterface({ input: child.stdout }).on("line", (line) => {
      port ??= (JSON.parse(line) as { health_port?: number }).health_port;
    });
    await until(() => port !== undefined);
    const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    assert.deepEqual([await statusOf("/healthz"), await statusOf("/readyz")], [200, 503]);
    const file = join(dir, "state", "state.json");
    await until(() => existsSync(file), 60_000);
    const { alerts } = JSON.parse(readFileSync(file, "utf8")) as { alerts: Record<string, unknown> };
    assert.deepEqual(
      Object.keys(alerts).filter((key) => /^(nats|postgresql)$/.test(key)),
      ["nats", "postgresql"],
    );
  } finally {
    child.kill("SIGKILL");
    await until(() => child.exitCode !== null || child.signalCode !== null);
    rmSync(dir, { recursive: true, force: true });
  }
});
