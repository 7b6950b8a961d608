// A real stack with an owner and a sleeping server, with requests as the proxy, as the owner and as anybody else.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { newestCode, type Stack, startStack, withoutGame } from "../flow/stack.ts";
import { type RawRequest, type RawResponse, sendRequest } from "./raw-request.ts";

export const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
export const serverName = "survival";

export type Face = "internal" | "external";

export type StackFixture = {
  stack: Stack;
  port: (face: Face) => number;
  /** Asks the internal face as the proxy. */
  asProxy: (question: RawRequest) => Promise<RawResponse>;
  /** Asks the external face as the owner on the operator console host. */
  asOwner: (question: RawRequest) => Promise<RawResponse>;
  /** Asks the external face with a cookie, on the operator console host unless `host` says otherwise. */
  withCookie: (cookie: string | undefined, question: RawRequest) => Promise<RawResponse>;
  /** The owner's. */
  cookie: () => string;
  adminHost: string;
  panelHost: string;
  /** Redeems the setup link: the owner's session, still in setup. */
  redeem: () => Promise<RawResponse>;
  /** Verifies the owner's e-mail. Returns the code that did it. */
  leaveSetup: () => Promise<string>;
  /** Writes a session into the database, as a sign-in does that this build does not have yet. */
  insertSession: (role: "owner" | "admin" | "user", expiresInMs?: number) => Promise<string>;
  stop: () => Promise<void>;
};

export function cookieOf(reply: RawResponse): string {
  const [set = ""] = [reply.headers["set-cookie"] ?? []].flat();
  return set.split(";")[0] ?? "";
}

export async function startStackFixture(args: readonly string[]): Promise<StackFixture> {
  return openFixture(await startStack(args.includes("--only") ? args : [...withoutGame, ...args]));
}

/** The same on a stack that runs. */
export async function openFixture(stack: Stack): Promise<StackFixture> {
  const file = stack.file();
  const db = new pg.Client({ connectionString: file.database_url });
  // Tests may end the database under it.
  db.on("error", () => undefined);
  const port = (face: Face) => Number(new URL(stack.file()[`${face}_base_url`]).port);
  let owner = "";
  const withCookie: StackFixture["withCookie"] = (cookie, question) => {
    const headers = { host: file.admin_host, ...(cookie === undefined ? {} : { cookie }) };
    return sendRequest(port("external"), { ...question, headers: { ...headers, ...question.headers } });
  };
  const asOwner = (question: RawRequest) => withCookie(owner, question);
  await db.connect();
  return {
    stack,
    port,
    withCookie,
    asOwner,
    cookie: () => owner,
    adminHost: file.admin_host,
    panelHost: file.panel_host,
    asProxy: (question) => {
      const headers = { host: "proxy", authorization: `Bearer ${file.tokens.velocity}`, ...question.headers };
      return sendRequest(port("internal"), { ...question, headers });
    },
    redeem: async () => {
      const token = new URL(file.setup_url).searchParams.get("token");
      const reply = await withCookie(undefined, {
        method: "POST",
        path: "/api/v1/auth/setup/redeem",
        json: { token },
      });
      if (reply.status === 200) owner = cookieOf(reply);
      return reply;
    },
    leaveSetup: () => verifyEmail(asOwner, file.mail.dir),
    insertSession: (role, expiresInMs = 3_600_000) => insertSession(db, role, expiresInMs),
    stop: async () => {
      await db.end();
      await stack.stop();
    },
  };
}

async function verifyEmail(asOwner: StackFixture["asOwner"], mailDir: string): Promise<string> {
  const start = { method: "POST", path: "/api/v1/account/email/start", json: { email: "owner@example.net" } };
  assert.equal((await asOwner(start)).status, 202);
  const code = await until(() => newestCode(mailDir), 10_000, "the mailed code");
  const verify = { method: "POST", path: "/api/v1/account/email/verify", json: { code } };
  const verified = await asOwner(verify);
  assert.equal(verified.status, 200, verified.text);
  return code;
}

async function insertSession(db: pg.Client, role: string, expiresInMs: number): Promise<string> {
  const value = randomBytes(32).toString("base64url");
  const id = `usr-${randomBytes(6).toString("hex")}`;
  const hash = createHash("sha256").update(value).digest("hex");
  const email = `${id}@example.net`;
  await db.query(
    "insert into identity.users (id, username, role, email, email_verified) values ($1, $1, $2, $3, true)",
    [id, role, email],
  );
  await db.query(
    `insert into identity.sessions (token_hash, user_id, door, host, created_at, expires_at, last_seen_at)
     values ($1, $2, 'email', $4, now(), now() + $3::int * interval '1 millisecond', now())`,
    [hash, id, expiresInMs, role === "user" ? "player" : "operator"],
  );
  return `svc_session=${value}`;
}
