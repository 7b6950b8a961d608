import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfig } from "./config.ts";

test("an empty environment means the documented numbers", () => {
  assert.deepEqual(loadConfig({}), {
    host: "127.0.0.1",
    port: 5_000,
    leasePort: 5_002,
    upstream: "http://127.0.0.1:5001",
    credentialsFile: "/etc/svc/registry/credentials",
    leaseFile: "/var/lib/svc/registry-gate/lease.json",
    pushFile: "/var/lib/svc/registry-gate/pushes.jsonl",
    quietMs: 120_000,
    leaseMs: 60_000,
    idleMs: 120_000,
    collect: {
      everyMs: 0,
      waitMs: 3_600_000,
      program: "docker-registry",
      programConfig: "/etc/docker/registry/config.yml",
      doneFile: "/var/lib/svc/registry-gate/collected",
    },
  });
});

test("a bad value stops the start with its name", () => {
  const load = () => loadConfig({ SVC_REGISTRY_GATE_UPSTREAM: "registry" });
  assert.throws(load, /SVC_REGISTRY_GATE_UPSTREAM must be a URL such as http:\/\/host:port/);
});
