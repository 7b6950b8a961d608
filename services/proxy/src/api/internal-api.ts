// Calls of the internal face, with the proxy's own token (docs/reference/proxy.md#calls). An answer is a value, never an
// exception: what to do without one is a rule of whoever asked.

import { ApiError, type ClientInput, type ClientOutput, createClient } from "@svc/client";
import {
  type AnyContract,
  accountMigrations,
  type InputOf,
  imageChoices,
  links,
  ownership,
  players,
  servers,
  signIn,
} from "@svc/proto";
import type { TokenSource } from "@svc/service/token";
import { Agent, fetch as undiciFetch } from "undici";
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
  limits: Pick<Limits, "retryPauseMinMs" | "retryPauseMaxMs" | "serviceConnections">;
  onCall: (record: CallRecord) => void;
};

type Mover = { mc_uuid: string; player_name: string };

export type InternalApi = ReturnType<typeof createInternalApi>;

export function createInternalApi(options: InternalApiOptions) {
  const agent = new Agent({
    connect: { timeout: options.connectTimeoutMs },
    connections: options.limits.serviceConnections,
  });
  const withAgent = (url: URL, init: object) => undiciFetch(url, { ...init, dispatcher: agent });
  const fetch = withAgent as unknown as typeof globalThis.fetch;
  const call = <C extends AnyContract>(contract: C, input: ClientInput<C>) =>
    callWithRetry(options, contract, async () => {
      const headers = { authorization: `Bearer ${options.token()}` };
      const signal = AbortSignal.timeout(options.requestTimeoutMs);
      return createClient({ baseUrl: options.baseUrl, headers, fetch }).call(contract, input, { signal });
    });
  return {
    listServers: () => call(servers.list, {}),
    readStatus: (name: string) => call(servers.readStatus, { name }),
    wake: (name: string, mc_uuid: string) => call(servers.wakeForPlayer, { name, mc_uuid }),
    reportJoin: (name: string, player: Mover) => call(servers.reportJoin, { name, ...player }),
    reportLeave: (name: string, player: Mover & { reason: string }) =>
      call(players.reportLeave, { name, ...player }),
    reportPlayers: (proxy: string, all: InputOf<typeof players.reportPlayers>["players"]) =>
      call(players.reportPlayers, { proxy, players: all }),
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
    close: () => agent.destroy(),
  };
}

type Refusal = Extract<Answer<never>, { ok: false }>;

async function callWithRetry<C extends AnyContract>(
  options: InternalApiOptions,
  contract: C,
  send: () => Promise<ClientOutput<C>>,
): Promise<Answer<ClientOutput<C>>> {
  const startedAt = performance.now();
  const attempt = (): Promise<Answer<ClientOutput<C>> & { isDropped?: boolean }> =>
    send().then((value) => ({ ok: true, status: contract.http?.status ?? 200, value }) as const, refusalOf);
  let answer = await attempt();
  const isRetried = contract.http?.method === "GET" && !answer.ok && mayRepeat(answer);
  if (isRetried) {
    await pause(options.limits);
    answer = await attempt();
  }
  const elapsedMs = performance.now() - startedAt;
  options.onCall({ operation: contract.subject, status: answer.status, elapsedMs, isRetried });
  return answer;
}

function mayRepeat(answer: Refusal & { isDropped?: boolean }): boolean {
  return answer.isDropped === true || [502, 503, 504].includes(answer.status);
}

function refusalOf(error: unknown): Refusal & { isDropped: boolean } {
  if (error instanceof ApiError) {
    const { status, code, message, retryAfterSeconds } = error;
    return { ok: false, status, code, message, retryAfterSeconds, isDropped: false };
  }
  // A call that timed out may still be at work over there; asking twice would make a slow service slower.
  const isDropped = !isTimeout(error);
  const message = error instanceof Error ? error.message : String(error);
  return { ok: false, status: 0, code: "", message, retryAfterSeconds: undefined, isDropped };
}

function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = error.cause instanceof Error && "code" in error.cause ? String(error.cause.code) : "";
  return error.name === "TimeoutError" || code.endsWith("_TIMEOUT") || code === "ETIMEDOUT";
}

function pause({ retryPauseMinMs: min, retryPauseMaxMs: max }: InternalApiOptions["limits"]): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, min + Math.random() * Math.max(0, max - min)));
}
