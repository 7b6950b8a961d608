import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { startHealthServer } from "./health-server.ts";
import { createRegistry } from "./metrics.ts";

async function withHealth(missing: string | undefined, use: (base: string) => Promise<void>): Promise<void> {
  const server = await startHealthServer({
    host: "127.0.0.1",
    port: 0,
    registry: createRegistry("storage", "1.2.3"),
    isReady: async () => missing,
  });
  await use(`http://127.0.0.1:${server.port}`).finally(server.close);
}

test("a process is healthy while it runs and says what is missing when it is not ready", async () => {
  await withHealth("the database does not answer", async (base) => {
    assert.equal((await fetch(`${base}/healthz`)).status, 200);
    const ready = await fetch(`${base}/readyz`);
    assert.equal(ready.status, 503);
    assert.deepEqual(await ready.json(), { status: "not ready", reason: "the database does not answer" });
    assert.equal((await fetch(`${base}/other`)).status, 404);
  });
});

test("a stuck process is not healthy and says why", async () => {
  const registry = createRegistry("storage", "1.2.3");
  let stuck: string | undefined;
  const isReady = async () => undefined;
  const server = await startHealthServer({
    host: "127.0.0.1",
    port: 0,
    registry,
    isReady,
    isStuck: () => stuck,
  });
  const ask = () => fetch(`http://127.0.0.1:${server.port}/healthz`);
  try {
    assert.equal((await ask()).status, 200);
    stuck = "a pass over a server takes 601 s";
    const answer = await ask();
    assert.equal(answer.status, 503);
    assert.deepEqual(await answer.json(), { status: "stuck", reason: stuck });
  } finally {
    await server.close();
  }
});

test("metrics name the build that runs", async () => {
  await withHealth(undefined, async (base) => {
    assert.equal((await fetch(`${base}/readyz`)).status, 200);
    const text = await (await fetch(`${base}/metrics`)).text();
    assert.match(text, /^svc_build_info\{component="storage",version="1\.2\.3"\} 1$/m);
    assert.match(text, /^process_resident_memory_bytes /m);
    assert.match(text, /^nodejs_eventloop_utilization_ratio /m);
  });
});

test("secrets never reach a log line and an entry is one line of JSON", () => {
  const script = `
    const { createLogger } = await import(${JSON.stringify(new URL("./log.ts", import.meta.url).href)});
    createLogger("identity").info({ code: "123456", mail: { token: "t0psecret" }, name: "a\\nb" }, "signed in");
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  assert.equal(stdout.trim().split("\n").length, 1);
  const line = JSON.parse(stdout) as Record<string, unknown>;
  assert.deepEqual(line["code"], "[hidden]");
  assert.deepEqual(line["mail"], { token: "[hidden]" });
  assert.equal(line["level"], "info");
  assert.equal(line["service"], "identity");
});

test("lines are written at the end of each turn without waiting for the disk, also when the process exits", () => {
  const script = `
    import fs from "node:fs";
    let synced = 0;
    fs.fsyncSync = () => void (synced += 1);
    const { createLogger } = await import(${JSON.stringify(new URL("./log.ts", import.meta.url).href)});
    const log = createLogger("identity");
    for (let turn = 0; turn < 3; turn += 1) {
      log.info({ turn }, "one");
      log.info({ turn }, "two");
      await new Promise((resolve) => setImmediate(resolve));
    }
    log.info({ synced }, "end");
    process.exit();
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { turn?: number; synced?: number });
  assert.deepEqual(
    lines.map(({ turn }) => turn),
    [0, 0, 1, 1, 2, 2, undefined],
  );
  assert.equal(lines.at(-1)?.synced, 0);
});
