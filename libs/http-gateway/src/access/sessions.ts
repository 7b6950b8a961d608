// Caches what identity said about a session or an API token for a few seconds (docs/reference/sign-in.md#session).

import type { CallOptions, Mesh } from "@svc/mesh";
import { accounts, apiTokens, eventFilter, Fault } from "@svc/proto";
import type { LiveToken } from "./api-token.ts";
import type { LiveSession } from "./tier-policy.ts";

export type Sessions = Known<LiveSession, accounts.SessionAnswer> & {
  tokens: Omit<Known<LiveToken, apiTokens.TokenAnswer>, "forget">;
  /** Calls back with the hash of each session or token that is revoked anywhere. */
  onRevoked: (listener: (hash: string) => void) => void;
  close: () => void;
};

/** What identity knows of credentials of one kind, by the hash of their secret. */
type Known<Live, Answer> = {
  /** A credential that was live within the last seconds, from the cache. */
  recall: (hash: string, isUse: boolean) => Live | undefined;
  /** Asks identity. Concurrent callers with the same credential share one request. Throws `auth_unavailable`. */
  ask: (hash: string, isUse: boolean, options: CallOptions) => Promise<Answer>;
  forget: (hash: string) => void;
};

type Entry<Live, Answer> = {
  answer?: Live;
  until: number;
  asked?: Promise<Answer>;
  /** Identity was told that a person uses it; what a poll has asked must not hide a use from identity. */
  isUse: boolean;
};

type Limits = { cacheMs: number; size: number };
type State = { state: string };
type LiveState = { state: "live"; expires_at: string };

/** Caches at most `size` sessions, and as many tokens, for `cacheMs`; a revoke event drops one at once. */
export function createSessions(mesh: Pick<Mesh, "call" | "listen">, limits: Limits): Sessions {
  const sessions = createKnown<LiveSession, accounts.SessionAnswer>(limits, (hash, isUse, options) =>
    mesh.call(accounts.resolveSession, { hash, is_use: isUse }, options),
  );
  const tokens = createKnown<LiveToken, apiTokens.TokenAnswer>(limits, (hash, _isUse, options) =>
    mesh.call(apiTokens.resolve, { hash }, options),
  );
  const listeners: ((hash: string) => void)[] = [];
  const forget = (hash: string) => {
    sessions.forget(hash);
    tokens.forget(hash);
  };
  const stopListening = mesh.listen(eventFilter(accounts.sessionRevoked), (subject) => {
    const hash = subject.slice(subject.lastIndexOf(".") + 1);
    forget(hash);
    for (const listener of listeners) listener(hash);
  });
  return {
    recall: sessions.recall,
    ask: sessions.ask,
    tokens: { recall: tokens.recall, ask: tokens.ask },
    forget,
    onRevoked: (listener) => void listeners.push(listener),
    close: stopListening,
  };
}

function createKnown<Live extends LiveState & Answer, Answer extends State>(
  limits: Limits,
  resolve: Known<Live, Answer>["ask"],
): Known<Live, Answer> {
  const entries = new Map<string, Entry<Live, Answer>>();
  const isLive = (answer: Answer): answer is Live => answer.state === "live";
  const remember = (hash: string, entry: Entry<Live, Answer>) => {
    entries.delete(hash);
    entries.set(hash, entry);
    if (entries.size <= limits.size) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };

  const ask: Known<Live, Answer>["ask"] = (hash, isUse, options) => {
    const pending = entries.get(hash);
    if (pending?.asked && (pending.isUse || !isUse)) return pending.asked;
    const asked = resolve(hash, isUse, options).then(
      (answer) => {
        // The entry is gone when a revocation arrived meanwhile: then nothing may be cached.
        if (entries.get(hash) !== entry) return answer;
        if (isLive(answer)) remember(hash, { answer, until: endOf(answer, limits.cacheMs), isUse });
        else entries.delete(hash);
        return answer;
      },
      (cause) => {
        if (entries.get(hash) === entry) entries.delete(hash);
        throw new Fault("auth_unavailable", { cause });
      },
    );
    const entry: Entry<Live, Answer> = { until: 0, asked, isUse };
    remember(hash, entry);
    return asked;
  };

  return {
    recall: (hash, isUse) => {
      const entry = entries.get(hash);
      if (isUse && !entry?.isUse) return undefined;
      return entry?.answer && entry.until > Date.now() ? entry.answer : undefined;
    },
    ask,
    forget: (hash) => void entries.delete(hash),
  };
}

function endOf(live: LiveState, cacheMs: number): number {
  return Math.min(Date.now() + cacheMs, Date.parse(live.expires_at));
}
