import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerInfo } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { loadConfig } from "../config.ts";
import { startProxy } from "../proxy.ts";
import { type Game, joinAs, secret, startGame } from "./game.ts";
import { type Account, startService } from "./service.ts";

export const rootDomain = "play.example";

export function serverInfo(name: string, change: Partial<ServerInfo> = {}): ServerInfo {
  const counts = { playersOnline: 0, playersMax: 20, idleStopSeconds: 600 };
  return {
    name,
    subdomain: name,
    phase: "Stopped",
    desiredState: "Stopped",
    ready: false,
    ...counts,
    ...change,
  };
}

export function runningAt(name: string, game: Game): ServerInfo {
  const endpoint = { endpointMode: "direct", endpointAddress: game.address } as const;
  return serverInfo(name, { phase: "Running", desiredState: "Running", ready: true, ...endpoint });
}

function startIn(dir: string, apiBaseUrl: string, settings: Record<string, string>) {
  const config = loadConfig({
    SVC_API_BASE_URL: apiBaseUrl,
    SVC_SERVICE_TOKEN: "velocity",
    SVC_ROOT_DOMAIN: rootDomain,
    SVC_FORWARDING_SECRET: secret,
    SVC_PROXY_PORT: "0",
    SVC_PROXY_DIR: dir,
    SVC_PROXY_QUEUE_TICK_MS: "50",
    SVC_PROXY_REFRESH_MS: "100",
    SVC_PROXY_DENIAL_MS: "1",
    SVC_PROXY_DRAIN_MS: "2000",
    ...settings,
  });
  return startProxy(config, {
    log: createLogger("proxy", "fatal"),
    metrics: createRegistry("proxy", "test"),
  });
}

/** A proxy with its gate, its lobby and a service, all on sockets. */
export async function startBed(settings: Record<string, string> = {}) {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), "svc-proxy-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const service = stack.use(await startService());
  const [gate, lobby, survival] = [
    stack.use(await startGame()),
    stack.use(await startGame()),
    stack.use(await startGame()),
  ];
  service.servers.set("login", runningAt("login", gate));
  service.servers.set("lobby", runningAt("lobby", lobby));
  const start = (change: Record<string, string> = {}) =>
    startIn(dir, service.root, { ...settings, ...change });
  const proxy = await start();
  const players: ReturnType<typeof joinAs>[] = [];
  stack.defer(async () => {
    for (const player of players) await player.leave();
  });
  const owned = stack.move();
  let current = proxy;
  const joinHere = (account: Account, host: string) => {
    const player = joinAs(service, { port: current.port, host, account });
    players.push(player);
    return player;
  };
  return {
    service,
    gate,
    lobby,
    survival,
    get proxy() {
      return current;
    },
    account: (name: string, { isLinked = true } = {}): Account => {
      const account = { name, uuid: randomUUID() };
      if (isLinked) service.linked.add(account.uuid);
      return account;
    },
    join: joinHere,
    /** Joins, waits for the gate, and lets the gate ask for the release. */
    pass: async (account: Account, host: string) => {
      const player = joinHere(account, host);
      await gate.player(account.name);
      gate.send(account.name, { type: "LoginRelease", player: null });
      return player;
    },
    restart: async (change: Record<string, string> = {}) => {
      await current.close();
      current = await start(change);
    },
    async [Symbol.asyncDispose]() {
      await current.close();
      await owned.disposeAsync();
    },
  };
}
