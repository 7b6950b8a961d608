// Which source authenticates a joining player (docs/reference/session-verifier.md#answers). The first that does decides; an unavailable one only matters
// when none does, because then the player is told to try again instead of being rejected.

import type { sessionVerifier } from "@svc/proto";
import type { Logger } from "@svc/telemetry";
import type { Settings } from "../config.ts";
import {
  type Asked,
  isPlayerName,
  parseUuid,
  prefixedName,
  readQuery,
  type SourceProfile,
  thirdPartyId,
  toAnswer,
} from "./profile.ts";
import { type AskLimits, askSource, isNameTaken, type Outcome } from "./query-source.ts";

type Verdict =
  | { kind: "admitted"; profile: sessionVerifier.Profile; source: string }
  | { kind: "rejected" }
  /** No source knows the player and at least one was unavailable. */
  | { kind: "failed" };

type Source =
  | { kind: "identity"; tag: string; url: string }
  | { kind: "remote"; tag: string; url: string; prefix: string }
  | { kind: "local"; tag: string; prefix: string | undefined };

type VerifierOptions = {
  settings: Pick<Settings, "auth_source" | "identity">;
  log: Pick<Logger, "warn">;
  /** Called with every answer of a source. */
  onOutcome?: (source: string, outcome: Outcome["kind"]) => void;
};
/**
 * The server id that a proxy in the local profile sends for an unauthenticated player. No real login produces it: server
 * ids are hex numbers. So a local source never authenticates an ordinary request.
 */
const localServerId = "local";

type Query = Parameters<typeof readQuery>[0];
export type Verify = (query: Query, signal: AbortSignal) => Promise<Verdict>;

export function createVerifier(options: VerifierOptions): Verify {
  const sources = sourcesOf(options.settings);
  return async (query, signal) => {
    const asked = readQuery(query);
    if (!asked) return { kind: "rejected" };
    let hasFailed = false;
    const isLocal = asked.serverId === localServerId;
    for (const source of sources.filter(({ kind }) => (kind === "local") === isLocal)) {
      const outcome = await ask(options, source, { asked, signal });
      options.onOutcome?.(source.tag, outcome.kind);
      if (outcome.kind === "profile") return accept(options, source, { profile: outcome.profile, signal });
      if (outcome.kind === "not_mine") continue;
      hasFailed = true;
      options.log.warn({ source: source.tag, reason: outcome.reason }, "session server did not answer");
    }
    return { kind: hasFailed ? "failed" : "rejected" };
  };
}

function sourcesOf({ auth_source, identity }: VerifierOptions["settings"]): Source[] {
  const url = identity.mojang_session_url;
  const first: Source[] = url === "" ? [] : [{ kind: "identity", tag: "mojang", url }];
  const others = auth_source.map((source): Source => {
    const { kind, tag, prefix } = source;
    if (kind === "local") return { kind, tag, prefix };
    return { kind, tag, prefix: prefix ?? "", url: source.url ?? "" };
  });
  return [...first, ...others];
}

function limitsOf({ identity }: VerifierOptions["settings"]): AskLimits {
  return { timeoutMs: identity.session_source_timeout, maxBytes: identity.session_source_bytes };
}

async function ask(
  { settings }: VerifierOptions,
  source: Source,
  { asked, signal }: { asked: Asked; signal: AbortSignal },
): Promise<Outcome> {
  if (source.kind !== "local") return askSource(source.url, asked, { ...limitsOf(settings), signal });
  const name = asked.username;
  if (!isPlayerName(name)) return { kind: "not_mine" };
  // Names are case-insensitive.
  return { kind: "profile", profile: { id: name.toLowerCase(), name } };
}

async function accept(
  { settings }: VerifierOptions,
  source: Source,
  { profile, signal }: { profile: SourceProfile; signal: AbortSignal },
): Promise<Verdict> {
  const { tag } = source;
  if (source.kind === "identity") {
    const id = parseUuid(profile.id);
    if (id === undefined) return { kind: "rejected" };
    return { kind: "admitted", source: tag, profile: toAnswer({ ...profile, id }) };
  }
  if (!isPlayerName(profile.name)) return { kind: "rejected" };
  const lookup = settings.identity.mojang_profile_url;
  const isRenamed =
    source.prefix !== undefined &&
    lookup !== "" &&
    (await isNameTaken(lookup, profile.name, { ...limitsOf(settings), signal }));
  const name = isRenamed ? prefixedName(source.prefix ?? "", profile.name) : profile.name;
  const id = thirdPartyId(tag, profile.id);
  return { kind: "admitted", source: tag, profile: toAnswer({ ...profile, id, name }) };
}
