// Calls of the internal face, with the proxy's own token (docs/reference/proxy.md#calls). An answer is a value, never an
// exception: what to do without one is a rule of whoever asked.

import { ApiError, type ClientInput, type ClientOutput, createClient } from "@svc/client";
import {
  type AnyContract,
  accountMigrations,
  announcements,
  type InputOf,
  imageChoices,
  knownPlayers,
  links,
  ownership,
  players,
  servers,
  signIn,
} from "@svc/proto";
import { createNodeFetch, type NodeFetch } from "@svc/service/node-fetch";
import type { TokenSource } from "@svc/service/token";
import type { Limits } from "../limit-settings.ts";

/** Status 0 = no answer: refused, dropped, timed out. */
export type Answer<T> =
  | { ok: true; status: number; value: T }
  | { ok: false; status: number; code: string; message: string; retryAfterSeconds: number | undefined };

/** One finished call, for the activity line and the metrics. */
export type CallRecord = { operation: string; status: number; elapsedMs: number; isRetried: boolean };

type InternalApiOptions = {
  baseUrl: string;
  token: TokenSource;
  connectTimeoutMs: number;
  requestTimeoutMs: number;
  limits: Pick<Limits, "retryPauseMinMs" | "retryPauseMaxMs" | "serviceConnections" | "serviceTryMs">;
  onCall: (record: CallRecord) => void;
};

type Mover = { mc_uuid: string; player_name: string };

export type InternalApi = ReturnType<typeof createInternalApi>;

export function createInternalApi(options: InternalApiOptions) {
  const connections = createConnections(options);
  const call = <C extends AnyContract>(contract: C, input: ClientInput<C>) =>
    callWithRetry(options, contract, async (limitMs) => {
      const headers = { authorization: `Bearer ${options.token()}` };
      const signal = AbortSignal.timeout(limitMs);
      const { fetch, giveUp } = connections.current();
      const client = createClient({ baseUrl: options.baseUrl, headers, fetch });
      return client.call(contract, input, { signal }).catch((error: unknown) => {
        if (isTimeout(error)) giveUp();
        throw error;
      });
    });
  return {
    listServers: () => call(servers.list, {}),
    listAnnouncements: () => call(announcements.listForProxy, {}),
    readStatus: (name: string) => call(servers.readStatus, { name }),
    wake: (name: string, mc_uuid: string) => call(servers.wakeForPlayer, { name, mc_uuid }),
    reportJoin: (name: string, player: Mover) => call(servers.reportJoin, { name, ...player }),
    reportLeave: (name: string, player: Mover & { reason: string }) =>
      call(players.reportLeave, { name, ...player }),
    reportPlayers: (proxy: string, all: InputOf<typeof players.reportPlayers>["players"]) =>
      call(players.reportPlayers, { proxy, players: all }),
    reportVisits: (proxy: string, visits: knownPlayers.Visit[]) =>
      call(knownPlayers.reportVisits, { proxy, visits }),
    reportVersions: (all: InputOf<typeof imageChoices.reportVersions>["players"]) =>
      call(imageChoices.reportVersions, { players: all }),
    listPlayers: () => call(players.listForProxy, {}),
    invite: (mc_uuid: string, card: Omit<InputOf<typeof players.invite>, "mc_uuid">) =>
      call(players.invite, { mc_uuid, ...card }),
    claim: (name: string, mc_uuid: string) => call(ownership.claimForPlayer, { name, mc_uuid }),
    readMenu: (name: string) => call(ownership.readMenu, { name }),
    menuAccess: (mc_uuid: string) => call(ownership.readMenuAccess, { mc_uuid }),
    linkStatus: (mc_uuid: string) => call(links.linkStatus, { mc_uuid }),
    readStandings: (mc_uuids: string[]) => call(links.readStandings, { mc_uuids }),
    mintCode: (mc_uuid: string) => call(links.mintCode, { mc_uuid }),
    startMigration: (mc_uuid: string) => call(accountMigrations.start, { mc_uuid }),
    pendingLogins: () => call(signIn.listPendingOpLogins, {}),
    readLogin: (id: string, approver_uuid: string) => call(signIn.readOpLogin, { id, approver_uuid }),
    approveLogin: (id: string, approver_uuid: string, username: string) =>
      call(signIn.approveOpLogin, { id, approver_uuid, username }),
    close: () => connections.close(),
  };
}

