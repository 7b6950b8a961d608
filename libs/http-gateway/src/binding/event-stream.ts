// Event streams: console output, build logs and changes as server-sent events (docs/reference/console.md#stream,
// docs/reference/events.md#stream).

import { type Mesh, type RawReply, streamBytes, writeChunk } from "@svc/mesh";
import {
  eventFilter,
  Fault,
  faults,
  isFault,
  type Operation,
  type Principal,
  type StreamTicket,
} from "@svc/proto";
import type { Logger, Registry } from "@svc/telemetry";
import type { Authenticator } from "../access/authenticate.ts";
import type { Sessions } from "../access/sessions.ts";
import { commonHeaders } from "../response/headers.ts";
import { sendResponse } from "../response/response.ts";
import type { FaceSettings } from "../settings.ts";
import { abortOnDisconnect, type Call } from "./call.ts";
import type { ChangeFeed } from "./change-feed.ts";
import { createLiveLogs, type Frame, type LiveLogs } from "./live-log.ts";
import { createStreamMetrics, type StreamMetrics } from "./stream-metrics.ts";

type EventStreams = {
  /** From now on the viewers of this stream are checked at the events that its contract names. */
  follow: (contract: Operation) => void;
  /** Opens the stream of an admitted call. Throws a fault when it cannot. */
  open: (call: Call) => Promise<void>;
  /** As `open`, for what the gateway streams by itself. */
  openChanges: (call: Call, feed: ChangeFeed) => Promise<void>;
  /** Ends every stream; their viewers come back to another replica. */
  close: () => void;
};

type Viewer = {
  call: Call;
  leave: () => void;
  openedAt: number;
  writtenAt: number;
  checkedAt: number;
  isChecking: boolean;
  mustCheckAgain: boolean;
  dropped: number;
  stuckSince: number | undefined;
};

/** Starts to send a viewer what it views; returns a function that ends it. */
type Join = (viewer: Viewer) => () => void;

type EventStreamDeps = {
  mesh: Pick<Mesh, "forward" | "listen" | "readLiveLog">;
  authenticator: Authenticator;
  sessions?: Pick<Sessions, "onRevoked"> | undefined;
  settings: FaceSettings;
  registry: Registry;
  log: Logger;
};

