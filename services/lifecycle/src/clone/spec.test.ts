import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MinecraftServer, type MinecraftServerSpec } from "@svc/proto";
import { cloneSpec, leftOutOf } from "./spec.ts";

const whole: Required<MinecraftServerSpec> = {
  subdomain: "play",
  image: "svc.local/demo-server:1.21.4",
  displayName: "Survival",
  description: "The old world",
  nodeName: "local-1",
  desiredState: "Running",
  autostartPolicy: "allowlist",
  fallbackServer: "login",
  jar: "server.jar",
  javaMemory: "1536M",
  javaFlags: ["-XX:+UseZGC"],
  args: ["--nogui"],
  env: [{ name: "TOKEN", value: "secret" }],
  onlineMode: true,
  motd: { running: "Come in" },
  rcon: { enabled: true, port: 25_575, secretRef: { name: "survival-rcon", key: "password" } },
  storage: { size: "8Gi", storageClassName: "fast", claimName: "world-survival-1" },
  resources: { limits: { memory: "2Gi" }, requests: { memory: "2Gi" } },
  lifecycle: { terminationGracePeriodSeconds: 60 },
  startup: { timeoutSeconds: 100 },
  idle: {
    autoStopEnabled: true,
    emptySecondsBeforeStop: 600,
    keptAwake: { since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" },
  },
  reaperExempt: true,
  tags: [{ name: "event", colour: "blue" }],
  restart: { afterCrash: "restart" },
};
const own = { name: "copy", subdomain: "copy-world", nodeName: "local-2" };

describe("what a clone takes over", () => {
  const made = cloneSpec(whole, own);

  test("its settings are the source's, its names are its own", () => {
    const { displayName: _, env: _e, reaperExempt: _r, ...settings } = whole;
    assert.deepEqual(made, {
      ...settings,
      ...{ subdomain: "copy-world", nodeName: "local-2", desiredState: "Stopped" },
      rcon: { enabled: true, port: 25_575, secretRef: { name: "copy-rcon", key: "password" } },
      storage: { size: "8Gi", storageClassName: "fast" },
      idle: { autoStopEnabled: true, emptySecondsBeforeStop: 600 },
    });
  });

  test("nothing in it names the world, the password or a secret of the source", () => {
    assert.doesNotMatch(JSON.stringify(made), /survival|TOKEN|secret"/i);
  });

  test("what it does without is named", () => {
    assert.deepEqual(leftOutOf(whole), ["env", "reaperExempt"]);
    assert.deepEqual(leftOutOf({ subdomain: "a", image: "b", env: [] }), []);
  });

  test("a source that sets nothing gives a clone that sets nothing", () => {
    const bare = { subdomain: "a", image: "b" };
    const { nodeName: _, ...names } = own;
    assert.deepEqual(cloneSpec(bare, names), {
      subdomain: "copy-world",
      image: "b",
      desiredState: "Stopped",
    });
  });

  test("a display name is given to it", () => {
    assert.equal(cloneSpec(whole, { ...own, displayName: "Copy" }).displayName, "Copy");
  });

  test("every field of a server was decided about", () => {
    assert.deepEqual(Object.keys(whole).sort(), Object.keys(MinecraftServer.spec.shape).sort());
  });
});
