import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  forwardingKeyOf,
  type ServerInfo,
  serverForwardingSecret,
  systemForwardingSecrets,
} from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import { loadConfig } from "../config.ts";
import { startProxy } from "../proxy.ts";
import { type Game, joinAs, startGame } from "./game-server.ts";
import { joinRaw, type Where } from "./raw-player.ts";
import { type Account, serviceToken, startService } from "./service.ts";

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

const master = "m".repeat(43);

/** A run's key and secret, as lifecycle settles them. */
export function runOf(name: string): { key: string; secret: string } {
  const key = forwardingKeyOf(master, { uid: name, generation: 1 });
  return { key, secret: serverForwardingSecret([master], { name, key }) ?? "" };
}

type Place = Pick<Game, "address"> & Partial<Pick<Game, "accept">>;

/** A server that runs as the operator starts it: it believes who signs with the secret of this run. */
export function runningAt(name: string, game: Place): ServerInfo {
  const endpoint = { endpointMode: "direct", endpointAddress: game.address } as const;
  const up = { phase: "Running", desiredState: "Running", ready: true, ...endpoint } as const;
  if (name === "login" || name === "lobby") {
    for (const secret of systemForwardingSecrets([master], name)) game.accept?.(secret);
    return serverInfo(name, up);
  }
  const { key, secret } = runOf(name);
  game.accept?.(secret);
  return serverInfo(name, { ...up, forwardingKey: key });
}

type Settings = Record<string, string>;

/** What the proxies of a fixture wrote into their log, without the time. */
type Line = { msg: string } & Record<string, unknown>;

async function startIn(
  dir: string,
  { apiBaseUrl, lines }: { apiBaseUrl: string; lines: Line[] },
  settings: Settings,
) {
  const config = loadConfig({
    SVC_API_BASE_URL: apiBaseUrl,
    SVC_SERVICE_TOKEN: serviceToken,
    SVC_ROOT_DOMAIN: rootDomain,
    SVC_FORWARDING_MASTER_FILE: join(dir, "forwarding-master"),
    SVC_PROXY_PORT: "0",
    SVC_PROXY_DIR: dir,
    SVC_PROXY_QUEUE_TICK_MS: "50",
    SVC_PROXY_REFRESH_MS: "100",
    SVC_PROXY_ANNOUNCEMENTS_MS: "100",
    SVC_PROXY_DENIAL_MS: "1",
    SVC_PROXY_DRAIN_MS: "2000",
    ...settings,
  });
  const metrics = createRegistry("proxy", "test");
  const log = Object.assign(createLogger("proxy", "fatal"), {
    info: (fields: object | string, msg = "") =>
      void lines.push(typeof fields === "string" ? { msg: fields } : { msg, ...fields }),
  });
  const proxy = await startProxy(config, { log, metrics });
  return Object.assign(proxy, { metrics });
}

type FixtureOptions = {
  /** Gate, lobby and server want a PROXY header. */
  proxyProtocol?: boolean;
  /** Before the proxy's first poll. */
  prepare?: (fixture: {
    service: Awaited<ReturnType<typeof startService>>;
    survival: Game;
    dir: string;
  }) => void;
};

async function startNeighbours(stack: AsyncDisposableStack, options: FixtureOptions) {
  const dir = await mkdtemp(join(tmpdir(), "svc-proxy-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await writeFile(join(dir, "forwarding-master"), master);
  const service = stack.use(await startService());
  const gate = stack.use(await startGame(options));
  const lobby = stack.use(await startGame(options));
  const survival = stack.use(await startGame(options));
  service.servers.set("login", runningAt("login", gate));
  service.servers.set("lobby", runningAt("lobby", lobby));
  return { dir, service, gate, lobby, survival };
}

/** A proxy with its gate, its lobby and a service, all on sockets. */
export async function startFixture(settings: Settings = {}, options: FixtureOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const { dir, service, gate, lobby, survival } = await startNeighbours(stack, options);
  options.prepare?.({ service, survival, dir });
  const lines: Line[] = [];
  const start = (change: Settings = {}) =>
    startIn(dir, { apiBaseUrl: service.root, lines }, { ...settings, ...change });
  const proxy = await start();
  const players: { leave: () => Promise<void> }[] = [];
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
  const release = async ({ name }: Account) => {
    await gate.player(name);
    gate.send(name, { type: "LoginRelease", player: null });
  };
  const raw = async (account: Account, host: string, how: Partial<Where> = {}) => {
    const player = await joinRaw(service, { port: current.port, host, account, ...how });
    players.push(player);
    return player;
  };
  return {
    service,
    dir,
    lines,
    raw,
    /** The gate asks for this player's release. */
    release,
    /** As `pass`, with a client that writes its own packets. */
    passRaw: async (account: Account, host: string, how: Partial<Where> = {}) => {
      const player = await raw(account, host, how);
      await release(account);
      return player;
    },
    /** One more proxy of the same service. */
    startAnother: async (change: Settings = {}) => {
      const other = await start(change);
      owned.defer(() => other.close());
      return other;
    },
    gate,
    lobby,
    survival,
    get proxy() {
      return current;
    },
    get metrics() {
      return current.metrics;
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
      await release(account);
      return player;
    },
    restart: async (change: Settings = {}) => {
      await current.close();
      current = await start(change);
    },
    async [Symbol.asyncDispose]() {
      await current.close();
      await owned.disposeAsync();
    },
  };
}

export type Fixture = Awaited<ReturnType<typeof startFixture>>;
