// One request through the gate: recognise it, decide, forward.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Logger } from "@svc/telemetry";
import type { Credentials } from "./access/credentials.ts";
import { type Caller, decideAccess, isRead, isReserved, type Refusal } from "./access/decide.ts";
import { createKeyedLock } from "./keyed-lock.ts";
import type { Lease } from "./lease/lease.ts";
import type { Meter } from "./metrics.ts";
import type { Forward, Forwarded } from "./proxy/forward.ts";
import type { PushLog } from "./push-log.ts";
import { parseRoute, type Route, withoutMount } from "./request/route.ts";

type Deps = {
  credentials: Credentials;
  lease: Lease;
  forward: Forward;
  pushes: PushLog;
  meter: Meter;
  log: Logger;
};

type Gate = (incoming: IncomingMessage, response: ServerResponse) => Promise<void>;

const largestManifest = 4 * 1024 * 1024;
const upstreamRetrySeconds = 5;
/** A refused body up to this size is read, so that clients see the answer before the connection ends. */
const drainedBytes = 1024 * 1024;

export function createGate(deps: Deps): Gate {
  const { credentials, lease, forward, pushes, meter, log } = deps;
  const repositoryLock = createKeyedLock();
  return async (incoming, response) => {
    const method = incoming.method ?? "";
    const route = parseRoute(incoming.url ?? "");
    const caller = credentials.callerOf(incoming.headers.authorization);
    const refusal = refusalOf({ incoming, route, caller, hasCredentials: credentials.isThere(), lease });
    if (!route || refusal) {
      const answer = refusal ?? notFound;
      meter.refused(answer.code);
      if (!isRead(method)) {
        log.info({ method, repository: route?.repository, caller, status: answer.status }, "write refused");
      }
      return refuse(incoming, response, answer);
    }
    // Of a reserved repository the build account gets no more than what it reads.
    const isPlainUpload = caller === "build" && route.mountFrom !== undefined && isReserved(route.mountFrom);
    const { target } = isPlainUpload ? withoutMount(route) : route;
    const endWrite = isRead(method) ? () => undefined : lease.beginWrite();
    // A push and a deletion of one manifest must not overtake each other.
    const isOrdered = route.kind === "manifest" && !isRead(method);
    const releaseLock = isOrdered ? await repositoryLock.acquire(route.repository) : () => undefined;
    try {
      if (wasPushedSince(incoming, route, pushes)) return refuse(incoming, response, pushedSince);
      if (incoming.headers.expect !== undefined) response.writeContinue();
      const isTyped = route.kind === "manifest";
      const onAnswer = isTyped ? notePush(pushes, { method, route }) : undefined;
      const result = await forward({ incoming, response, target, isTyped, ...(onAnswer && { onAnswer }) });
      meter.forwarded(isRead(method) ? "read" : "write", result);
      report(log, { method, route, caller }, result);
      if (result.kind === "unreachable" || result.kind === "astray") {
        refuse(incoming, response, failureOf(result));
      }
    } finally {
      releaseLock();
      endWrite();
    }
  };
}

/** Records what the registry accepted, and tells readers when a manifest was pushed. */
function notePush(
  pushes: PushLog,
  { method, route }: { method: string; route: Route },
): NonNullable<Parameters<Forward>[0]["onAnswer"]> {
  return (status, headers) => {
    const digest = headers["docker-content-digest"];
    if (typeof digest !== "string") return {};
    const manifest = `${route.repository}@${digest}`;
    if (method === "PUT" && status === 201) pushes.record(manifest);
    return isRead(method) && status === 200 ? { "last-modified": httpDate(pushes.pushedAt(manifest)) } : {};
  };
}

function wasPushedSince({ method, headers }: IncomingMessage, route: Route, pushes: PushLog): boolean {
  const condition = headers["if-unmodified-since"];
  if (method !== "DELETE" || route.kind !== "manifest" || condition === undefined) return false;
  const digest = route.target.slice(route.target.lastIndexOf("/") + 1);
  const pushedAt = Date.parse(httpDate(pushes.pushedAt(`${route.repository}@${digest}`)));
  return !(pushedAt <= Date.parse(condition));
}

/** In whole seconds, rounded up. */
function httpDate(ms: number): string {
  return new Date(Math.ceil(ms / 1_000) * 1_000).toUTCString();
}

const pushedSince: Refusal = {
  status: 412,
  code: "DENIED",
  message: "The manifest was pushed again meanwhile; it is kept.",
};

const notFound: Refusal = {
  status: 404,
  code: "UNSUPPORTED",
  message: "This is not a path of the registry's API.",
};

function refusalOf(about: {
  incoming: IncomingMessage;
  route: Route | undefined;
  caller: Caller;
  hasCredentials: boolean;
  lease: Lease;
}): Refusal | undefined {
  const { incoming, route, caller, hasCredentials, lease } = about;
  const { method = "", headers } = incoming;
  if (!route) return notFound;
  const length = Number(headers["content-length"] ?? 0);
  const hasBody = length > 0 || headers["transfer-encoding"] !== undefined;
  if (hasBody && (isRead(method) || method === "DELETE")) {
    return { status: 400, code: "UNSUPPORTED", message: `${method} takes no body.` };
  }
  const isReadOnly = lease.isReadOnly();
  const refusal = decideAccess({ method, route, caller, hasCredentials, isReadOnly });
  if (refusal) return refusal;
  if (route.kind === "manifest" && length > largestManifest) {
    const message = `A manifest may have ${largestManifest} bytes.`;
    return { status: 413, code: "MANIFEST_INVALID", message };
  }
  return undefined;
}

function failureOf(result: Forwarded): Refusal {
  if (result.kind === "astray") {
    return { status: 502, code: "UNKNOWN", message: "The registry redirects to another server." };
  }
  const message = "The registry behind this gate does not answer; try again in a moment.";
  return { status: 503, code: "UNAVAILABLE", message, retryAfterSeconds: upstreamRetrySeconds };
}

function report(
  log: Logger,
  { method, route, caller }: { method: string; route: Route; caller: Caller },
  result: Forwarded,
): void {
  const fields = { method, repository: route.repository, caller };
  if (result.kind === "unreachable") log.error({ ...fields, err: result.cause }, "registry unreachable");
  else if (result.kind === "astray") log.error({ ...fields, to: result.location }, "redirect refused");
  else if (result.kind === "broken") log.warn({ ...fields, err: result.cause }, "transfer broken off");
  else if (!isRead(method)) log.info({ ...fields, status: result.status }, "write forwarded");
}

function refuse(incoming: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, message, retryAfterSeconds } = refusal;
  if (response.headersSent || response.destroyed) return void response.destroy();
  const isSmall = Number(incoming.headers["content-length"] ?? 0) <= drainedBytes;
  const isChunked = incoming.headers["transfer-encoding"] !== undefined;
  const body = JSON.stringify({ errors: [{ code, message }] });
  const headers: OutgoingHttpHeaders = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "docker-distribution-api-version": "registry/2.0",
    ...(status === 401 && { "www-authenticate": 'Basic realm="svc registry"' }),
    ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
    ...((isChunked || !isSmall || incoming.headers.expect !== undefined) && { connection: "close" }),
  };
  response.writeHead(status, headers);
  response.end(incoming.method === "HEAD" ? undefined : body);
  if (isSmall && !isChunked) incoming.resume();
}
