// The Helm chart gives the same objects as the program. There is no helm on most machines; Trivy, which the lane of the
// registry brings, has Helm's own engine for its scan of charts, and a rule of ours writes out what was rendered.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, test } from "node:test";
import { defaultCacheDirs } from "@svc/local-stack";
import { parse, parseAllDocuments } from "yaml";
import { findTrivy } from "../../libs/local-stack/src/trivy/find.ts";
import {
  installation,
  type KubernetesObject,
  objectsOf,
} from "../../services/cli/src/manifests/installation.ts";
import { identityOf } from "../../services/cli/src/manifests/kustomize/files.ts";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { Values } from "../../services/cli/src/manifests/values/schema.ts";

const root = resolve(import.meta.dirname, "../..");
const chart = join(root, "deploy/chart");
const dir = mkdtempSync(join(tmpdir(), "svc-chart-"));
after(() => rmSync(dir, { recursive: true }));

const trivy = await findTrivy({ env: process.env, cacheDirs: defaultCacheDirs(process.env, root) });
const skip = trivy === undefined ? "neither helm nor Trivy is here; the templates are not rendered" : false;

/** Every value is another one than the default, where there is a choice. */
const everything = {
  rootDomain: "games.example.org",
  namespaces: { control: "control", game: "game", build: "build" },
  images: { services: "registry.example/svc:9", pullPolicy: "Always", pullSecrets: [{ name: "pull" }] },
  secrets: { smtp: "mail" },
  settings: ["archive.manual_keep=7", 'lifecycle.default_memory="3Gi"'],
  extraConfig: '[[auth_source]]\ntag = "x"\nprefix = "x"\nurl = "https://x.example/hasJoined"\n',
  authorities: "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
  clientIpHeader: "X-Real-IP",
  gatewayExternal: {
    replicas: 5,
    serviceType: "NodePort",
    serviceAnnotations: { a: "b" },
    secretEnv: "more",
  },
  proxy: { serviceType: "NodePort", port: 30_000, transferTo: "other.example:1" },
  game: { defaultImage: "game:1", recommendedImages: ["game:1", "game:2"] },
  nats: { replicas: 3, storage: { storageClass: "fast" } },
  registry: { hostPort: 0 },
  smtp: { host: "mail.example", from: "svc@example.org" },
  ingress: { enabled: true, className: "nginx", annotations: { c: "d" } },
  scheduling: {
    nodeSelector: { pool: "control" },
    tolerations: [{ key: "dedicated", operator: "Exists", effect: "NoSchedule" }],
  },
  monitoring: { annotations: false, podMonitor: true, rules: "PrometheusRule", dashboards: true },
};
const without = {
  registry: { enabled: false },
  networkPolicies: { enabled: false },
  podDisruptionBudgets: false,
};

type Given = { name: string; values: Values };
const given: Given[] = [
  { name: "defaults", values: readValues() },
  ...globSync("deploy/values/*.yaml", { cwd: root }).map((file) => ({
    name: basename(file, ".yaml"),
    values: readValues(join(root, file)),
  })),
  { name: "everything else", values: Values.parse(everything) },
  { name: "as little as possible", values: Values.parse(without) },
];

/**
 * Trivy checks every object that it finds with all of its rules, which takes minutes. So the templates become parts, and one
 * ConfigMap holds the text that each of them gives for each of the values.
 */
function renderedBy(program: string): Map<string, string> {
  const copy = join(dir, "chart");
  cpSync(chart, copy, { recursive: true });
  for (const name of ["values.schema.json", "templates/tests", "templates/NOTES.txt"])
    rmSync(join(copy, name), { recursive: true });
  // Trivy's Helm takes the cluster for an older one.
  const head = readFileSync(join(copy, "Chart.yaml"), "utf8");
  writeFileSync(join(copy, "Chart.yaml"), head.replace(/^kubeVersion.*\n/m, ""));
  const files = globSync("templates/*.yaml", { cwd: copy }).map((file) => basename(file));
  for (const file of files) renameSync(join(copy, "templates", file), join(copy, "templates", `_${file}`));
  const sets = given.map(({ values }) => values);
  writeFileSync(join(copy, "values.yaml"), JSON.stringify({ sets }));
  const include = files.map((file) => `(include (print $.Template.BasePath "/_${file}") $context)`).join(" ");
  writeFileSync(
    join(copy, "templates/all.yaml"),
    `apiVersion: v1
kind: ConfigMap
metadata: { name: all }
data:
{{- range $at, $set := .Values.sets }}
{{- $context := dict "Values" $set "Template" $.Template }}
  set-{{ $at }}: {{ toJson (join "\\n" (list ${include})) }}
{{- end }}
`,
  );
  return textsOf(program, copy);
}

const rule = `# METADATA
# custom:
#   id: SVC-0001
#   avd_id: SVC-0001
#   severity: LOW
#   input:
#     selector:
#     - type: kubernetes
package user.rendered

deny[found] {
  input.kind == "ConfigMap"
  found := result.new(json.marshal(input.data), input.metadata)
}
`;

function textsOf(program: string, folder: string): Map<string, string> {
  const rules = join(dir, "rules");
  mkdirSync(rules);
  writeFileSync(join(rules, "rendered.rego"), rule);
  const options = ["--skip-policy-update", "--config-policy", rules, "--policy-namespaces", "user"];
  const cache = ["--cache-dir", join(dir, "cache"), "--quiet", "--format", "json"];
  const answer = execFileSync(program, ["config", ...cache, ...options, folder], {
    encoding: "utf8",
    maxBuffer: 1 << 27,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { Results = [] } = JSON.parse(answer) as {
    Results?: { Misconfigurations?: { ID: string; Message: string }[] }[];
  };
  const found = Results.flatMap(({ Misconfigurations = [] }) => Misconfigurations).find(
    ({ ID }) => ID === "SVC-0001",
  );
  assert.ok(found, "the chart was not rendered");
  return new Map(Object.entries(JSON.parse(found.Message) as Record<string, string>));
}

test("the chart's templates give the objects of the program", { skip }, () => {
  const texts = renderedBy(trivy ?? "");
  for (const [at, { name, values }] of given.entries()) {
    const built = parseAllDocuments(texts.get(`set-${at}`) ?? "")
      .map((document) => document.toJS() as KubernetesObject | null)
      .filter((object) => object !== null);
    const wanted = installation.flatMap((file) => objectsOf(file, values));
    assert.deepEqual(built.map(identityOf).sort(), wanted.map(identityOf).sort(), name);
    for (const object of wanted) {
      const found = built.find((one) => identityOf(one) === identityOf(object));
      assert.deepEqual(found, object, `${name}: ${identityOf(object)}`);
    }
  }
});

test("values.yaml of the chart holds the defaults, each value under a comment", () => {
  const text = readFileSync(join(chart, "values.yaml"), "utf8");
  assert.deepEqual(Values.parse(parse(text)), readValues());
  const lines = text.split("\n");
  const bare = lines.filter((line, at) => /^\s*\w+:/.test(line) && !/^\s*# /.test(lines[at - 1] ?? ""));
  assert.deepEqual(bare, []);
});
