// compose.yaml and the files it mounts name exactly the services there are, and nats-server takes its configuration.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { parseEnv } from "node:util";
import { loadSettings } from "@svc/config";
import { defaultCacheDirs, findNatsServer, gameServiceNames } from "@svc/local-stack";
import { parseForwardingMasters, services, systemForwardingSecrets } from "@svc/proto";
import { settings as lifecycleSettings } from "../../services/lifecycle/src/config.ts";
import { readCompose } from "../containers/compose-file.ts";
import { runSvc } from "../flow/stack.ts";

const root = resolve(import.meta.dirname, "../..");
const out = mkdtempSync(join(tmpdir(), "svc-compose-"));
const compose = readCompose<{ command?: string[]; healthcheck?: { test: string[] } }>();

before(async () => {
  const written = await runSvc(["manifests", "compose", "--out", out]);
  assert.equal(written.code, 0, written.stderr);
});
after(() => rmSync(out, { recursive: true }));

for (const service of services) {
  test(`compose.yaml runs ${service} from existing sources with a generated environment`, () => {
    const command = compose.services[service]?.command ?? [];
    assert.deepEqual(command, [`--env-file=/config/env/${service}.env`, `services/${service}/src/main.ts`]);
    assert.ok(existsSync(join(root, `services/${service}/src/main.ts`)));
    assert.match(readFileSync(join(out, `env/${service}.env`), "utf8"), /^SVC_NATS_PASSWORD=.{20,}$/m);
  });
}

type Loaded = { warnings?: readonly string[] };
/** What a program of the game side makes of an environment; it throws or warns about what it cannot use. */
async function configOf(service: string, environment: NodeJS.Dict<string>): Promise<Loaded> {
  const { loadConfig } = (await import(`../../services/${service}/src/config.ts`)) as {
    loadConfig: (environment: NodeJS.Dict<string>) => Loaded;
  };
  return loadConfig(environment);
}

for (const service of [...gameServiceNames, "sftp"]) {
  test(`compose.yaml runs ${service} with a valid environment, and without credentials of mesh or database`, async () => {
    const command = compose.services[service]?.command ?? [];
    assert.deepEqual(command, [`--env-file=/config/env/${service}.env`, `services/${service}/src/main.ts`]);
    const text = readFileSync(join(out, `env/${service}.env`), "utf8").replaceAll("/config/", `${out}/`);
    const environment = parseEnv(text);
    assert.deepEqual((await configOf(service, environment)).warnings ?? [], []);
    assert.equal(environment["SVC_FORWARDING_SECRET"], undefined);
    assert.doesNotMatch(Object.keys(environment).join(), /NATS|DATABASE|KUBECONFIG/);
  });
}

test("gate and lobby of compose.yaml accept what its proxy signs with, each its own, and lifecycle has the same master", () => {
  const fileOf = (name: string, key: string) =>
    readFileSync(
      (parseEnv(readFileSync(join(out, `env/${name}.env`), "utf8"))[key] ?? "").replace("/config", out),
      "utf8",
    ).trim();
  const masters = parseForwardingMasters(fileOf("proxy", "SVC_FORWARDING_MASTER_FILE"));
  for (const [service, role] of [
    ["login-gate", "login"],
    ["lobby", "lobby"],
  ] as const) {
    const accepted = fileOf(service, "SVC_FORWARDING_SECRET_FILE");
    assert.equal(accepted, systemForwardingSecrets(masters, role)[0]);
  }
  const { lifecycle } = loadSettings(lifecycleSettings, { file: join(out, "svc.toml") });
  assert.equal(lifecycle.forwarding_master_file, "/config/secrets/forwarding-master");
});

test("every process of svc in compose.yaml is asked on the port that it answers probes on, or players, each on its own", () => {
  const asked = [...services, ...gameServiceNames, "sftp"].map((name) => {
    const environment = parseEnv(readFileSync(join(out, `env/${name}.env`), "utf8"));
    const { SVC_HEALTH_PORT: port, GAME_PORT: gamePort } = environment;
    const wanted = port === undefined ? [gamePort, "-"] : [port];
    assert.deepEqual(compose.services[name]?.healthcheck?.test, ["CMD", "ready", ...wanted], name);
    return wanted[0];
  });
  assert.equal(new Set(asked).size, asked.length);
});

test("what compose.yaml mounts as /config is for one account and its group, and no secret is in what the embedded cluster mounts", () => {
  for (const file of readdirSync(out, { recursive: true, encoding: "utf8" }))
    assert.equal(statSync(join(out, file)).mode & 0o007, 0, file);
  assert.deepEqual(readdirSync(join(out, "cluster")), ["images.json"]);
});

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
