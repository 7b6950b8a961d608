// The proxy put together: players come in, go to the gate, and from there where the service lets them.

import { randomBytes } from "node:crypto";
import {
  createBridge,
  createLoginKeys,
  findVersion,
  listen,
  type Ping,
  type Player,
  type ServerStatus,
  supportedProtocols,
  type Trust,
} from "@svc/minecraft";
import { addressKey } from "@svc/proto/address";
import { systemClock } from "@svc/service/clock";
import type { Logger, Registry as Metrics } from "@svc/telemetry";
import { createAnnouncements } from "./announcement/announcements.ts";
import { createTelling } from "./announcement/tell.ts";
import { createInternalApi } from "./api/internal-api.ts";
import { createPool } from "./api/pool.ts";
import { createProxyToken } from "./api/token.ts";
import { createStatusCache } from "./backend/status-cache.ts";
import { createBudget } from "./budget/budget.ts";
import { commandTree, completeCommand } from "./command/complete.ts";
import { runCommand } from "./command/run.ts";
import { type ProxyConfig, parseAddress } from "./config.ts";
import { connectPlayer, onLost } from "./connect/connect-player.ts";
import { createForeignFrameLog } from "./control/foreign-frames.ts";
import { takeFrame } from "./control/frames.ts";
import { createMenuCache } from "./control/menu-cache.ts";
import { mayReach } from "./control/policy.ts";
import { drain, readTicket, transferAway } from "./drain/drain.ts";
import { createForwarding } from "./forwarding/secrets.ts";
import { createLinkCache } from "./gate/link-cache.ts";
import { subdomainOf } from "./gate/policy.ts";
import { createInvites } from "./invite/invites.ts";
import { parsePeers } from "./login/peers.ts";
import { startLoops } from "./loops.ts";
import { createOnline, createPresenceReports } from "./player/presence.ts";
import { checkStandings } from "./player/standing.ts";
import { createVersionReports } from "./player/versions.ts";
import { isForged, takeRequest } from "./plugin-message/take-request.ts";
import { drainQueue } from "./queue/drain-queue.ts";
import { createQueue } from "./queue/queue.ts";
import { joinAddress } from "./registry/join-address.ts";
import { createRefresh } from "./registry/refresh.ts";
import { createRefreshOnMiss, shareRuns } from "./registry/refresh-on-miss.ts";
import { createRegistry, readLastServers } from "./registry/registry.ts";
import { createActivity } from "./report/activity.ts";
import { logConnected, reportDisconnected } from "./report/player-events.ts";
import { createVisits } from "./report/visits.ts";
import { isSystem } from "./session/place.ts";
import { disconnect, isCurrent, type Session, sentence } from "./session/session.ts";
import { entryOf, listingOf } from "./status/motd.ts";

type Proxy = AsyncDisposable & {
  readonly port: number;
  readonly isReady: () => string | undefined;
  readonly close: () => Promise<void>;
};

export async function startProxy(
  config: ProxyConfig,
  { log, metrics }: { log: Logger; metrics: Metrics },
): Promise<Proxy> {
  const context = createContext(config, { log, metrics });
  const { limits } = config;
  if (config.localNames)
    log.warn(
      "local-names is on: clients choose their own names, and anyone who reaches this port can be anyone",
    );
  await context.refresh();
  // Nobody waits for it: what is announced is told a moment later.
  void context.announcements.refresh();
  const listener = await listen({
    port: config.listenPort,
    host: config.listenHost,
    trust: trustOf(config),
    proxyProtocol: config.acceptProxyProtocol && parsePeers(config.trustedProxies),
    loginTimeoutMs: limits.loginTimeoutMs,
    maxConnections: limits.connections,
    maxPerAddress: limits.connectionsPerAddress,
    // Each login is a request to a session server.
    loginWaitMs: (address) => context.logins.spend(addressKey(address)),
    status: (ping) => statusOf(context, ping),
    onRefused: (fault) => context.activity.refused(fault.code),
    onPlayer: (player) => {
      const welcomed = welcome(context, player);
      loops.resume();
      return welcomed;
    },
    onBroken: (error) => log.error({ error }, "login failed unexpectedly"),
  });
  const hasPlayers = () => context.sessions.size > 0;
  const loops = startLoops(
    [
      { name: "refresh", everyMs: limits.refreshMs, run: context.refresh },
      {
        name: "first list",
        everyMs: limits.firstRefreshMs,
        isNeeded: () => context.registry.refreshedAt() === undefined,
        run: context.refresh,
      },
      {
        name: "queue",
        everyMs: limits.queueTickMs,
        isNeeded: () => hasPlayers() || context.queue.all().length > 0,
        run: () => drainQueue(context),
      },
      { name: "announcements", everyMs: limits.announcementsMs, run: context.announcements.refresh },
      { name: "telling", everyMs: limits.queueTickMs, isNeeded: hasPlayers, run: createTelling(context) },
      { name: "versions", everyMs: limits.presenceMs, ...createVersionReports(context) },
      { name: "presence", everyMs: limits.presenceMs, ...createPresenceReports(context) },
      visitsLoop(context),
      {
        name: "standings",
        everyMs: limits.standingMs,
        isNeeded: hasPlayers,
        run: () => checkStandings(context),
      },
      {
        name: "activity",
        everyMs: limits.activityMs,
        run: async () => log.info(context.activity.flush(context.queue.all().length), "activity"),
      },
    ],
    log,
  );
  const close = async () => {
    await drain(context, listener);
    await loops.stop();
    const ends = [...context.sessions.values()].map(({ bridge }) => bridge.player.connection.closed);
    await listener.close();
    await Promise.all(ends);
    await Promise.all(context.reports);
    await reportVisits(context);
    // So that nobody is listed here for the seconds until our silence is noticed.
    if (config.onlineMode) await context.api.reportPlayers(context.proxyId, []);
    context.api.close();
  };
  const isReady = () => (context.registry.isKnown() ? undefined : "no server list received yet");
  return { port: listener.port, isReady, close, [Symbol.asyncDispose]: close };
}

