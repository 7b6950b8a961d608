// compose.yaml and the files it mounts name exactly the services there are, and nats-server takes its configuration.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { defaultCacheDirs, findNatsServer } from "@svc/local-stack";
import { services } from "@svc/proto";
import { parse } from "yaml";
import { runSvc } from "../flow/stack.ts";

const root = resolve(import.meta.dirname, "../..");
const out = mkdtempSync(join(tmpdir(), "svc-compose-"));
type Compose = { services: Record<string, { command?: string[] }> };
const compose = parse(readFileSync(join(root, "compose.yaml"), "utf8"), { merge: true }) as Compose;

before(async () => {
  const written = await runSvc(["manifests", "compose", "--out", out]);
  assert.equal(written.code, 0, written.stderr);
});
after(() => rmSync(out, { recursive: true }));

for (const service of services) {
  test(`compose.yaml runs ${service} from sources that exist with an environment that is written`, () => {
    const command = compose.services[service]?.command ?? [];
    assert.deepEqual(command, [`--env-file=/config/env/${service}.env`, `services/${service}/src/main.ts`]);
    assert.ok(existsSync(join(root, `services/${service}/src/main.ts`)));
    assert.match(readFileSync(join(out, `env/${service}.env`), "utf8"), /^SVC_NATS_PASSWORD=.{20,}$/m);
  });
}

test("every program that compose.yaml starts exists", () => {
  const programs = Object.values(compose.services)
    .flatMap(({ command = [] }) => command)
    .filter((word) => word.endsWith(".ts"));
  assert.ok(programs.length > services.length);
  for (const program of programs) assert.ok(existsSync(join(root, program)), program);
});

test("nats-server accepts the configuration with the generated permissions", async () => {
  const cacheDirs = defaultCacheDirs(process.env, root);
  const binary = await findNatsServer({ env: process.env, cacheDirs, progress: () => undefined });
  execFileSync(binary, ["-t", "-c", join(out, "nats.conf")], { stdio: "pipe" });
});

test("a second run keeps every secret", async () => {
  const secret = join(out, "secrets/nats-lifecycle");
  const [text, changed] = [readFileSync(secret, "utf8"), statSync(secret).mtimeMs];
  await runSvc(["manifests", "compose", "--out", out]);
  assert.equal(readFileSync(secret, "utf8"), text);
  assert.equal(statSync(secret).mtimeMs, changed);
});
