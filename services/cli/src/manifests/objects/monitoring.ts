// What Prometheus and Grafana of a cluster read: what to scrape, the rules of alerts and the dashboards.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { equals, type Template, when } from "../template/expression.ts";
import { head, type ObjectFile, type V } from "./common.ts";

const deploy = fileURLToPath(new URL("../../../../../deploy/", import.meta.url));
/** The sidecar of Grafana's chart mounts ConfigMaps with this label. */
const dashboardLabel = { grafana_dashboard: "1" };

/** Texts by name, such as `proxy.yaml`. */
const textsOf = (pattern: string): [string, string][] =>
  globSync(pattern, { cwd: deploy })
    .sort()
    .map((file) => [basename(file), readFileSync(join(deploy, file), "utf8")]);

export function monitoringFile(v: V): ObjectFile {
  const { podMonitor, rules, dashboards } = v.monitoring;
  return {
    file: "monitoring.yaml",
    about: "What the Prometheus operator scrapes, the rules of alerts and the dashboards of Grafana.",
    objects: [
      when(podMonitor, scraped(v)),
      when(equals(rules, "PrometheusRule"), ruleObject(v)),
      when(equals(rules, "ConfigMap"), ruleTexts(v)),
      ...textsOf("dashboards/*.json").map(([name, text]) =>
        when(dashboards, configMap(v, `svc-dashboard-${name.replace(".json", "")}`, [[name, compact(text)]])),
      ),
    ],
  };
}

const compact = (json: string): string => JSON.stringify(JSON.parse(json));

function scraped(v: V): Template {
  const namespace = v.namespaces.control;
  return {
    ...head({ apiVersion: "monitoring.coreos.com/v1", kind: "PodMonitor", name: "svc", namespace }),
    spec: {
      selector: { matchLabels: { "app.kubernetes.io/part-of": "svc" } },
      podMetricsEndpoints: [{ port: "health", path: "/metrics", interval: "15s" }],
    },
  };
}

/** Rules that go with what is switched off, so that nobody is alerted of what was stopped on purpose. */
const onlyWith = (v: V, name: string, of: Template): Template =>
  name === "sftp.yaml" ? when(v.sftp.enabled, of) : of;

function ruleTexts(v: V): Template {
  const texts = textsOf("alerts/*.yaml").map(([name, text]) => [name, onlyWith(v, name, text)] as const);
  return configMap(v, "svc-alert-rules", texts);
}

function ruleObject(v: V): Template {
  const namespace = v.namespaces.control;
  const groups = textsOf("alerts/*.yaml").flatMap(([name, text]) =>
    (parse(text) as { groups: Template[] }).groups.map((group) => onlyWith(v, name, group)),
  );
  return {
    ...head({ apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", name: "svc", namespace }),
    spec: { groups },
  };
}

function configMap(v: V, name: string, texts: readonly (readonly [string, Template])[]): Template {
  const namespace = v.namespaces.control;
  const labels = name.startsWith("svc-dashboard-") ? dashboardLabel : {};
  return {
    ...head({ apiVersion: "v1", kind: "ConfigMap", name, namespace, labels }),
    data: Object.fromEntries(texts),
  };
}