type Context = ReturnType<typeof createContext>;

// An unverified UUID says nothing of its real owner.
async function reportVisits({ config, visits, api, proxyId }: Context): Promise<void> {
  if (!config.onlineMode) return;
  await visits.report(async (some) => (await api.reportVisits(proxyId, some)).ok);
}

function visitsLoop(context: Context) {
  const { config, sessions, visits } = context;
  return {
    name: "visits",
    everyMs: config.limits.visitsMs,
    isNeeded: () => config.onlineMode && (sessions.size > 0 || visits.isNeeded()),
    run: () => reportVisits(context),
  };
}

/** Wires all parts; each of them declares which dependencies it takes. */
function createContext(config: ProxyConfig, { log, metrics }: { log: Logger; metrics: Metrics }) {
  const { limits, dataDir } = config;
  const { now } = systemClock;
  const sessions = new Map<string, Session>();
  const queue = createQueue();
  const activity = createActivity(metrics, {
    players: () => sessions.size,
    waiting: () => queue.all().length,
  });
  const onChange = (fingerprint: string) => log.info({ fingerprint }, "service token loaded");
  const token = createProxyToken(config, { rereadMs: limits.tokenRereadMs, now, onChange });
  const api = createInternalApi({ ...config, baseUrl: config.apiBaseUrl, token, onCall: activity.call });
  const pool = createPool({ ...limits, onBusy: () => activity.count("busy") });
  const registry = createRegistry(readLastServers(dataDir));
  const forwarding = createForwarding(config.forwardingMasterFile, {
    rereadMs: limits.tokenRereadMs,
    now,
    onFault: (fault) =>
      log.error({ fault }, "reading the forwarding masters failed; keeping the previous ones"),
  });
  const { outageWarningMs } = limits;
  const refresh = shareRuns(createRefresh({ api, registry, activity, log, now, dataDir, outageWarningMs }));
  return {
    config,
    log,
    now,
    api,
    pool,
    statuses: createStatusCache({ keepMs: limits.serverLookMs, timeoutMs: limits.serverLookTimeoutMs, now }),
    refresh,
    refreshOnMiss: createRefreshOnMiss({ refresh, everyMs: limits.lookAgainMs, now }),
    registry,
    forwarding,
    proxyId: `${config.name}-${randomBytes(4).toString("hex")}`,
    online: createOnline({ api, keepMs: limits.onlineCacheMs, now }),
    reports: new Set<Promise<void>>(),
    queue,
    announcements: createAnnouncements({ api, now }),
    activity,
    sessions,
    visits: createVisits(
      () => performance.now(),
      (count) => {
        log.warn({ count }, "visits were not reported for too long; their time is lost");
        activity.count("visitsDropped");
      },
    ),
    invites: createInvites({ ttlMs: limits.inviteTtlMs, cooldownMs: limits.inviteCooldownMs, now }),
    logins: createBudget({ burst: limits.loginBurst, everyMs: limits.loginEveryMs }, now),
    actions: createBudget({ burst: limits.actionBurst, everyMs: limits.actionEveryMs }, now),
    frames: createBudget({ burst: limits.frameBurst, everyMs: limits.frameEveryMs }, now),
    completions: createBudget({ burst: limits.frameBurst, everyMs: limits.frameEveryMs }, now),
    links: createLinkCache({ keepMs: limits.linkMemoryMs, players: limits.linkMemoryPlayers, now }),
    isRouting: config.onlineMode && config.rootDomain !== "",
    life: { isDraining: false },
    menus: createMenuCache({ api, pool, keepMs: limits.statusCacheMs, now }),
    foreignFrames: createForeignFrameLog({ log, everyMs: limits.strangerWarningMs, now }),
  };
}

