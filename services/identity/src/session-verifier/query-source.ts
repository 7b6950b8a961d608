// One question to one session server, inside limits: a time, a size, no redirects, no other host.

import { type Asked, readProfile, type SourceProfile } from "./profile.ts";

export type AskLimits = { timeoutMs: number; maxBytes: number };
export type Outcome =
  | { kind: "profile"; profile: SourceProfile }
  | { kind: "not_mine" }
  | { kind: "failed"; reason: string };

type Fetched = { status: number; body: string };

/** Asks a source whether the player has joined. Never throws. */
export async function askSource(
  hasJoinedUrl: string,
  asked: Asked,
  options: AskLimits & { signal: AbortSignal },
): Promise<Outcome> {
  const url = new URL(hasJoinedUrl);
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  try {
    const { status, body } = await fetchLimited(url, options);
    if (status === 204) return { kind: "not_mine" };
    if (status !== 200) return { kind: "failed", reason: `status ${status}` };
    const profile = readProfile(body);
    return profile ? { kind: "profile", profile } : { kind: "failed", reason: "no profile" };
  } catch (error) {
    return { kind: "failed", reason: reasonOf(error) };
  }
}

/** Whether a name is registered at the identity source. What cannot be found out counts as registered. */
export async function isNameTaken(
  profileUrl: string,
  name: string,
  options: AskLimits & { signal: AbortSignal },
): Promise<boolean> {
  try {
    const { status } = await fetchLimited(
      new URL(encodeURIComponent(name), endedBySlash(profileUrl)),
      options,
    );
    return status !== 404;
  } catch {
    return true;
  }
}

function endedBySlash(url: string): string {
  return url.endsWith("/") ? url : `${url}/`;
}

async function fetchLimited(
  url: URL,
  { timeoutMs, maxBytes, signal }: AskLimits & { signal: AbortSignal },
): Promise<Fetched> {
  const response = await fetch(url, {
    redirect: "manual",
    credentials: "omit",
    headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "svc" },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  });
  return { status: response.status, body: await readLimited(response, maxBytes) };
}

// Read to its end whatever the status, so that the connection can be used again.
async function readLimited(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error("too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const cause = error.cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return code || error.message || error.name;
}
