// `npm run scale`: the control plane with a simulated fleet of thousands of servers, and what it costs (docs/scale.md).

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { apiServerOf } from "../kube/own-network.ts";
import { relay } from "../namespaces/relay.ts";
import { prepareCluster } from "./api-server.ts";
import { report } from "./report.ts";
import { type Plan, simulate } from "./simulate.ts";

const usage = `usage: npm run scale -- [--servers N] [--awake N] [--changes N] [--viewers N] [--seconds N]
                       [--kubeconfig FILE] [--out DIR]

Starts a stack in a network of its own, makes a fleet of servers whose pods and RCON a peer process plays, wakes some,
works on them while people look, kills the leader, and writes a report. Nothing else on the machine is touched.

  --servers N        how many there are; 1000 unless told
  --awake N          how many of them are woken, all at once; a tenth unless told
  --changes N        wakes and stops a second while people work; 4 unless told
  --viewers N        open event streams, one in twenty an operator's; 200 unless told
  --seconds N        how long people work; 45 unless told
  --kubeconfig FILE  a real API server (tests/kube) instead of the embedded one, and an administrator of it; what svc makes
                     there is removed again, with its namespaces
  --out DIR          where report and figures go; .cache/scale unless told`;

const { values } = parseArgs({
  options: {
    servers: { type: "string", default: "1000" },
    awake: { type: "string" },
    changes: { type: "string", default: "4" },
    viewers: { type: "string", default: "200" },
    seconds: { type: "string", default: "45" },
    kubeconfig: { type: "string" },
    out: { type: "string", default: resolve(import.meta.dirname, "../../.cache/scale") },
    help: { type: "boolean", short: "h", default: false },
  },
});
const servers = Number(values.servers);
const plan: Plan = {
  servers,
  awake: values.awake === undefined ? Math.floor(servers / 10) : Number(values.awake),
  changesPerSecond: Number(values.changes),
  viewers: Number(values.viewers),
  seconds: Number(values.seconds),
  isAlone: values.kubeconfig !== undefined,
};
const numbers = Object.values(plan).filter((value) => typeof value === "number");
const isWrong =
  numbers.some((value) => !Number.isFinite(value) || value < 0) ||
  !(plan.servers >= 100 && plan.servers < 100_000 && plan.awake <= plan.servers && plan.changesPerSecond > 0);
if (values.help || isWrong) {
  const problem = "--servers takes 100 to 99999, --awake at most as many, --changes more than 0";
  (values.help ? console.log : console.error)(values.help ? usage : `${problem}\n\n${usage}`);
  process.exit(values.help ? 0 : 2);
}

const signals = ["SIGINT", "SIGTERM"] as const;
const insideVariable = "SVC_SCALE_INSIDE";
/** All of them become local addresses: pods of the simulated node, and the Services of a real API server. */
const networks = ["10.64.0.0/10", "10.96.0.0/16"];

/** The same program in a network that holds nothing but itself, so that thousands of addresses are free. */
async function outside(): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), "svc-scale-api-"));
  const socket = join(dir, "api.sock");
  const toApi =
    values.kubeconfig === undefined ? undefined : await relay(socket, apiServerOf(values.kubeconfig));
  const routes = networks.map((network) => `ip route add local ${network} dev lo 2>/dev/null || true`);
  const script = ["ip link set lo up", ...routes, "ulimit -n 1000000 2>/dev/null || true", 'exec "$@"'].join(
    "; ",
  );
  const rights = process.getuid?.() === 0 ? ["--net"] : ["--net", "--map-root-user"];
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn("unshare", [...rights, "sh", "-c", script, "sh", ...command], {
    env: { ...process.env, [insideVariable]: socket },
    stdio: "inherit",
  });
  // The one inside is signalled too, by the terminal or by this process, and ends what it started.
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "close")) as [number | null];
  toApi?.close();
  rmSync(dir, { recursive: true, force: true });
  return code ?? 1;
}

async function inside(socket: string): Promise<number> {
  const say = (text: string) => console.error(`scale: ${text}`);
  const { kubeconfig } = values;
  const toApi = kubeconfig === undefined ? undefined : await relay(apiServerOf(kubeconfig), socket);
  const cluster = kubeconfig === undefined ? undefined : await prepareCluster(kubeconfig);
  if (cluster) process.env["SVC_KUBECONFIG"] = cluster.kubeconfig;
  try {
    const interrupted = Promise.race(signals.map((signal) => once(process, signal)));
    const result = await simulate(plan, { say, interrupted });
    const text = report(result, aboutRun());
    mkdirSync(values.out, { recursive: true });
    const name = `${plan.servers}${plan.isAlone ? "-kube" : ""}`;
    writeFileSync(join(values.out, `${name}.md`), text);
    writeFileSync(join(values.out, `${name}.json`), JSON.stringify(result));
    console.log(text);
    return 0;
  } finally {
    await cluster?.clean();
    toApi?.close();
  }
}

function aboutRun(): string {
  const root = resolve(import.meta.dirname, "../..");
  const commit = execFileSync("git", ["rev-parse", "--short=12", "HEAD"], {
    cwd: root,
    encoding: "utf8",
  }).trim();
  const memory = /MemTotal: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1] ?? "0";
  const machine = `${cpus().length} cores, ${cpus()[0]?.model ?? "unknown"}, ${Math.round(Number(memory) / 2 ** 20)} GiB`;
  const api = plan.isAlone ? "a real API server" : "the embedded API server";
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, commit ${commit}, ${machine}, Node ${process.version}, ${api}. ${plan.awake} awake.`;
}

const socket = process.env[insideVariable];
process.exit(socket === undefined ? await outside() : await inside(socket));
