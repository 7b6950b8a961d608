// The private listener of the lease. Whoever may delete may also stop the pushes, so it wants the same password.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Logger } from "@svc/telemetry";
import type { Credentials } from "../access/credentials.ts";
import type { Lease } from "./lease.ts";

const { createServer } = process.getBuiltinModule("node:http");

type Answer = { status: number; body: object; retryAfterSeconds?: number };

const notFound: Answer = { status: 404, body: { error: "no such lease" } };

export function createLeaseServer(deps: { lease: Lease; credentials: Credentials; log: Logger }): Server {
  const { lease, credentials, log } = deps;
  const answer = (incoming: IncomingMessage): Answer => {
    const caller = credentials.callerOf(incoming.headers.authorization);
    if (caller !== "prune" && caller !== "platform") {
      return { status: 401, body: { error: "log in as prune" } };
    }
    const { method = "", url = "" } = incoming;
    if (url === "/gate/lease" && method === "GET") {
      return { status: 200, body: { read_only: lease.isReadOnly() } };
    }
    if (url === "/gate/lease" && method === "POST") return acquire(lease, log);
    const [, id = "", pid] = /^\/gate\/lease\/([0-9a-f-]{36})(?:\?pid=(\d{1,9}))?$/.exec(url) ?? [];
    if (method === "PUT") {
      const renewed = lease.renew(id, pid === undefined ? undefined : Number(pid));
      return renewed ? { status: 200, body: renewed } : notFound;
    }
    if (method !== "DELETE" || !lease.end(id)) return notFound;
    log.info("lease ended; writes are accepted again");
    return { status: 200, body: {} };
  };
  return createServer((incoming, response) => {
    incoming.resume();
    send(response, answer(incoming));
  });
}

function acquire(lease: Lease, log: Logger): Answer {
  const result = lease.acquire();
  if ("id" in result) {
    log.info({ expires_at: result.expires_at }, "lease granted; the registry is read-only");
    return { status: 201, body: result };
  }
  const { reason, retryAfterSeconds } = result;
  return { status: 409, body: { error: reason }, retryAfterSeconds };
}

function send(response: ServerResponse, { status, body, retryAfterSeconds }: Answer): void {
  response.setHeader("content-type", "application/json");
  if (retryAfterSeconds !== undefined) response.setHeader("retry-after", retryAfterSeconds);
  response.writeHead(status);
  response.end(JSON.stringify(body));
}
