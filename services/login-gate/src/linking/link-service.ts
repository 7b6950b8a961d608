// What the gate asks the service, and what the answers mean to a player who waits.

import { ApiError, type CallSettings, type Client } from "@svc/client";
import { links } from "@svc/proto";
import type { Clock } from "@svc/service/clock";
import { oneByOneMs } from "../config.ts";
import { createBatchedPoll } from "./batched-poll.ts";
import type { Answer } from "./policy.ts";

export type LinkService = {
  look: (uuid: string, signal: AbortSignal) => Promise<Answer>;
  /** Resolves with the next batched poll, within `pollMs`. */
  poll: (uuid: string, signal: AbortSignal) => Promise<Answer>;
  mint: (uuid: string, signal: AbortSignal) => Promise<Answer>;
};

type Dependencies = {
  readonly client: Client;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly pollMs: number;
  /** Runs a call once there is room for it. */
  readonly limit: <T>(run: () => Promise<T>, signal: AbortSignal) => Promise<T>;
  /** Called for every failed call. */
  readonly onFailure: (call: string, error: unknown) => void;
};

/** Calls of the service as answers of the policy. Rejects only once the player's `signal` is aborted. */
export function createLinkService({
  client,
  timeoutMs,
  limit,
  onFailure,
  ...rhythm
}: Dependencies): LinkService {
  const answer = async (
    call: string,
    signal: AbortSignal,
    ask: (settings: CallSettings) => Promise<Answer>,
  ): Promise<Answer> => {
    try {
      return await limit(() => withDeadline({ signal, timeoutMs }, ask), signal);
    } catch (error) {
      signal.throwIfAborted();
      return failed(call, error);
    }
  };
  const failed = (call: string, error: unknown): Answer => {
    onFailure(call, error);
    return { kind: kindOf(error) };
  };
  const askAll = async (mc_uuids: readonly string[]) => {
    const ask = (settings: CallSettings) =>
      client.call(links.linkStatuses, { mc_uuids: [...mc_uuids] }, settings);
    return (await withDeadline({ timeoutMs }, ask)).linked;
  };
  const askOne = (mc_uuid: string, signal: AbortSignal) =>
    answer("poll", signal, async (settings) => {
      const { linked } = await client.call(links.linkStatus, { mc_uuid }, settings);
      return { kind: linked ? "linked" : "unlinked" };
    });
  const answerOf = (error: unknown) => failed("poll", error);
  return {
    look: (mc_uuid, signal) =>
      answer("look", signal, async (settings) => {
        const { blacklisted } = await client.call(links.readBlacklist, { mc_uuid }, settings);
        if (blacklisted) return { kind: "barred" };
        const { linked } = await client.call(links.linkStatus, { mc_uuid }, settings);
        return { kind: linked ? "linked" : "unlinked" };
      }),
    poll: createBatchedPoll({ askAll, askOne, answerOf, oneByOneMs, ...rhythm }),
    mint: (mc_uuid, signal) =>
      answer("mint", signal, async (settings) => {
        const { code, expires_at, panel_url } = await client.call(links.mintCode, { mc_uuid }, settings);
        return {
          kind: "minted",
          code,
          expiresAt: Date.parse(expires_at),
          ...(panel_url ? { url: panel_url } : {}),
        };
      }),
  };
}

// An answer that is not the service's (a proxy's page, say) is an outage: it says nothing about the player.
function kindOf(error: unknown): "outage" | "unauthenticated" | "refused" {
  if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) return "outage";
  return error.status === 401 ? "unauthenticated" : "refused";
}

// AbortSignal.timeout and .any would live for the whole timeout: with a thousand polls a second that grew to 300 MB.
async function withDeadline<T>(
  { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs: number },
  ask: (settings: CallSettings) => Promise<T>,
): Promise<T> {
  const call = new AbortController();
  const end = () => call.abort();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  try {
    return await ask({ signal: call.signal });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}
