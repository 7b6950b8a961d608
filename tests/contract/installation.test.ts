// deploy/kubernetes and deploy/chart are one installation: current, the same objects by every way, with programs, settings and
// Secrets that exist.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { MinecraftServer, services } from "@svc/proto";
import { parse, parseAllDocuments } from "yaml";
import type { z } from "zod";
import {
  installation,
  type KubernetesObject,
  objectsOf,
} from "../../services/cli/src/manifests/installation.ts";
import { identityOf } from "../../services/cli/src/manifests/kustomize/files.ts";
import { firstSecrets } from "../../services/cli/src/manifests/secrets.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { loadConfig as loadGateConfig } from "../../services/registry-gate/src/config.ts";

const root = resolve(import.meta.dirname, "../..");
const out = mkdtempSync(join(tmpdir(), "svc-installation-"));
after(() => rmSync(out, { recursive: true }));

const valueFiles = readdirSync(join(root, "deploy/values"));
const sets = ["defaults", ...valueFiles.map((file) => file.replace(".yaml", ""))];
const valuesOf = (set: string) =>
  readValues(set === "defaults" ? undefined : join(root, `deploy/values/${set}.yaml`));

function objectsFor(set: string): Map<string, KubernetesObject> {
  const objects = installation.flatMap((file) => objectsOf(file, valuesOf(set)));
  return new Map(objects.map((object) => [identityOf(object), object]));
}

const kubectl = ["/usr/bin/kubectl", "/usr/local/bin/kubectl"].find((path) => existsSync(path));

test("deploy/kubernetes and deploy/chart are what the program writes", () => {
  const write = join(root, "services/cli/src/manifests/write.ts");
  execFileSync(process.execPath, [write, "--check"], { stdio: "pipe" });
});

test("authorities of one's own reach every process that connects to something", () => {
  const file = join(out, "authorities.yaml");
  const authorities = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  writeFileSync(file, JSON.stringify({ authorities }));
  const objects = installation.flatMap((one) => objectsOf(one, readValues(file)));
  const config = objects.find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === "svc-config");
  assert.deepEqual(Object.keys(config?.["data"] ?? {}), ["svc.toml", "authorities.pem"]);
  const variable = JSON.stringify({ name: "NODE_EXTRA_CA_CERTS", value: "/config/authorities.pem" });
  const without = objects.filter(
    (one) => JSON.stringify(one).includes('"SVC_NATS_URL"') && !JSON.stringify(one).includes(variable),
  );
  assert.deepEqual(without.map(identityOf), []);
});

test("an installation that asks for them has every dashboard and every rule", () => {
  const named = objectsFor("ha");
  const dataOf = (name: string) =>
    ([...named.values()].find(({ metadata }) => metadata.name === name)?.["data"] ?? {}) as Record<
      string,
      string
    >;
  const read = (folder: string, file: string) => readFileSync(join(root, "deploy", folder, file), "utf8");
  for (const file of readdirSync(join(root, "deploy/dashboards"))) {
    const shown = dataOf(`svc-dashboard-${file.replace(".json", "")}`)[file];
    assert.deepEqual(JSON.parse(shown ?? "{}"), JSON.parse(read("dashboards", file)), file);
  }
  const rules = dataOf("svc-alert-rules");
  for (const file of readdirSync(join(root, "deploy/alerts")).filter((one) => one !== "sftp.yaml"))
    assert.deepEqual(parse(rules[file] ?? ""), parse(read("alerts", file)), file);
});

for (const rules of ["ConfigMap", "PrometheusRule"]) {
  test(`alerts of SFTP as a ${rules} end with SFTP itself`, () => {
    const hasRules = (enabled: boolean) => {
      const file = join(out, `sftp-${enabled}.yaml`);
      writeFileSync(file, JSON.stringify({ sftp: { enabled }, monitoring: { rules } }));
      const objects = installation.flatMap((one) => objectsOf(one, readValues(file)));
      return JSON.stringify(objects.filter(({ kind }) => kind === rules)).includes("SFTPDown");
    };
    assert.deepEqual([hasRules(true), hasRules(false)], [true, false]);
  });
}

describe("Kustomize builds the objects of the values", () => {
  for (const set of sets) {
    test(set, { skip: kubectl ? false : "no kubectl" }, () => {
      const folder = set === "defaults" ? "base" : `overlays/${set}`;
      const text = execFileSync(kubectl ?? "", ["kustomize", join(root, "deploy/kubernetes", folder)], {
        encoding: "utf8",
        maxBuffer: 1 << 26,
      });
      const built = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
      assert.deepEqual(new Map(built.map((object) => [identityOf(object), object])), objectsFor(set));
    });
  }
});

