// A real Prometheus that scrapes a stack, with the shipped rules, and a real Alertmanager that mails into its sink.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { findFreePort } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { parse, stringify } from "yaml";
import type { StackFile } from "./stack.ts";

const root = resolve(import.meta.dirname, "../..");
const lane = process.env["SVC_PROMETHEUS_LANE"];

/** Why no Prometheus can be started; false when it can. */
export const withoutPrometheus = lane === undefined && "SVC_PROMETHEUS_LANE is not set: no Prometheus";

type Sample = { metric: Record<string, string>; value: [at: number, value: string] };

export type Prometheus = {
  /** Instant query; throws with Prometheus' own words. */
  query: (expr: string) => Promise<Sample[]>;
  /** From now on Alertmanager mails this alert to ops@example.net; before, it mails nothing. */
  mail: (alert: string) => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts both on free ports. Rules fire at once instead of after minutes; everything else is as shipped. */
export async function startPrometheus(stack: StackFile): Promise<Prometheus> {
  const dir = mkdtempSync(join(tmpdir(), "svc-prometheus-"));
  const [port, alertPort] = [await findFreePort(), await findFreePort()];
  const write = (alert: string) =>
    writeFileSync(join(dir, "alertmanager.yml"), stringify(alertmanagerConfig(stack, alert)));
  write("");
  writeFileSync(join(dir, "prometheus.yml"), stringify(prometheusConfig(dir, stack, alertPort)));
  const children = [
    run("prometheus-alertmanager", [
      `--config.file=${join(dir, "alertmanager.yml")}`,
      `--storage.path=${join(dir, "alertmanager")}`,
      `--web.listen-address=127.0.0.1:${alertPort}`,
      "--cluster.listen-address=",
    ]),
    run("prometheus", [
      `--config.file=${join(dir, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(dir, "tsdb")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]),
  ];
  const stop = async () => {
    await Promise.all(children.map(kill));
    rmSync(dir, { recursive: true, force: true });
  };
  const isReady = async (at: number) => (await fetch(`http://127.0.0.1:${at}/-/ready`)).ok;
  const ended = Promise.race(children.map((child) => once(child, "exit"))).then(() => {
    throw new Error("Prometheus or Alertmanager ended by itself; its words are above");
  });
  const ready = Promise.all(
    [port, alertPort].map((at) => until(() => isReady(at), 30_000, `port ${at} to be ready`)),
  );
  try {
    await Promise.race([ready, ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  const mail = async (alert: string) => {
    write(alert);
    const answer = await fetch(`http://127.0.0.1:${alertPort}/-/reload`, { method: "POST" });
    if (!answer.ok) throw new Error(`Alertmanager: ${await answer.text()}`);
  };
  return { query: (expr) => query(port, expr), mail, stop };
}

function run(program: string, args: readonly string[]): ChildProcess {
  return spawn(join(lane ?? "", program), [...args, "--log.level=error"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function query(port: number, expr: string): Promise<Sample[]> {
  const body = new URLSearchParams({ query: expr });
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query`, { method: "POST", body });
  const { error, data } = (await answer.json()) as { error?: string; data?: { result: Sample[] } };
  if (!data) throw new Error(`${expr}: ${error}`);
  return data.result;
}

function prometheusConfig(dir: string, { processes }: StackFile, alertPort: number): object {
  const targets = processes.flatMap(({ metrics }) => (metrics ? [new URL(metrics).host] : []));
  return {
    global: { scrape_interval: "2s", scrape_timeout: "2s", evaluation_interval: "2s" },
    rule_files: [join(writeRules(dir), "*.yaml")],
    alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertPort}`] }] }] },
    scrape_configs: [{ job_name: "svc", static_configs: [{ targets }] }],
  };
}

function writeRules(dir: string): string {
  const folder = join(dir, "rules");
  mkdirSync(folder);
  for (const file of globSync("deploy/alerts/*.yaml", { cwd: root })) {
    const { groups } = parse(readFileSync(join(root, file), "utf8")) as { groups: { rules: object[] }[] };
    const now = groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({ ...rule, for: "0s" })),
    }));
    writeFileSync(join(folder, basename(file)), stringify({ groups: now }));
  }
  return folder;
}

function alertmanagerConfig({ mail }: StackFile, alert: string): object {
  const { host } = new URL(mail.smtp_url);
  const email = {
    to: "ops@example.net",
    from: "alerts@example.net",
    smarthost: host,
    require_tls: false,
    send_resolved: true,
  };
  return {
    route: {
      receiver: "nobody",
      group_by: ["alertname"],
      group_wait: "0s",
      group_interval: "1s",
      routes: [{ matchers: [`alertname="${alert}"`], receiver: "operators" }],
    },
    receivers: [{ name: "nobody" }, { name: "operators", email_configs: [email] }],
  };
}
