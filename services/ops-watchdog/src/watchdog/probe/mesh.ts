// NATS and the services on it (docs/reference/alerts.md#conditions).

import { readFile } from "node:fs/promises";
import { z } from "zod";
import { finding } from "../finding.ts";
import { healthFetch } from "./health-fetch.ts";
import type { Probe, ProbeContext, Seen } from "./probe.ts";
import { reachable } from "./reachable.ts";

const answerWithinMs = 1_000;
const presentWithinMs = 4_000;
const healthWithinMs = 5_000;

export const nats = reachable("nats", {
  reach: ({ mesh }) => mesh(),
  wrong: (why) =>
    finding(
      {
        ...{ key: "nats", severity: "critical", forMinutes: 3 },
        hint: {
          en: "Start nats-server; `svc doctor` says what else is missing.",
          zh: "请启动 nats-server；`svc doctor` 会列出其他缺失的部分。",
        },
      },
      { en: "NATS cannot be reached: {why}", zh: "无法连接 NATS：{why}" },
      { why },
    ),
});

/** Who answers on the mesh; with NATS away, whose health port answers. */
export const services: Probe = {
  prefixes: ["service/"],
  look: async (context, signal) => {
    const expected = context.settings.ops_watchdog.expected_services;
    const present = await listOnMesh(context, expected).catch(() => undefined);
    if (present) return { findings: expected.filter((name) => !present.has(name)).map(missing) };
    return lookAtHealthPorts(context, expected, signal);
  },
};

async function listOnMesh({ mesh }: ProbeContext, expected: readonly string[]): Promise<Set<string>> {
  const connected = await mesh();
  const present = new Set<string>();
  const endAt = performance.now() + presentWithinMs;
  // A busy one may miss the first rounds.
  while (expected.some((name) => !present.has(name)) && performance.now() < endAt)
    for (const { name } of await connected.discover(answerWithinMs)) present.add(name);
  return present;
}

async function lookAtHealthPorts(
  { settings }: ProbeContext,
  expected: readonly string[],
  signal: AbortSignal,
): Promise<Seen> {
  const addresses = await healthAddresses(settings.ops_watchdog);
  const seen = await Promise.all(
    expected.map(async (name): Promise<Seen> => {
      const own = addresses.filter((one) => one.name === name);
      if (own.length === 0) {
        const reason = "NATS is away and its health port is not known";
        return { findings: [], unknown: [{ prefix: `service/${name}`, reason }] };
      }
      const isUp = await Promise.all(own.map(({ url }) => answers(`${url}/healthz`, signal)));
      return { findings: isUp.includes(true) ? [] : [missing(name)] };
    }),
  );
  return {
    findings: seen.flatMap(({ findings }) => findings),
    unknown: seen.flatMap(({ unknown = [] }) => unknown),
  };
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(healthWithinMs)]);
    const { ok } = await healthFetch(url, { signal: limit });
    return ok;
  } catch {
    return false;
  }
}

function missing(name: string) {
  return finding(
    {
      ...{ key: `service/${name}`, severity: "critical", forMinutes: 5 },
      hint: {
        en: "Look at its log and start it; `svc status` lists what runs.",
        zh: "请查看其日志并启动它；`svc status` 会列出正在运行的服务。",
      },
    },
    { en: "The service {name} does not answer.", zh: "服务 {name} 没有应答。" },
    { name },
  );
}

const Processes = z.looseObject({
  processes: z.array(z.looseObject({ name: z.string(), metrics: z.string().optional() })),
});

/** Where processes serve `/healthz` and `/metrics`: as set, and as the file of a local stack says. */
export async function healthAddresses(about: {
  health_urls: readonly string[];
  processes_file: string;
}): Promise<{ name: string; url: string }[]> {
  const given = about.health_urls.map((text) => {
    const at = text.indexOf("=");
    return { name: text.slice(0, at), url: text.slice(at + 1).replace(/\/$/, "") };
  });
  if (about.processes_file === "") return given;
  const text = await readFile(about.processes_file, "utf8").catch(() => '{"processes":[]}');
  const { processes } = Processes.parse(JSON.parse(text));
  const running = processes.flatMap(({ name, metrics }) =>
    // The second replica of storage is storage-2.
    metrics === undefined
      ? []
      : [{ name: name.replace(/-\d+$/, ""), url: metrics.replace(/\/metrics$/, "") }],
  );
  return [...given, ...running];
}
