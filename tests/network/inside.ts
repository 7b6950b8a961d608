// Inside a network of its own: sources and targets, each a process in another network, and this one the router that filters.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { readInside } from "../namespaces/run.ts";
import type { Attempt, Outcome } from "./peers.ts";

/** What this file is told: a file with a plan, and where the outcomes of each filter are written, both JSON. */
export type Inside = { plan: string; out: string };

/** The addresses of both sides, and each filter that is tried, `""` for none. */
export type Plan = {
  sources: readonly string[];
  targets: readonly string[];
  attempts: readonly Attempt[];
  filters: readonly string[];
};

const { plan, out } = readInside<Inside>();
const { sources, targets, attempts, filters } = JSON.parse(readFileSync(plan, "utf8")) as Plan;
const run = (...words: string[]) => execFileSync(words[0] ?? "", words.slice(1), { stdio: "pipe" });

type Side = { ask: (line: string) => Promise<string>; end: () => void };

/** A process in a new network that has these addresses and reaches everything through this one. */
async function startSide(
  mode: "listen" | "connect",
  { addresses, link }: { addresses: readonly string[]; link: number },
): Promise<Side> {
  const program = join(import.meta.dirname, "peers.ts");
  const script = 'echo apart; read -r _; exec "$@"';
  const words = ["--net", "sh", "-c", script, "sh", process.execPath, program, mode];
  const child = spawn("unshare", words, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value);
  await next();
  const inThere = (...rest: string[]) => run("nsenter", `--net=/proc/${child.pid}/ns/net`, ...rest);
  const [near, far] = [`10.255.${link}.1`, `10.255.${link}.2`];
  run("ip", "link", "add", mode, "type", "veth", "peer", "name", "eth0", "netns", String(child.pid));
  run("ip", "addr", "add", `${near}/30`, "dev", mode);
  run("ip", "link", "set", mode, "up");
  inThere("ip", "link", "set", "lo", "up");
  inThere("ip", "addr", "add", `${far}/30`, "dev", "eth0");
  inThere("ip", "link", "set", "eth0", "up");
  inThere("ip", "route", "add", "default", "via", near);
  for (const address of addresses) {
    inThere("ip", "addr", "add", `${address}/32`, "dev", "eth0");
    run("ip", "route", "add", `${address}/32`, "via", far);
  }
  child.stdin.write("\n");
  await next();
  return {
    ask: (line) => {
      child.stdin.write(`${line}\n`);
      return next();
    },
    end: () => child.kill("SIGKILL"),
  };
}

writeFileSync("/proc/sys/net/ipv4/ip_forward", "1");
const target = await startSide("listen", { addresses: targets, link: 2 });
const source = await startSide("connect", { addresses: sources, link: 1 });
const found: Outcome[][] = [];
for (const filter of filters) {
  run("iptables", "-F", "FORWARD");
  if (filter !== "") execFileSync("iptables-restore", { input: filter });
  found.push(JSON.parse(await source.ask(JSON.stringify(attempts))));
}
writeFileSync(out, JSON.stringify(found));
source.end();
target.end();
