import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ClusterApi } from "../cluster-api.ts";
import type { Container, Pod } from "../controllers/objects.ts";
import { CONFIG_MAPS, SECRETS } from "../controllers/refs.ts";
import { fieldOf, type PodFacts, resolveEnvironment } from "./environment.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const objects: Record<string, object> = {
  token: { data: { token: base64("s3cret"), other: base64("o") } },
  settings: { data: { MODE: "survival" }, binaryData: { BYTES: base64("b") } },
};
const kinds: Record<string, unknown> = { token: SECRETS, settings: CONFIG_MAPS };
/** Finds each object as its own kind, in its own namespace. */
const api = {
  find: (ref: unknown, name: string, namespace?: string) =>
    kinds[name] === ref && namespace === "games" ? objects[name] : undefined,
} as unknown as ClusterApi;

const metadata = {
  ...{ name: "p", namespace: "games", uid: "u-1" },
  labels: { app: "demo" },
  annotations: { "svc.io/note": 'a "b"' },
};
const facts: PodFacts = {
  pod: { metadata, spec: { nodeName: "local-1", containers: [] } } as unknown as Pod,
  podIP: "127.64.0.1",
  hostIP: "127.0.0.1",
};
const resolve = (container: Partial<Container>) =>
  resolveEnvironment(api, facts, { name: "main", image: "demo:1", ...container });
const secret = (about: object) =>
  ({ env: [{ name: "A", valueFrom: { secretKeyRef: about } }] }) as Partial<Container>;

describe("the environment of a container", () => {
  test("refers to what stands before it, and to nothing after it", async () => {
    const env = [
      { name: "HOST", value: "a" },
      { name: "URL", value: "http://$(HOST):$(PORT)" },
      { name: "PORT", value: "80" },
    ];
    assert.equal((await resolve({ env }))["URL"], "http://a:$(PORT)");
  });

  test("takes all entries of a Secret or ConfigMap with a prefix, and its own entries before those", async () => {
    const env = await resolve({
      envFrom: [{ prefix: "T_", secretRef: { name: "token" } }, { configMapRef: { name: "settings" } }],
      env: [{ name: "MODE", value: "creative" }],
    });
    assert.deepEqual(env, { T_token: "s3cret", T_other: "o", MODE: "creative", BYTES: "b" });
  });

  test("takes one key of a Secret", async () => {
    assert.deepEqual(await resolve(secret({ name: "token", key: "token" })), { A: "s3cret" });
  });

  test("leaves out what is optional and missing", async () => {
    assert.deepEqual(await resolve(secret({ name: "none", key: "token", optional: true })), {});
    assert.deepEqual(await resolve({ envFrom: [{ secretRef: { name: "none", optional: true } }] }), {});
  });

  const refused: [fact: string, container: Partial<Container>, message: RegExp][] = [
    ["a missing Secret", secret({ name: "none", key: "token" }), /^secret "none" not found$/],
    ["a missing key", secret({ name: "token", key: "x" }), /^couldn't find key x in secret games\/token$/],
    ["a ConfigMap as a Secret", secret({ name: "settings", key: "MODE" }), /^secret "settings" not found$/],
    [
      "a missing ConfigMap",
      { envFrom: [{ configMapRef: { name: "none" } }] },
      /^configmap "none" not found$/,
    ],
    [
      "a source that is not supported",
      { env: [{ name: "A", valueFrom: { resourceFieldRef: {} } as never }] },
      /names no supported source/,
    ],
  ];
  for (const [fact, container, message] of refused)
    test(`cannot be made of ${fact}`, () =>
      assert.rejects(resolve(container), { name: "ContainerConfigError", message }));
});

describe("a field of a pod", () => {
  const table: [path: string, value: string][] = [
    ["metadata.name", "p"],
    ["metadata.uid", "u-1"],
    ["metadata.labels['app']", "demo"],
    ["metadata.labels['none']", ""],
    ["metadata.annotations", 'svc.io/note="a \\"b\\""'],
    ["spec.nodeName", "local-1"],
    ["spec.serviceAccountName", "default"],
    ["status.podIP", "127.64.0.1"],
    ["status.hostIP", "127.0.0.1"],
  ];
  for (const [path, value] of table) test(path, () => assert.equal(fieldOf(facts, path), value));

  test("that is not known is refused by its name", () => {
    assert.throws(() => fieldOf(facts, "spec.secret"), /field path "spec\.secret" is not supported/);
  });
});
