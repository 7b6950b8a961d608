// An API server that knows nothing but logs: any number of pods whose lines a test says, served as Kubernetes serves
// them. For numbers of consoles that no machine could run game servers for.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Server } from "../../cluster/resource.ts";
import { aServer, emptyRunning } from "../observed.ts";

export type LogCluster = {
  kubeconfig: string;
  /** Adds a line to a server's log, now. */
  say: (server: string, line: string) => void;
  /** Log reads that go on now. */
  following: () => number;
  /** A server of this cluster, running. */
  server: (name: string) => Server;
  close: () => Promise<void>;
};

type Log = { lines: { atNs: bigint; text: string }[]; followers: Set<ServerResponse> };

export async function startLogCluster(): Promise<LogCluster> {
  const logs = new Map<string, Log>();
  const logOf = (name: string): Log => {
    const known = logs.get(name) ?? { lines: [], followers: new Set() };
    logs.set(name, known);
    return known;
  };
  const server = (name: string): Server => ({ ...aServer({}, { name }), status: emptyRunning });
  const api = createServer((request, response) => answer({ logOf, server }, request, response));
  await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
  const dir = mkdtempSync(join(tmpdir(), "svc-logs-"));
  const kubeconfig = join(dir, "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText(`http://127.0.0.1:${(api.address() as AddressInfo).port}`));
  let lastNs = 0n;
  return {
    kubeconfig,
    server,
    say: (name, text) => {
      const log = logOf(name);
      // Many lines share a moment, as they do on a node.
      const nowNs = BigInt(Math.floor(Date.now() / 10)) * 10_000_000n;
      lastNs = nowNs > lastNs ? nowNs : lastNs;
      log.lines.push({ atNs: lastNs, text });
      for (const follower of log.followers) follower.write(lineOf(lastNs, text));
    },
    following: () => [...logs.values()].reduce((sum, { followers }) => sum + followers.size, 0),
    close: async () => {
      const closed = new Promise((resolve) => api.close(resolve));
      api.closeAllConnections();
      await closed;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

type Serving = { logOf: (name: string) => Log; server: (name: string) => Server };

function answer(serving: Serving, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://cluster");
  const [, pod = "", what] = /\/pods\/([a-z0-9-]+)-0(\/log)?$/.exec(pathname) ?? [];
  const [, name] = /\/minecraftservers\/([a-z0-9-]+)$/.exec(pathname) ?? [];
  const json = (code: number, body: unknown) =>
    response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (what) serveLog(serving.logOf(pod), searchParams, response);
  else if (pod) json(200, { kind: "Pod", metadata: { name: `${pod}-0`, uid: `uid-of-${pod}` }, spec: {} });
  else if (name) json(200, serving.server(name));
  else
    json(404, {
      kind: "Status",
      code: 404,
      reason: "NotFound",
      message: "this cluster has nothing but logs",
    });
}

function serveLog(log: Log, asked: URLSearchParams, response: ServerResponse): void {
  const since = asked.get("sinceTime");
  // As kubelets do: to the second.
  const sinceNs = since === null ? 0n : BigInt(Math.floor(Date.parse(since) / 1_000)) * 1_000_000_000n;
  const tail = Number(asked.get("tailLines") ?? log.lines.length);
  const lines = log.lines.filter(({ atNs }) => atNs >= sinceNs).slice(tail === 0 ? log.lines.length : -tail);
  response.writeHead(200, { "content-type": "text/plain" });
  response.write(lines.map(({ atNs, text }) => lineOf(atNs, text)).join(""));
  if (asked.get("follow") !== "true") {
    response.end();
    return;
  }
  log.followers.add(response);
  response.once("close", () => log.followers.delete(response));
}

function lineOf(atNs: bigint, text: string): string {
  const whole = new Date(Number(atNs / 1_000_000_000n) * 1_000).toISOString().slice(0, 19);
  return `${whole}.${String(atNs % 1_000_000_000n).padStart(9, "0")}Z ${text}\n`;
}

function kubeconfigText(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "logs",
    clusters: [{ name: "logs", cluster: { server } }],
    users: [{ name: "logs", user: { token: "t" } }],
    contexts: [{ name: "logs", context: { cluster: "logs", user: "logs" } }],
  });
}
