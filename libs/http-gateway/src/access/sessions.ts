// Caches what identity said about a session for a few seconds (docs/reference/sign-in.md#session).

import type { CallOptions, Mesh } from "@svc/mesh";
import { accounts, eventFilter, Fault } from "@svc/proto";
import type { LiveSession } from "./tier-policy.ts";

export type Sessions = {
  /** A session that was live within the last seconds, from the cache. */
  recall: (hash: string, isUse: boolean) => LiveSession | undefined;
  /** Asks identity. Concurrent callers with the same session share one request. Throws `auth_unavailable`. */
  ask: (hash: string, isUse: boolean, options: CallOptions) => Promise<accounts.SessionAnswer>;
  forget: (hash: string) => void;
  /** Calls back with the hash of each session that is revoked anywhere. */
  onRevoked: (listener: (hash: string) => void) => void;
  close: () => void;
};

type Entry = {
  answer?: LiveSession;
  until: number;
  asked?: Promise<accounts.SessionAnswer>;
  /** Identity was told that a person uses it; what a poll has asked must not hide a use from identity. */
  isUse: boolean;
};

/** Caches at most `size` sessions for `cacheMs`; a revoke event drops one at once. */
export function createSessions(
  mesh: Pick<Mesh, "call" | "listen">,
  limits: { cacheMs: number; size: number },
): Sessions {
  const entries = new Map<string, Entry>();
  const listeners: ((hash: string) => void)[] = [];
  const forget = (hash: string) => void entries.delete(hash);
  const stopListening = mesh.listen(eventFilter(accounts.sessionRevoked), (subject) => {
    const hash = subject.slice(subject.lastIndexOf(".") + 1);
    forget(hash);
    for (const listener of listeners) listener(hash);
  });

  const remember = (hash: string, entry: Entry) => {
    entries.delete(hash);
    entries.set(hash, entry);
    if (entries.size <= limits.size) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  };

  const ask: Sessions["ask"] = (hash, isUse, options) => {
    const pending = entries.get(hash);
    if (pending?.asked && (pending.isUse || !isUse)) return pending.asked;
    const asked = mesh.call(accounts.resolveSession, { hash, is_use: isUse }, options).then(
      (answer) => {
        // The entry is gone when a revocation arrived meanwhile: then nothing may be cached.
        if (entries.get(hash) !== entry) return answer;
        if (answer.state === "live") remember(hash, { answer, until: endOf(answer, limits.cacheMs), isUse });
        else entries.delete(hash);
        return answer;
      },
      (cause) => {
        if (entries.get(hash) === entry) entries.delete(hash);
        throw new Fault("auth_unavailable", { cause });
      },
    );
    const entry: Entry = { until: 0, asked, isUse };
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
    forget,
    onRevoked: (listener) => void listeners.push(listener),
    close: stopListening,
  };
}

function endOf(session: LiveSession, cacheMs: number): number {
  return Math.min(Date.now() + cacheMs, Date.parse(session.expires_at));
}