type EnvVar = { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } };
type Container = {
  name: string;
  image: string;
  args?: string[];
  command?: string[];
  env?: EnvVar[];
  volumeMounts?: { name: string; mountPath: string }[];
};
type PodSpec = {
  containers: Container[];
  initContainers?: Container[];
  volumes?: {
    name: string;
    secret?: { secretName: string; items?: { key: string }[] };
    persistentVolumeClaim?: { claimName: string };
  }[];
};
const defaults = objectsFor("defaults");
const find = <T>(kind: string, name: string, namespace = "svc") =>
  [...defaults.values()].find(
    (one) =>
      one.kind === kind && one.metadata.name === name && (one.metadata.namespace ?? namespace) === namespace,
  ) as KubernetesObject & T;

function podsIn(value: unknown): PodSpec[] {
  if (value === null || typeof value !== "object") return [];
  if ("containers" in value) return [value as PodSpec];
  return Object.values(value).flatMap(podsIn);
}
const envOf = (list: readonly EnvVar[]) =>
  Object.fromEntries(list.map(({ name, value }) => [name, value ?? "from-a-secret"]));

test("every container runs a program of the repository and mounts volumes that its pod has", () => {
  let programs = 0;
  for (const { containers, initContainers = [], volumes = [] } of podsIn([...defaults.values()])) {
    for (const { args = [], volumeMounts = [], name } of [...initContainers, ...containers]) {
      const program = args.find((word) => word.endsWith(".ts"));
      if (program) programs++;
      if (program) assert.ok(existsSync(join(root, program)), program);
      const known = [...volumes.map((volume) => volume.name), "data"];
      for (const mount of volumeMounts) assert.ok(known.includes(mount.name), `${name}: ${mount.name}`);
    }
  }
  assert.equal(programs, services.length + 4, "services, proxy, registry gate, migration and reaper");
});

test("every claim that a pod mounts is declared", () => {
  for (const { volumes = [] } of podsIn([...defaults.values()])) {
    for (const { persistentVolumeClaim } of volumes) {
      if (persistentVolumeClaim) assert.ok(find("PersistentVolumeClaim", persistentVolumeClaim.claimName));
    }
  }
});

for (const service of services) {
  test(`${service} takes the settings of the installation`, async () => {
    const { settings } = (await import(`../../services/${service}/src/config.ts`)) as {
      settings: z.ZodObject;
    };
    const file = join(out, `${service}.toml`);
    writeFileSync(
      file,
      find<{ data: Record<string, string> }>("ConfigMap", "svc-config").data["svc.toml"] ?? "",
    );
    const loaded = loadSettings(settings, { file }) as Record<string, Record<string, unknown>>;
    const programs = ["storage", "builds"].map((section) => loaded[section]?.["agent_command"]);
    for (const command of programs.filter(Boolean) as string[][])
      assert.ok(existsSync(join(root, command[1] ?? "")));
  });
}

type Config = (environment: NodeJS.Dict<string>) => { warnings?: readonly string[] };
const configOf = async (service: string, environment: NodeJS.Dict<string>) => {
  const { loadConfig } = (await import(`../../services/${service}/src/config.ts`)) as { loadConfig: Config };
  return loadConfig(environment);
};

for (const name of ["login", "lobby"]) {
  test(`${name} is a server of svc with a valid environment`, async () => {
    const { metadata, spec: given } = find<{ spec: unknown }>("MinecraftServer", name, "minecraft");
    const spec = MinecraftServer.spec.strict().parse(given);
    assert.deepEqual([metadata["labels"], spec.reaperExempt], [{ "svc.internal/system-role": name }, true]);
    const [program = ""] = spec.args ?? [];
    assert.ok(existsSync(join(root, program)));
    // The operator adds the token to the gate.
    const environment = { ...envOf(spec.env as EnvVar[]), SVC_SERVICE_TOKEN: "t" };
    const { warnings } = await configOf(program.split("/")[1] ?? "", environment);
    assert.deepEqual(warnings, []);
  });
}

test("the proxy has a valid environment", async () => {
  const [container] = podsIn(find("Deployment", "proxy"))[0]?.containers ?? [];
  const environment = envOf(container?.env ?? []);
  assert.equal(environment["SVC_FORWARDING_MASTER_FILE"], "/forwarding/masters");
  const masters = join(out, "masters");
  writeFileSync(masters, "m".repeat(43));
  await configOf("proxy", { ...environment, SVC_FORWARDING_MASTER_FILE: masters });
});

