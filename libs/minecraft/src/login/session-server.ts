import { constants, createHash, generateKeyPairSync, type KeyObject, privateDecrypt } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { MinecraftFault } from "../fault.ts";
import { dashed, isPlayerName, type Profile, type ProfileProperty } from "./profile.ts";

/** The RSA pair of one process; made at start, kept in memory only. */
export type LoginKeys = { readonly publicDer: Buffer; readonly privateKey: KeyObject };

/** Makes the pair; 1024 bits, which is what every client takes. */
export function createLoginKeys(): LoginKeys {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  return { publicDer: publicKey.export({ type: "spki", format: "der" }), privateKey };
}

/** Decrypts what a client encrypted for us; a `frame` fault when it was not for us. */
export function decryptWith(keys: LoginKeys, bytes: Buffer): Buffer {
  try {
    return privateDecrypt({ key: keys.privateKey, padding: constants.RSA_PKCS1_PADDING }, bytes);
  } catch {
    throw new MinecraftFault("frame", "the encryption answer is not for our key");
  }
}

/** The server hash: SHA-1 as a signed number in hex. */
export function serverHash(serverId: string, secret: Buffer, publicDer: Buffer): string {
  const digest = createHash("sha1").update(serverId, "latin1").update(secret).update(publicDer).digest("hex");
  return BigInt.asIntN(160, BigInt(`0x${digest}`)).toString(16);
}

/** Where to ask whether a player joined. `root` is everything before `/session/minecraft/hasJoined`. */
export type SessionServer = {
  readonly root: string;
  /** For the question and its repeats together. */
  readonly timeoutMs?: number;
  /** Ends the question when the player leaves. */
  readonly signal?: AbortSignal;
  /** Headers for a session server that wants a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `ip` when given: the session server then refuses a player who signed in from another address. */
  readonly address?: string;
  /**
   * Without an answer after so long, the question is asked on another connection as well, which another replica may take;
   * default: never.
   */
  readonly askAgainMs?: number;
  /** The session server is the service itself, which tells a barred player apart from one whom nobody vouches for. */
  readonly tellsBars?: boolean;
};

/**
 * Pauses in milliseconds before a question without an answer is repeated, on average; together they are as long as a
 * replica of the service takes that dies in the middle of one and starts again.
 */
const pausesMs = [250, 500, 1_000, 2_000];
const jitter = { least: 0.5, most: 1.5 };

/**
 * Asks `hasJoined`. Not joined is `unauthenticated`, one who may not join `barred`; anything other than an answer is
 * `unavailable`, never "not joined". A lost connection, 502, 503 and 504 are asked again while there is time.
 */
export async function hasJoined(server: SessionServer, name: string, hash: string): Promise<Profile> {
  const query = new URLSearchParams({ username: name, serverId: hash });
  if (server.address !== undefined) query.set("ip", server.address);
  if (server.tellsBars) query.set("bars", "told");
  const timeout = AbortSignal.timeout(server.timeoutMs ?? 5_000);
  const signal = server.signal ? AbortSignal.any([server.signal, timeout]) : timeout;
  const url = `${server.root.replace(/\/+$/, "")}/session/minecraft/hasJoined?${query}`;
  const init = { signal, redirect: "manual" as const, headers: { ...server.headers } };
  const question = { url, init, askAgainMs: server.askAgainMs };
  let answer = await askTwice(question);
  let isRepeated = false;
  for (const pauseMs of pausesMs) {
    if (!mayRepeat(answer) || !(await pause(pauseMs, signal))) break;
    isRepeated = true;
    answer = await askTwice(question);
  }
  const { status, body } = answer;
  isRepeated ||= answer.isSecond;
  if (status === 0) throw new MinecraftFault("unavailable", `the session server did not answer: ${body}`);
  if (status === 403 && server.tellsBars) throw new MinecraftFault("barred", "the player is barred");
  if (status === 204 || status === 403 || status === 404) {
    // A session server may answer a login once, and that answer may be the one that was lost.
    if (isRepeated) throw new MinecraftFault("unavailable", "the session server's answer was lost");
    throw new MinecraftFault("unauthenticated", "the session server does not know of this login");
  }
  if (status !== 200) throw new MinecraftFault("unavailable", `the session server answered ${status}`);
  return toProfile(body, name);
}

