// Two external faces in front of two replicas of builds, which answer in turn.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createFace, createSessions } from "@svc/http-gateway";
import { accounts, operations, processOperations, type submissions } from "@svc/proto";
import { createLogger, createRegistry } from "@svc/telemetry";
import {
  digestOf,
  type SubmissionFixture,
  startSubmissionFixture,
} from "../../services/builds/src/testing/submissions.ts";
import { type RawResponse, sendRequest } from "./raw-request.ts";

const adminHost = "op.console.svc.localhost";
const panelHost = "console.svc.localhost";
const log = createLogger("gateway-external", "silent");
const cookieOf = (user: string) => createHash("sha256").update(`cookie of ${user}`).digest("base64url");
const hashOf = (cookie: string) => createHash("sha256").update(cookie).digest("hex");
const people = { alice: "user", bob: "user", amelia: "admin" } as const;
type Person = keyof typeof people;

export type Faces = {
  fixture: SubmissionFixture;
  ask: (method: string, path: string, about?: Ask) => Promise<RawResponse>;
  stop: () => Promise<void>;
};
export async function create({ ask }: Pick<Faces, "ask">): Promise<string> {
  const made = await ask("POST", "/api/v1/me/submissions", { json: { display_name: "My pack" } });
  assert.equal(made.status, 201, made.text);
  return (JSON.parse(made.text) as submissions.Submission).id;
}

export type Ask = {
  as?: Person | "nobody";
  json?: unknown;
  bytes?: Buffer;
  headers?: Record<string, string>;
};

export async function startFaces(overrides: readonly string[] = []): Promise<Faces> {
  const fixture = await startSubmissionFixture(["registry.context_max_bytes=1Mi", ...overrides]);
  await fixture.start(["registry.context_max_bytes=1Mi", ...overrides]);
  fixture.identity.serve(accounts.resolveSession, (_context, { hash }) => {
    const name = (Object.keys(people) as Person[]).find((one) => hashOf(cookieOf(one)) === hash);
    if (name === undefined) return { state: "unknown" as const };
    const role = people[name];
    const host = role === "admin" ? ("operator" as const) : ("player" as const);
    const about = { user_id: `usr-${name}`, username: name, role, setup: false, host };
    return { state: "live" as const, ...about, expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  });
  await fixture.identity.announce();
  const open = async () => {
    const sessions = createSessions(fixture.gateway, { cacheMs: 0, size: 100 });
    const face = createFace({
      ...{ face: "external", operations, processOperations, mesh: fixture.gateway, log, sessions },
      registry: createRegistry("face", "1"),
      settings: { adminHostname: adminHost, drainMs: 500 },
    });
    const { port } = await face.listen({ host: "127.0.0.1", port: 0 });
    return { port, close: () => face.close().then(() => sessions.close()) };
  };
  const faces = [await open(), await open()];
  let turn = 0;
  return {
    fixture,
    ask: (method, path, { as = "alice", json, bytes, headers } = {}) => {
      const port = faces[turn++ % faces.length]?.port ?? 0;
      const host = as !== "nobody" && people[as] === "admin" ? adminHost : panelHost;
      const body = bytes ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json)));
      const type = bytes ? "application/octet-stream" : "application/json";
      const own = {
        host,
        ...(as !== "nobody" && { cookie: `svc_session=${cookieOf(as)}` }),
        ...(body && { "content-type": type, "content-length": String(body.length) }),
        ...(bytes && { "content-digest": digestOf(bytes) }),
      };
      return sendRequest(port, {
        method,
        path,
        headers: { ...own, ...headers },
        ...(body && { text: body }),
      });
    },
    stop: async () => {
      await Promise.all(faces.map((face) => face.close()));
      await fixture.stop();
    },
  };
}