/** Longer than a session server usually takes. */
const askAgainMs = 2_000;

function trustOf({ onlineMode, localNames, sessionServer, ...config }: ProxyConfig): Trust {
  if (!onlineMode) return { kind: "offline" };
  const tellsBars = sessionServer === config.apiBaseUrl;
  const judge = {
    root: sessionServer,
    timeoutMs: config.requestTimeoutMs,
    ...(tellsBars && { tellsBars, askAgainMs }),
  };
  if (localNames) return { kind: "named", sessionServer: judge };
  return { kind: "online", keys: createLoginKeys(), sessionServer: judge };
}

async function statusOf(context: Context, { host, protocol }: Ping): Promise<ServerStatus> {
  const { config, registry, sessions } = context;
  const subdomain = subdomainOf(host, config.rootDomain);
  if (subdomain === undefined)
    return { description: "svc", playersOnline: sessions.size, playersMax: sessions.size + 1 };
  const server = registry.bySubdomain(subdomain);
  const listing = listingOf(server, context.now(), context.announcements.window() !== undefined);
  const place = parseAddress((server && joinAddress(server)) ?? "");
  if (!server || !place) return entryOf(server, listing, undefined);
  // Whatever number a client makes up, a server is asked as one of those that we speak.
  const version = findVersion(protocol)?.protocol ?? supportedProtocols.at(-1) ?? 0;
  const backend = { name: server.name, ...place, proxyProtocol: config.sendProxyProtocol };
  return entryOf(server, listing, await context.statuses.read(backend, version));
}

async function welcome(context: Context, player: Player): Promise<void> {
  const { config, registry, sessions, log } = context;
  const { uuid, name } = player.profile;
  const subdomain = context.isRouting ? subdomainOf(player.host, config.rootDomain) : undefined;
  const named = subdomain === undefined ? undefined : registry.bySubdomain(subdomain)?.name;
  // Gate and lobby are not destinations: everybody passes the gate and then the lobby.
  const target = named === undefined || isSystem(context, named) ? undefined : named;
  const bridge = createBridge(player, {
    onCommand: (line) => runCommand(context, session, line),
    // In the gate no command works.
    commandsOn: (server) => (server === config.loginServer ? [] : commandTree),
    onComplete: (line) => completeCommand(context, session, line),
    onServerMessage: (message, server) =>
      takeFrame(context, session, { message, server }) || takeRequest(context, session, { message, server }),
    onClientMessage: (message) => isForged(context, message),
    onReaching: (packet, server, key) => {
      const isKept = !mayReach(packet, key, config.serverTransfers);
      if (isKept) context.foreignFrames.warn(server, packet);
      return isKept;
    },
    onLost: (server, reason) => {
      void onLost(context, session, { server, reason }).catch((error: unknown) =>
        log.error({ error }, "moving a player to the lobby failed"),
      );
    },
  });
  const start = {
    place: { kind: "none" } as const,
    target,
    unknownSubdomain: named === undefined ? subdomain : undefined,
    isReleased: false,
    isReleasing: false,
    deniedAt: Number.NEGATIVE_INFINITY,
    lost: undefined,
    ended: undefined,
  };
  const session: Session = { id: randomBytes(8).toString("hex"), uuid, name, bridge, ...start };
  const before = sessions.get(uuid);
  sessions.set(uuid, session);
  if (before) disconnect(before, sentence(before, "elsewhere"), "elsewhere");
  logConnected(context, session);
  context.queue.leave(uuid);
  void player.connection.closed.then((fault) => {
    reportDisconnected(context, session, fault);
    leave(context, session);
  });
  if (context.life.isDraining) {
    transferAway(context, session);
    return;
  }
  if (context.isRouting) session.target ??= await readTicket(context, session);
  const result = await connectPlayer(context, session, { kind: "gate" });
  if (!result.ok && result.why !== "left")
    disconnect(session, result.reason || sentence(session, "gateUnavailable"), "no_gate");
}

function leave(context: Context, session: Session): void {
  if (!isCurrent(context, session)) return;
  const { uuid } = session;
  context.sessions.delete(uuid);
  context.queue.leave(uuid);
  context.invites.forget(uuid);
}
