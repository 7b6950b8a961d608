// Both faces in front of a fixture, as browsers and Jobs reach the service, with signed-in users.

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createFace, createSessions, type FaceServer } from "@svc/http-gateway";
import { accounts, type Face, operations } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import {
  type Fixture,
  type FixtureOptions,
  openFixture,
  type Replica,
  type ReplicaOptions,
} from "./fixture.ts";
import { openInternalProxy } from "./internal-proxy.ts";

export type Answer = { status: number; body: Record<string, unknown>; headers: Headers; bytes: Buffer };
export type Ask = {
  method?: string;
  json?: unknown;
  /** Bytes of an upload; their digest is sent unless `headers` say otherwise. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  as?: string;
  signal?: AbortSignal;
};

export type FaceFixture = {
  base: Fixture;
  externalUrl: string;
  /** All external faces; users reach any of them. */
  externalUrls: string[];
  /** The proxy in front of all internal faces. */
  internalUrl: string;
  stagingDir: string;
  /** Folder of a server's world. */
  worldDir: (name: string) => string;
  /** Starts a replica with the internal face and the upload volume configured. */
  start: (overrides?: readonly string[], about?: ReplicaOptions) => Promise<Replica>;
  /** Settings of such a replica in addition to `quick`. */
  settings: readonly string[];
  /** Sends a request to the external face, as `usr-1` unless `as` names another user. */
  ask: (path: string, about?: Ask) => Promise<Answer>;
  /** Status and code of a rejected request, such as `409 not_stopped`. */
  refusal: (path: string, about?: Ask) => Promise<string>;
  close: () => Promise<void>;
};

export const digestOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
export const contentDigest = (bytes: Uint8Array) => `sha-256=:${digestOf(bytes).toString("base64")}:`;
const hashOf = (cookie: string) => createHash("sha256").update(cookie).digest("hex");
/** The session cookie of a user: 32 bytes derived from their name. */
const cookieOf = (user: string) => createHash("sha256").update(`cookie of ${user}`).digest("base64url");

type FaceFixtureOptions = FixtureOptions & {
  /** Faces of each kind. */
  count?: number;
  /** How long the reader of a download may stall at the last external face. */
  stallMs?: number;
};

export async function openFaceFixture(options: FaceFixtureOptions = {}): Promise<FaceFixture> {
  const { agent = "shipped", count = 1, stallMs = 120_000, cluster } = options;
  const base = await openFixture({ agent, ...(cluster && { cluster }) });
  base.identity.serve(accounts.resolveSession, (_context, { hash }) => resolveTestSession(hash));
  await base.identity.announce();
  const faces: FaceServer[] = [];
  const listen = async (face: Face, isLast: boolean) => {
    const mesh = face === "external" ? base.external : base.internal;
    const server = createFace({
      face,
      operations,
      processOperations: [],
      mesh,
      ...(face === "external" && { sessions: createSessions(mesh, { cacheMs: 1_000, size: 10 }) }),
      settings: {
        adminHostname: "op.console.test",
        drainMs: 200,
        ...(isLast && { transferStallMs: stallMs }),
      },
      registry: createRegistry("face", "test"),
      log: createLogger("gateway-external", "silent"),
    });
    faces.push(server);
    const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
    return port;
  };
  const open = (face: Face) =>
    Promise.all(Array.from({ length: count }, (_, n) => listen(face, n === count - 1)));
  const [externalPorts, internalPorts] = await Promise.all([open("external"), open("internal")]);
  const internalProxy = await openInternalProxy(() => internalPorts);
  const externalUrls = externalPorts.map((port) => `http://127.0.0.1:${port}`);
  const [externalUrl = ""] = externalUrls;
  const internalUrl = internalProxy.url;
  const dataDir = dirname(base.archiveDir);
  const stagingDir = join(dataDir, "uploads");
  mkdirSync(stagingDir);
  const settings = [
    `archive.local_path=${base.archiveDir}`,
    "storage.staging_keep_free=0",
    `storage.internal_url=${internalUrl}`,
    `storage.staging_path=${stagingDir}`,
  ];
  const ask: FaceFixture["ask"] = (path, about = {}) => askFace(externalUrl, path, about);
  return {
    base,
    externalUrl,
    externalUrls,
    internalUrl,
    stagingDir,
    worldDir: (name) => join(dataDir, "worlds", name),
    settings,
    start: (overrides = [], about = {}) => base.start([...settings, ...overrides], about),
    ask,
    refusal: async (path, about) => {
      const { status, body } = await ask(path, about);
      const error = body["error"] as { code: string; message: string } | undefined;
      return `${status} ${error?.code ?? JSON.stringify(body)}`;
    },
    close: async () => {
      await internalProxy.close();
      await Promise.all(faces.map((face) => face.close()));
      await base.close();
    },
  };
}

const people = ["usr-1", "usr-2", "usr-3"];

/** The session that identity returns for a cookie. */
export function resolveTestSession(hash: string) {
  const user = people.find((one) => hashOf(cookieOf(one)) === hash);
  if (user === undefined) return { state: "unknown" as const };
  const about = {
    user_id: user,
    username: user,
    role: "user" as const,
    setup: false,
    host: "player" as const,
  };
  return { state: "live" as const, ...about, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
}

export function cookie(user: string): Record<string, string> {
  return { cookie: `svc_session=${cookieOf(user)}` };
}

export async function askFace(base: string, path: string, about: Ask): Promise<Answer> {
  const { json, bytes, as = "usr-1" } = about;
  const digest = bytes ? { "content-digest": contentDigest(bytes), "content-type": octets } : {};
  const type = json === undefined ? {} : { "content-type": "application/json" };
  const body = bytes ?? (json === undefined ? undefined : JSON.stringify(json));
  const response = await fetch(`${base}${path}`, {
    method: about.method ?? "GET",
    headers: { ...cookie(as), ...type, ...digest, ...about.headers },
    ...(body !== undefined && { body }),
    ...(about.signal && { signal: about.signal }),
  });
  const answer = Buffer.from(await response.arrayBuffer());
  const kind = response.headers.get("content-type") ?? "";
  const isJson = answer.length > 0 && kind.startsWith("application/json");
  const { status, headers } = response;
  return { status, headers, bytes: answer, body: isJson ? JSON.parse(answer.toString()) : {} };
}

const octets = "application/octet-stream";