/** Status 0 = no answer, for the reason in `body`. */
type Answer = { status: number; body: string };

type Question = { url: string; init: RequestInit & { signal: AbortSignal }; askAgainMs: number | undefined };

/**
 * Sends the request a second time while the first is still pending. Either response may say who joined. Any other response
 * to the second may be a consequence of the first, so it counts only if the first gets none.
 */
async function askTwice({ url, init, askAgainMs }: Question): Promise<Answer & { isSecond: boolean }> {
  if (askAgainMs === undefined) return { ...(await ask(url, init)), isSecond: false };
  const answered = new AbortController();
  const signal = AbortSignal.any([init.signal, answered.signal]);
  try {
    const first = ask(url, { ...init, signal });
    const tooLate = delay(askAgainMs, undefined, { signal }).catch(() => undefined);
    const early = await Promise.race([first, tooLate]);
    if (early) return { ...early, isSecond: false };
    const second = ask(url, { ...init, signal });
    const joined = [first, second].map(async (asked) => {
      const answer = await asked;
      return answer.status === 200 ? answer : Promise.reject(answer);
    });
    const known = await Promise.any(joined).catch(() => undefined);
    if (known) return { ...known, isSecond: false };
    const own = await first;
    return mayRepeat(own) ? { ...(await second), isSecond: true } : { ...own, isSecond: false };
  } finally {
    answered.abort();
  }
}

async function ask(url: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(url, init);
    return { status: response.status, body: await response.text() };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? ` (${String(error.cause)})` : "";
    return { status: 0, body: `${String(error)}${cause}` };
  }
}

const mayRepeat = ({ status }: Answer): boolean => [0, 502, 503, 504].includes(status);

/** False when the time is up before the pause is. */
async function pause(aboutMs: number, signal: AbortSignal): Promise<boolean> {
  const ms = aboutMs * (jitter.least + Math.random() * (jitter.most - jitter.least));
  return delay(ms, true, { signal }).catch(() => false);
}

function toProfile(body: string, asked: string): Profile {
  const answer = parse(body);
  const id = typeof answer["id"] === "string" ? answer["id"].replaceAll("-", "") : "";
  const name = typeof answer["name"] === "string" ? answer["name"] : "";
  if (!/^[0-9a-fA-F]{32}$/.test(id) || !isPlayerName(name) || !isNameOf(name, asked)) {
    throw new MinecraftFault("unavailable", "the session server's answer is not a profile of this player");
  }
  const properties = Array.isArray(answer["properties"]) ? answer["properties"].filter(isProperty) : [];
  return { uuid: dashed(id), name, properties: properties.slice(0, 16).map(toProperty) };
}

/**
 * Somebody else's profile must never let this player in. A player of a third party whose name belongs to somebody at
 * Mojang comes back with a prefix of up to four letters, cut to sixteen (docs/reference/session-verifier.md#answers).
 */
export function isNameOf(name: string, asked: string): boolean {
  const [given, typed] = [name.toLowerCase(), asked.toLowerCase()];
  const [prefix] = /^[a-z0-9]{1,4}_/.exec(given) ?? [];
  return given === typed || (prefix !== undefined && given === `${prefix}${typed}`.slice(0, 16));
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

const isProperty = (value: unknown): value is ProfileProperty =>
  value !== null &&
  typeof value === "object" &&
  typeof (value as ProfileProperty).name === "string" &&
  typeof (value as ProfileProperty).value === "string";

const toProperty = ({ name, value, signature }: ProfileProperty): ProfileProperty =>
  typeof signature === "string" ? { name, value, signature } : { name, value };