export function createEventStreams(deps: EventStreamDeps): EventStreams {
  const { mesh, settings, log } = deps;
  const viewers = new Set<Viewer>();
  const openByAccount = new Map<string, number>();
  const metrics = createStreamMetrics(deps.registry, () => viewers.size);
  const opening = revokeAtOnce(deps.sessions, viewers);
  const rechecks = recheckAtEvents(deps, viewers);
  const lines = createLiveLogs(mesh, (subject, error) => {
    log.warn({ subject, err: error }, "an event stream failed; its viewers must reconnect");
  });
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    for (const viewer of viewers) attend(deps, viewer);
    if (viewers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const start = (call: Call, join: Join, onLeave: () => void) => {
    const viewer = newViewer(call);
    const { response } = call.state;
    openResponse(call);
    viewers.add(viewer);
    viewer.leave = join(viewer);
    response.once("close", () => {
      viewers.delete(viewer);
      viewer.leave();
      onLeave();
    });
    timer ??= setInterval(tick, tickMs(settings)).unref();
    return viewer;
  };
  /** `admit` asks whoever decides whether the caller may see the stream. */
  const open = async (call: Call, admit: () => Promise<Join | undefined>) => {
    const release = reserve(openByAccount, ownerOf(call.principal), settings.streamsPerAccount);
    const state = { isRevoked: false };
    opening.set(call, state);
    const before = rechecks.heard();
    try {
      const join = await admit();
      if (state.isRevoked) throw new Fault("session_invalid");
      if (!join || call.state.response.destroyed) return release();
      const viewer = start(call, join, release);
      // It was admitted by what was true before.
      if (rechecks.heard() !== before) check(deps, viewer);
    } catch (error) {
      release();
      throw error;
    } finally {
      opening.delete(call);
    }
  };
  return {
    follow: rechecks.follow,
    open: (call) =>
      open(call, async () => {
        const reply = await mesh.forward(call.contract, call.input, call.options);
        if (!reply.stream) return void (await sendEnded(call, reply));
        return joinLines(lines, positioned(reply.stream, call, settings), { settings, metrics });
      }),
    openChanges: (call, feed) =>
      open(call, async () => (viewer) => {
        const send = (bytes: Buffer) => sendIfRead(viewer, bytes, { settings, metrics });
        return feed.join({ principal: () => viewer.call.principal, send }, lastEventSecond(call));
      }),
    close: () => {
      clearInterval(timer);
      rechecks.close();
      for (const viewer of viewers) viewer.call.state.response.end();
    },
  };
}

function newViewer(call: Call): Viewer {
  const now = Date.now();
  return {
    ...{ openedAt: now, writtenAt: now, checkedAt: now },
    ...{ call, leave: () => {}, isChecking: false, mustCheckAgain: false, dropped: 0, stuckSince: undefined },
  };
}

/** Checks viewers as soon as an event says that who may view their server has changed. */
function recheckAtEvents(deps: EventStreamDeps, viewers: ReadonlySet<Viewer>) {
  const stops: (() => void)[] = [];
  let heard = 0;
  return {
    follow: ({ subject, http: { recheckAt = [] } }: Operation) => {
      for (const event of recheckAt) {
        const stop = deps.mesh.listen(eventFilter(event), (about) => {
          heard++;
          const name = about.slice(about.lastIndexOf(".") + 1);
          for (const viewer of viewers) if (isAbout(viewer, subject, name)) check(deps, viewer);
        });
        stops.push(stop);
      }
    },
    /** Events so far. */
    heard: () => heard,
    close: () => {
      for (const stop of stops) stop();
    },
  };
}

/** Ends the streams of a session that is revoked; returns those that are being opened, to be marked. */
function revokeAtOnce(
  sessions: EventStreamDeps["sessions"],
  viewers: ReadonlySet<Viewer>,
): Map<Call, { isRevoked: boolean }> {
  const opening = new Map<Call, { isRevoked: boolean }>();
  sessions?.onRevoked((hash) => {
    const isOf = ({ principal }: Call) => principal.kind === "account" && principal.session === hash;
    for (const viewer of viewers) if (isOf(viewer.call)) revoke(viewer);
    for (const [call, state] of opening) if (isOf(call)) state.isRevoked = true;
  });
  return opening;
}

function tickMs(settings: FaceSettings): number {
  const { streamKeepAliveMs, streamRecheckMs, streamLifetimeMs, streamStuckMs } = settings;
  return Math.min(
    1_000,
    ...[streamKeepAliveMs, streamRecheckMs, streamLifetimeMs, streamStuckMs].map((ms) => ms / 4),
  );
}

function ownerOf(principal: Principal): string {
  if (principal.kind === "account") return principal.user_id;
  return principal.kind === "caller" ? principal.caller : principal.kind;
}

function reserve(open: Map<string, number>, owner: string, most: number): () => void {
  const count = open.get(owner) ?? 0;
  if (count >= most) {
    throw new Fault("too_many_streams", { message: `You have ${most} live streams open; close one.` });
  }
  open.set(owner, count + 1);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    const left = (open.get(owner) ?? 1) - 1;
    if (left > 0) open.set(owner, left);
    else open.delete(owner);
  };
}

/** What the owner kept of a source that has ended; 204 for a viewer that has seen its end, so that it does not come back. */
async function sendEnded(call: Call, { byteTransfer }: RawReply): Promise<void> {
  const { state } = call;
  if (!byteTransfer) return sendResponse(state, { status: 204 });
  const signal = abortOnDisconnect(state);
  const { deliver } = await streamBytes(byteTransfer, signal);
  openResponse(call);
  try {
    await deliver((chunk) => writeNext(state, chunk));
    state.response.end();
  } catch (error) {
    state.response.destroy();
    if (!signal.aborted) throw error;
  }
}

/** Resolves when the viewer can take more. */
function writeNext(state: Call["state"], chunk: Buffer): Promise<void> {
  state.bytes += chunk.length;
  return writeChunk(state.response, chunk);
}

function openResponse({ state }: Call): void {
  state.isTimed = false;
  const { request, response } = state;
  response.writeHead(200, [
    ...commonHeaders(state.id, request.headers["x-forwarded-proto"]),
    "Content-Type",
    "text/event-stream; charset=utf-8",
    "Cache-Control",
    "no-store",
    "X-Accel-Buffering",
    "no",
  ]);
  write(state, ": open\n\n");
}

function joinLines(lines: LiveLogs, ticket: StreamTicket, taking: Taking): Join {
  return (viewer) =>
    lines.join(ticket, {
      take: (frame) => take(viewer, frame, taking),
      end: () => void viewer.call.state.response.end(),
    });
}

function lastEventSecond({ state }: Call): number | undefined {
  const lastId = state.request.headers["last-event-id"];
  return typeof lastId === "string" && /^\d{1,12}$/.test(lastId) ? Number(lastId) : undefined;
}

