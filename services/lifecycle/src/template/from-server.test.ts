import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MinecraftServer, type MinecraftServerSpec, serverTemplates } from "@svc/proto";
import { cloneSpec } from "../clone/spec.ts";
import { newSpec, withTemplate } from "../server/new-spec.ts";
import { settingsOf } from "./from-server.ts";
import { readTemplate } from "./input.ts";

const digest = `sha256:${"a".repeat(64)}`;
const whole: Required<MinecraftServerSpec> = {
  subdomain: "play",
  image: `svc.local/demo-server:1.21.4@${digest}`,
  displayName: "Survival",
  description: "The old world",
  nodeName: "local-1",
  desiredState: "Running",
  autostartPolicy: "allowlist",
  fallbackServer: "login",
  jar: "server.jar",
  javaMemory: "3072M",
  javaFlags: ["-XX:+UseZGC"],
  args: ["--nogui"],
  env: [{ name: "TOKEN", value: "secret" }],
  onlineMode: true,
  motd: { running: "Come in", failed: "Broken" },
  rcon: { enabled: true, port: 25_575, secretRef: { name: "survival-rcon", key: "password" } },
  storage: { size: "9Gi", storageClassName: "fast", claimName: "world-survival-1" },
  resources: { limits: { memory: "4Gi", cpu: "2" }, requests: { memory: "3Gi", cpu: "1" } },
  lifecycle: { terminationGracePeriodSeconds: 60 },
  startup: { timeoutSeconds: 100, healthHTTPPath: "/healthz" },
  idle: {
    autoStopEnabled: true,
    emptySecondsBeforeStop: 900,
    keptAwake: { since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" },
  },
  reaperExempt: true,
  tags: [{ name: "event", colour: "blue" }],
  restart: { afterCrash: "stop", silentMinutes: 20 },
};
const platform = {
  default_image: "svc.local/demo-server:1.21.4",
  default_memory: "2Gi",
  default_storage: "8Gi",
  idle_default: 600_000,
  heap_reserve_min: 512 * 2 ** 20,
};
const named = { name: "other", subdomain: "other" };
const serverOf = (template: serverTemplates.TemplateSettings) => {
  const made = newSpec(platform, withTemplate(named, template), template);
  assert.equal(made.kind, "fine");
  return made.kind === "fine" ? made.spec : undefined;
};

describe("a template that is made from a server", () => {
  test("gives servers that a clone would be, with the tag in place of the digest", () => {
    const { jar: _, ...clone } = cloneSpec(whole, named);
    assert.deepEqual(serverOf(settingsOf(whole)), { ...clone, image: "svc.local/demo-server:1.21.4" });
  });

  test("names neither the world, nor the password or a variable of the server", () => {
    assert.doesNotMatch(JSON.stringify(settingsOf(whole)), /survival|TOKEN|secret|play|local-1/i);
  });

  test("is one that can be saved as it is, by all that a template may say", () => {
    const settings = serverTemplates.TemplateSettings.parse(settingsOf(whole));
    const texts = { name: "event", title: "", description: "", offered: false };
    const read = readTemplate({ ...texts, settings }, platform);
    assert.deepEqual(read, { kind: "read", written: { ...texts, title: "event", settings } });
  });

  test("of a server that sets nothing says that it does not stop, and nothing else but the image", () => {
    const bare = { subdomain: "a", image: "b" };
    assert.deepEqual(settingsOf(bare), { image: "b", idleStopSeconds: 0 });
    assert.deepEqual(settingsOf({ ...bare, idle: { autoStopEnabled: true, emptySecondsBeforeStop: 5 } }), {
      ...{ image: "b", idleStopSeconds: 60 },
    });
  });

  test("every field of a server was decided about", () => {
    assert.deepEqual(Object.keys(whole).sort(), Object.keys(MinecraftServer.spec.shape).sort());
  });
});

describe("what a creation asks for", () => {
  const template = settingsOf(whole);
  test("comes before the template's, setting by setting", () => {
    const asked = { ...named, memory: "1Gi", autostartPolicy: "public" as const, resources: { cpu: "1" } };
    const made = newSpec(platform, withTemplate(asked, template), template);
    const spec = made.kind === "fine" ? made.spec : undefined;
    assert.deepEqual(
      [spec?.resources, spec?.autostartPolicy, spec?.storage?.size, spec?.javaMemory],
      [
        { limits: { memory: "1Gi", cpu: "1" }, requests: { memory: "1Gi", cpu: "1" } },
        ...["public", "9Gi", "512M"],
      ],
    );
  });
  test("is the platform's where neither says anything", () => {
    assert.deepEqual(serverOf({}), serverOf({ resources: {} }));
    assert.equal(serverOf({})?.storage?.size, "8Gi");
  });
});
