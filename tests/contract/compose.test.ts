// compose.yaml as facts: what each container may do, uses and publishes (docs/reference/compose.md).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { services } from "@svc/proto";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { readCompose } from "../containers/compose-file.ts";

type Service = {
  image: string;
  build?: object;
  command?: string[];
  user?: string;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  privileged?: boolean;
  read_only?: boolean;
  tmpfs?: string[];
  pids_limit?: number;
  mem_limit?: string;
  restart?: string;
  network_mode?: string;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test: string[]; interval?: string; retries?: number };
  logging?: { options?: Record<string, string> };
};

const compose = readCompose<Service>();
const all = Object.entries(compose.services);

const bytesOf = (text: string): number => {
  const [, count = "", unit = ""] = /^(\d+)(Mi|Gi|m|g)$/.exec(text) ?? [];
  assert.ok(unit, text);
  return Number(count) * (unit.toLowerCase().startsWith("g") ? 2 ** 30 : 2 ** 20);
};
const sizeOf = (tmpfs: string) => bytesOf(/[:,]size=([^,]+)/.exec(tmpfs)?.[1] ?? tmpfs);

describe("every container of compose.yaml", () => {
  const rules: Record<string, (service: Service) => boolean> = {
    "runs as an account that is not root": ({ user }) => /^[1-9]\d*:[1-9]\d*$/.test(user ?? ""),
    "has no capabilities and cannot get any": (one) =>
      one.cap_drop?.join() === "ALL" &&
      one.cap_add === undefined &&
      one.privileged === undefined &&
      one.security_opt?.join() === "no-new-privileges:true",
    "has a read-only root, and folders in memory of a limited size": ({ read_only, tmpfs = [] }) =>
      read_only === true && tmpfs.length > 0 && tmpfs.every((one) => sizeOf(one) > 0),
    "has a limit of memory and of processes": (one) =>
      bytesOf(one.mem_limit ?? "") > 0 && (one.pids_limit ?? 0) > 0,
    "rotates its log": ({ logging }) => logging?.options?.["max-size"] === "10m",
  };
  for (const [fact, holds] of Object.entries(rules))
    test(fact, () => {
      assert.deepEqual(
        all.filter(([, service]) => !holds(service)).map(([name]) => name),
        [],
      );
    });

  test("has a health check while it stays, but for the one that only holds the network", () => {
    const staying = all.filter(([, { restart }]) => restart === "unless-stopped");
    const without = staying.filter(([, { healthcheck }]) => healthcheck === undefined);
    assert.deepEqual(
      without.map(([name]) => name),
      ["network"],
    );
    for (const [name, { healthcheck }] of staying)
      assert.ok(healthcheck === undefined || (healthcheck.interval && healthcheck.retries), name);
  });

  test("shares the network of the one that holds it, or has none", () => {
    const found = Object.groupBy(all, ([, { network_mode: mode = "own" }]) => mode);
    const names = (mode: string) => (found[mode] ?? []).map(([name]) => name);
    assert.deepEqual(names("own"), ["network"]);
    assert.deepEqual(names("none"), ["config"]);
    assert.equal(names("service:network").length, all.length - 2);
  });

  test("keeps its network through a release: what holds it has an image that svc does not build", () => {
    const { image, build } = compose.services["network"] ?? {};
    assert.deepEqual([image, build], [compose.services["nats"]?.image, undefined]);
  });
});

test("compose.yaml publishes the panel, the mails, Minecraft and SFTP, on loopback alone", () => {
  const published = all.flatMap(([, { ports = [] }]) => ports);
  const ports = ["8080:8080", "8025:8025", "25565:25577", "2222:2222"];
  assert.deepEqual(
    published,
    ports.map((port) => `127.0.0.1:${port}`),
  );
});

test("secrets of compose.yaml are written by one container, mounted read-only by others, and not by game servers", () => {
  const mounts = (volume: string) =>
    all.flatMap(([name, { volumes = [] }]) =>
      volumes
        .filter((one) => one.startsWith(`${volume}:`))
        .map((one) => `${name} ${one.slice(volume.length + 1)}`),
    );
  const config = mounts("config");
  assert.deepEqual(
    config.filter((one) => !one.endsWith(":ro")),
    ["config /config"],
  );
  for (const name of ["network", "cluster", "mail", "announce"])
    assert.ok(!config.some((one) => one.startsWith(`${name} `)), name);
  assert.deepEqual(mounts("cluster"), ["config /config/cluster", "cluster /config/cluster:ro"]);
});

test("compose.yaml gives every service the memory that a cluster gives it, beside its folders in memory", () => {
  const values = readValues();
  const limits = new Map<string, string>([
    ["gateway-internal", values.gatewayInternal.resources.memoryLimit],
    ["gateway-external", values.gatewayExternal.resources.memoryLimit],
    ["lifecycle", values.lifecycle.resources.memoryLimit],
    ["storage", values.storage.resources.memoryLimit],
    ["builds", values.builds.resources.memoryLimit],
    ["identity", values.identity.resources.memoryLimit],
    ["ops-watchdog", values.opsWatchdog.resources.memoryLimit],
    ["proxy", values.proxy.resources.memoryLimit],
    ["login-gate", values.loginGate.resources.memoryLimit],
    ["lobby", values.lobby.resources.memoryLimit],
    ["sftp", values.sftp.resources.memoryLimit],
  ]);
  for (const name of services) assert.ok(limits.has(name), name);
  for (const [name, limit] of limits) {
    const { mem_limit = "", tmpfs = [] } = compose.services[name] ?? {};
    const inMemory = tmpfs.map(sizeOf).reduce((sum, size) => sum + size, 0);
    assert.equal(bytesOf(mem_limit), bytesOf(limit) + inMemory, name);
  }
});