/** Connections to the service; those on which a replica may hang are left for new ones, which another may take. */
function createConnections({ connectTimeoutMs, limits }: InternalApiOptions) {
  const left = new Set<NodeFetch>();
  const open = () => createNodeFetch({ connections: limits.serviceConnections, connectTimeoutMs });
  let newest = open();
  return {
    current: () => {
      const used = newest;
      const giveUp = () => {
        if (newest !== used) return;
        newest = open();
        left.add(used);
        // What is under way there goes on.
        void used.close().then(() => left.delete(used));
      };
      return { fetch: used.fetch, giveUp };
    },
    close: () => {
      for (const one of [newest, ...left]) one.destroy();
    },
  };
}

type Refusal = Extract<Answer<never>, { ok: false }>;

type Failure = Refusal & { isDropped: boolean; isTimeout: boolean };
type Tried<T> = Extract<Answer<T>, { ok: true }> | Failure;

/** The last one waits for as long as the call may take: a service that is only slow answers then. */
const readTries = 4;

async function callWithRetry<C extends AnyContract>(
  options: InternalApiOptions,
  contract: C,
  send: (limitMs: number) => Promise<ClientOutput<C>>,
): Promise<Answer<ClientOutput<C>>> {
  const startedAt = performance.now();
  const leftMs = () => Math.max(1, Math.ceil(startedAt + options.requestTimeoutMs - performance.now()));
  const attempt = (limitMs: number): Promise<Tried<ClientOutput<C>>> =>
    send(limitMs).then(
      (value) => ({ ok: true, status: contract.http?.status ?? 200, value }) as const,
      refusalOf,
    );
  const { limits } = options;
  const isRead = contract.http?.method === "GET" || contract.idempotent === true;
  const mostTries = isRead ? readTries : 1;
  const limitOf = (number: number) =>
    number === mostTries ? leftMs() : Math.min(limits.serviceTryMs, leftMs());
  let answer = await attempt(limitOf(1));
  let [tries, isPaused] = [1, false];
  while (tries < mostTries && leftMs() > 1) {
    if (answer.ok || (!answer.isTimeout && (isPaused || !mayRepeat(answer)))) break;
    if (!answer.isTimeout) {
      isPaused = true;
      await pause(limits);
    }
    tries += 1;
    answer = await attempt(limitOf(tries));
  }
  const isRetried = tries > 1;
  const elapsedMs = performance.now() - startedAt;
  options.onCall({ operation: contract.subject, status: answer.status, elapsedMs, isRetried });
  return answer;
}

function mayRepeat(answer: Failure): boolean {
  return answer.isDropped || [502, 503, 504].includes(answer.status);
}

function refusalOf(error: unknown): Failure {
  if (error instanceof ApiError) {
    const { status, code, message, retryAfterSeconds } = error;
    return { ok: false, status, code, message, retryAfterSeconds, isDropped: false, isTimeout: false };
  }
  const isLate = isTimeout(error);
  const message = error instanceof Error ? error.message : String(error);
  return {
    ok: false,
    status: 0,
    code: "",
    message,
    retryAfterSeconds: undefined,
    isDropped: !isLate,
    isTimeout: isLate,
  };
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "";
  return error.name === "TimeoutError" || code.endsWith("_TIMEOUT") || code === "ETIMEDOUT";
}

function pause({ retryPauseMinMs: min, retryPauseMaxMs: max }: InternalApiOptions["limits"]): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, min + Math.random() * Math.max(0, max - min)));
}
