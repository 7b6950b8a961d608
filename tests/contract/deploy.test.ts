// compose.yaml and the files it mounts name exactly the services there are, and nats-server takes its configuration.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { parseEnv } from "node:util";
import { loadSettings } from "@svc/config";
import { defaultCacheDirs, findNatsServer, gameServiceNames } from "@svc/local-stack";
import { MinecraftServer, parseForwardingMasters, services, systemForwardingSecrets } from "@svc/proto";
import { parse, parseAllDocuments } from "yaml";
import { settings as lifecycleSettings } from "../../services/lifecycle/src/config.ts";
import { loadConfig as loadGateConfig } from "../../services/registry-gate/src/config.ts";
import { settings as storageSettings } from "../../services/storage/src/config.ts";
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

for (const service of gameServiceNames) {
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

type EnvVar = { name: string; value?: string };
const envOf = (list: readonly EnvVar[]) =>
  Object.fromEntries(list.map(({ name, value }) => [name, value ?? "from-a-secret"]));
const manifests = (file: string) =>
  parseAllDocuments(readFileSync(join(root, "deploy/game", file), "utf8")).map((document) => document.toJS());

for (const manifest of manifests("servers.yaml")) {
  const { name, labels } = manifest.metadata;
  test(`deploy/game runs ${name} as a server of svc with a valid environment`, async () => {
    const spec = MinecraftServer.spec.strict().parse(manifest.spec);
    assert.deepEqual([labels, spec.reaperExempt], [{ "svc.internal/system-role": name }, true]);
    const [program = ""] = spec.args ?? [];
    assert.ok(existsSync(join(root, program)));
    // The operator adds the token to the gate.
    const environment = { ...envOf(spec.env as EnvVar[]), SVC_SERVICE_TOKEN: "t" };
    const { warnings } = await configOf(program.split("/")[1] ?? "", environment);
    assert.deepEqual(warnings, []);
  });
}

test("deploy/game runs the proxy with a valid environment", async () => {
  const [container] = manifests("proxy.yaml")[0].spec.template.spec.containers;
  assert.deepEqual(container.args, ["services/proxy/src/main.ts"]);
  const masters = join(out, "secrets/forwarding-master");
  const environment = envOf(container.env);
  const mount = container.volumeMounts.find(({ name }: { name: string }) => name === "forwarding");
  assert.equal(environment["SVC_FORWARDING_MASTER_FILE"], `${mount.mountPath}/masters`);
  await configOf("proxy", { ...environment, SVC_FORWARDING_MASTER_FILE: masters });
});

const storageManifests = (file: string) =>
  parseAllDocuments(readFileSync(join(root, "deploy/storage", file), "utf8")).map((document): unknown =>
    document.toJS(),
  );

test("deploy/storage runs storage with a valid configuration, on declared volumes", async () => {
  const [config, deployment] = storageManifests("service.yaml") as [
    { data: Record<string, string> },
    { spec: { template: { spec: { containers: PodContainer[]; volumes: PodVolume[] } } } },
  ];
  const file = join(out, "storage.toml");
  writeFileSync(file, config.data["svc.toml"] ?? "");
  const { archive, storage } = loadSettings(storageSettings, { file });
  const { containers, volumes } = deployment.spec.template.spec;
  const [{ args, volumeMounts }] = containers as [PodContainer];
  for (const program of [args[0], storage.agent_command[1]]) assert.ok(existsSync(join(root, program ?? "")));
  const claimAt = (path: string) => {
    const mount = volumeMounts.find(({ mountPath }) => path.startsWith(mountPath));
    return volumes.find(({ name }) => name === mount?.name)?.persistentVolumeClaim?.claimName;
  };
  const made = storageManifests("volumes.yaml") as VolumeManifest[];
  const folderOf = (namespace: string, name: string | undefined) => {
    const claim = made.find(
      ({ kind, metadata }) =>
        kind.endsWith("Claim") && metadata.namespace === namespace && metadata.name === name,
    );
    const volume = made.find(({ metadata }) => metadata.name === claim?.spec.volumeName);
    assert.deepEqual(volume?.spec.claimRef, { namespace, name });
    return volume?.spec.local?.path;
  };
  const archives = folderOf("svc", claimAt(archive.local_path));
  assert.equal(archives, "/var/lib/svc/archive");
  assert.equal(folderOf("minecraft", storage.archive_claim), archives, "the Jobs' folder is the service's");
  assert.equal(folderOf("svc", claimAt(storage.staging_path)), "/var/lib/svc/uploads");
});

test("deploy/registry runs the gate with valid settings, and both containers on one configuration without a cache", async () => {
  const [config, , service, set] = parseAllDocuments(
    readFileSync(join(root, "deploy/registry/registry.yaml"), "utf8"),
  ).map((document) => document.toJS());
  const { containers, volumes, initContainers } = set.spec.template.spec;
  const [registry, gate] = containers;
  const { collect, credentialsFile, leaseFile, upstream, port } = loadGateConfig(envOf(gate.env));
  const mountOf = (path: string) =>
    gate.volumeMounts.find(({ mountPath }: { mountPath: string }) => path.startsWith(`${mountPath}/`))?.name;
  assert.deepEqual([collect.program, collect.programConfig, credentialsFile, leaseFile].map(mountOf), [
    "program",
    "config",
    "credentials",
    "images",
  ]);
  assert.equal(initContainers[0].command.at(-1), collect.program);
  const names = volumes.map(({ name }: { name: string }) => name);
  for (const { name } of [...gate.volumeMounts, ...registry.volumeMounts])
    assert.ok(names.includes(name), name);
  const settings = parse(config.data["config.yml"]);
  assert.equal(`http://${settings.http.addr}`, upstream);
  assert.equal(settings.storage.cache, undefined);
  assert.equal(settings.storage.delete.enabled, true);
  assert.equal(service.spec.ports[0].port, port);
  assert.ok(existsSync(join(root, gate.args[0])));
  assert.equal(set.spec.replicas, 1);
});

type PodContainer = { args: string[]; volumeMounts: { name: string; mountPath: string }[] };
type PodVolume = { name: string; persistentVolumeClaim?: { claimName: string } };
type VolumeManifest = {
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: { volumeName?: string; claimRef?: unknown; local?: { path: string } };
};

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
