import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ServerInfo } from "@svc/proto";
import { createRegistry, lastServersFile, readLastServers, saveLastServers } from "./registry.ts";

function server(name: string, change: Partial<ServerInfo> = {}): ServerInfo {
  const counts = { playersOnline: 0, playersMax: 20, idleStopSeconds: 600 };
  return { name, subdomain: `${name}-sub`, phase: "Stopped", ready: false, ...counts, ...change };
}

test("a refresh reports added, removed and changed servers", () => {
  const registry = createRegistry(undefined);
  assert.equal(registry.isKnown(), false);
  assert.deepEqual(registry.replace([server("a"), server("b")], 1), {
    added: ["a", "b"],
    removed: [],
    changed: [],
  });
  const moved = server("b", { endpointMode: "direct", endpointAddress: "127.1.0.2:25565" });
  assert.deepEqual(registry.replace([moved, server("c")], 2), {
    added: ["c"],
    removed: ["a"],
    changed: ["b"],
  });
  assert.equal(registry.bySubdomain("b-sub")?.endpointAddress, "127.1.0.2:25565");
  assert.equal(registry.bySubdomain("a-sub"), undefined);
  assert.equal(registry.refreshedAt(), 2);
});

test("an update of one server applies at once but restores no deleted one", () => {
  const registry = createRegistry([server("a")]);
  registry.note(server("a", { phase: "Starting" }));
  registry.note(server("gone"));
  assert.equal(registry.find("a")?.phase, "Starting");
  assert.equal(registry.find("gone"), undefined);
});

test("after a restart the last good list is used, a damaged one is not", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "svc-proxy-"));
  t.after(() => rmSync(dir, { recursive: true }));
  assert.equal(readLastServers(dir), undefined);
  await saveLastServers(dir, [server("a")]);
  assert.deepEqual(readLastServers(dir), [server("a")]);
  const registry = createRegistry(readLastServers(dir));
  assert.deepEqual([registry.isKnown(), registry.refreshedAt()], [true, undefined]);
  for (const damaged of ['[{"name":"a"', "{}", '[{"name":1}]', ""]) {
    writeFileSync(join(dir, lastServersFile), damaged);
    assert.equal(readLastServers(dir), undefined, damaged);
  }
});