test("mc-router finds the proxy by the annotations of the values, and nothing else", () => {
  const annotation = { "mc-router.itzg.me/externalServerName": "survival.example.net" };
  const file = join(out, "mc-router.yaml");
  writeFileSync(file, JSON.stringify({ proxy: { serviceAnnotations: annotation } }));
  const found = installation
    .flatMap((one) => objectsOf(one, readValues(file)))
    .filter((object) => JSON.stringify(object).includes("mc-router.itzg.me"));
  assert.deepEqual(
    found.map(({ kind, metadata }) => [kind, metadata.name, metadata.annotations]),
    [["Service", "proxy", annotation]],
  );
  const spec = found[0]?.["spec"] as { ports?: { port: number }[] } | undefined;
  const ports = spec?.ports?.map(({ port }) => port);
  assert.deepEqual(ports, [25_565], "the port that mc-router takes where none is named for it");
});

test("SFTP is there where it is switched on, with a valid environment and a secret of its own", async () => {
  assert.equal(find("Deployment", "sftp"), undefined);
  const file = join(out, "sftp.yaml");
  writeFileSync(file, JSON.stringify({ sftp: { enabled: true, port: 22 } }));
  const values = readValues(file);
  const objects = installation.flatMap((one) => objectsOf(one, values));
  const named = (kind: string) => objects.find((one) => one.kind === kind && one.metadata.name === "sftp");
  assert.ok(named("Service") && named("NetworkPolicy") && named("PodDisruptionBudget"));
  const [pod] = podsIn(named("Deployment"));
  const keys = pod?.volumes?.flatMap(
    ({ secret }) => secret?.items?.map(({ key }) => [secret.secretName, key]) ?? [],
  );
  assert.deepEqual(keys, [
    ["svc-tokens", "sftp"],
    ["svc-sftp", "host_key"],
  ]);
  const [made] = firstSecrets(values).filter(({ metadata }) => metadata.name === "svc-sftp");
  const secret = join(out, "host-key");
  writeFileSync(secret, made?.stringData["host_key"] ?? "");
  const environment = envOf(pod?.containers[0]?.env ?? []);
  assert.equal(environment["SVC_SFTP_HOST_KEY_FILE"], "/host-key/host-key");
  const config = await configOf("sftp", { ...environment, SVC_SFTP_HOST_KEY_FILE: secret });
  const { publicHost, publicPort } = config as unknown as { publicHost: string; publicPort: number };
  assert.deepEqual([publicHost, publicPort], ["sftp.play.example.net", 22]);
});

test("storage and its Jobs share the archive folder, and uploads lie on a volume", () => {
  type Volume = { spec: { claimRef: { namespace: string; name: string }; local: { path: string } } };
  type Claim = { spec: { volumeName: string } };
  const folderOf = (namespace: string, name: string) => {
    const claim = find<Claim>("PersistentVolumeClaim", name, namespace);
    const volume = find<Volume>("PersistentVolume", claim.spec.volumeName);
    assert.deepEqual(volume.spec.claimRef, { namespace, name });
    return volume.spec.local.path;
  };
  assert.equal(folderOf("svc", "svc-archive"), "/var/lib/svc/archive");
  assert.equal(
    folderOf("minecraft", "svc-archive"),
    "/var/lib/svc/archive",
    "the Jobs' folder is the service's",
  );
  assert.equal(folderOf("svc", "svc-uploads"), "/var/lib/svc/uploads");
});

test("the registry's gate has valid settings, and both containers one configuration without a cache", () => {
  const { containers = [], initContainers = [] } = podsIn(find("StatefulSet", "registry"))[0] ?? {};
  const gate = containers.find(({ name }) => name === "gate");
  const { collect, credentialsFile, leaseFile, upstream, port } = loadGateConfig(envOf(gate?.env ?? []));
  const mountOf = (path: string) =>
    gate?.volumeMounts?.find(({ mountPath }) => path.startsWith(`${mountPath}/`))?.name;
  const paths = [collect.program, collect.programConfig, credentialsFile, leaseFile];
  assert.deepEqual(paths.map(mountOf), ["program", "config", "credentials", "images"]);
  assert.equal(initContainers[0]?.command?.at(-1), collect.program);
  const settings = parse(
    find<{ data: Record<string, string> }>("ConfigMap", "registry").data["config.yml"] ?? "",
  );
  assert.equal(`http://${settings.http.addr}`, upstream);
  assert.deepEqual([settings.storage.cache, settings.storage.delete.enabled], [undefined, true]);
  assert.equal(
    find<{ spec: { ports: { port: number }[] } }>("Service", "registry").spec.ports[0]?.port,
    port,
  );
  assert.equal(find<{ spec: { replicas: number } }>("StatefulSet", "registry").spec.replicas, 1);
});