/** A reconnect within the hour goes on from the second of its last line instead of the tailed backlog. */
function positioned(ticket: StreamTicket, call: Call, settings: FaceSettings): StreamTicket {
  const since = lastEventSecond(call);
  if (since === undefined) return ticket;
  const nowSeconds = Date.now() / 1_000;
  if (since < nowSeconds - settings.streamResumeSeconds || since > nowSeconds + 60) return ticket;
  return { ...ticket, since };
}

function write(state: Call["state"], chunk: string | Buffer): void {
  state.bytes += chunk.length;
  state.response.write(chunk);
}

type Taking = { settings: FaceSettings; metrics: StreamMetrics };

function take(viewer: Viewer, frame: Frame, { settings, metrics }: Taking): void {
  const { state } = viewer.call;
  if (state.response.writableEnded) return;
  if (state.response.writableLength > settings.streamBufferBytes) {
    viewer.dropped++;
    metrics.dropped();
    viewer.stuckSince ??= Date.now();
    return;
  }
  tellDropped(viewer);
  write(state, frame.bytes);
  metrics.sent();
  viewer.writtenAt = Date.now();
}

/** False when the viewer has too much to read; what it views is sent later, or the viewer is disconnected. */
function sendIfRead(viewer: Viewer, bytes: Buffer, { settings, metrics }: Taking): boolean {
  const { state } = viewer.call;
  if (state.response.writableEnded) return true;
  if (state.response.writableLength > settings.streamBufferBytes) {
    viewer.stuckSince ??= Date.now();
    return false;
  }
  write(state, bytes);
  metrics.sent();
  viewer.writtenAt = Date.now();
  return true;
}

function revoke({ call }: Viewer): void {
  const { response } = call.state;
  if (response.writableEnded) return;
  write(call.state, "event: revoked\ndata: revoked\n\n");
  response.end();
}

function tellDropped(viewer: Viewer): void {
  if (viewer.dropped > 0)
    write(viewer.call.state, `: ${viewer.dropped} lines were dropped, you read too slowly\n\n`);
  viewer.dropped = 0;
  viewer.stuckSince = undefined;
}

function attend(deps: EventStreamDeps, viewer: Viewer): void {
  const { settings } = deps;
  const { response } = viewer.call.state;
  const now = Date.now();
  if (response.writableEnded) return;
  if (viewer.stuckSince !== undefined) {
    if (response.writableLength <= settings.streamBufferBytes) tellDropped(viewer);
    else if (now - viewer.stuckSince >= settings.streamStuckMs) return void response.destroy();
  }
  if (now - viewer.openedAt >= settings.streamLifetimeMs) return void response.end();
  if (now - viewer.writtenAt >= settings.streamKeepAliveMs && viewer.stuckSince === undefined) {
    write(viewer.call.state, ": alive\n\n");
    viewer.writtenAt = now;
  }
  if (!viewer.isChecking && now - viewer.checkedAt >= settings.streamRecheckMs) check(deps, viewer);
}

function isAbout({ call }: Viewer, subject: string, name: string): boolean {
  const { contract, input } = call;
  const isNamed = (param: string) => (input as Record<string, unknown>)[param] === name;
  return contract.subject === subject && Object.keys(contract.params.shape).some(isNamed);
}

function check(deps: EventStreamDeps, viewer: Viewer): void {
  // What is being asked may have been answered before the event: then once more after it.
  viewer.mustCheckAgain = viewer.isChecking;
  if (viewer.isChecking) return;
  viewer.isChecking = true;
  recheck(deps, viewer)
    .catch((error) => deps.log.error({ err: error }, "rechecking an event stream failed"))
    .finally(() => {
      viewer.isChecking = false;
      viewer.checkedAt = Date.now();
      if (viewer.mustCheckAgain) check(deps, viewer);
    });
}

// Only a definite refusal ends the stream: while identity or the owner is unreachable, the last answer stands.
async function recheck({ mesh, authenticator }: EventStreamDeps, viewer: Viewer): Promise<void> {
  const { call } = viewer;
  const { contract, credentials, input } = call;
  try {
    const was = call.principal;
    const principal =
      was.kind === "account"
        ? await authenticator.reauthenticate(contract.http, was, credentials)
        : await authenticator.authenticate(contract.http, credentials);
    call.principal = principal;
    if (contract.http.changes) return;
    const { stream } = await mesh.forward(contract, input, { ...call.options, principal });
    // The source has ended, and its last line never came here: a viewer that reconnects gets what is missing.
    if (!stream) call.state.response.end();
  } catch (error) {
    const status = isFault(error) ? faults[error.fault].status : 500;
    // The source has ended: a viewer that reconnects gets the fault.
    if (status === 409) call.state.response.end();
    else if (status === 401 || status === 403 || status === 404) revoke(viewer);
  }
}
