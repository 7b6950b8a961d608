// A load generator on bare sockets: keep-alive, one request in flight per connection, a parser that only counts.
// It costs a few microseconds a request, so that two cores are left to what is measured.

import { connect, type Socket } from "node:net";
import { quantile } from "../harness/statistics.ts";

export type LoadPlan = {
  host: string;
  port: number;
  method: string;
  path: string;
  /** Asked in turn instead of `path`. */
  paths?: readonly string[];
  headers: Record<string, string>;
  body?: string;
  connections: number;
  /** Ends after this time, or after `requests`, whichever comes first. */
  durationMs: number;
  requests?: number;
  /**
   * Keeps the generator awake between answers. Waking a sleeping process is paid by the one who writes to it, so
   * without this the slower of two servers pays for wake-ups that the faster one is spared. Only fair where the server
   * is one process, for the generator then takes a core of its own.
   */
  isAwake?: boolean;
  /** Every answer must have it. */
  expectStatus: number;
};

export type LoadResult = {
  requests: number;
  seconds: number;
  rps: number;
  p50Ms: number;
  p99Ms: number;
  bytes: number;
};

/** One answer of `fetchOnce`. */
export type Answer = { status: number; head: string; bytes: number; ms: number };

/** Text of the request as it goes over the wire. */
export function requestText(
  plan: Pick<LoadPlan, "host" | "port" | "method" | "path" | "headers" | "body">,
): string {
  const headers: Record<string, string> = { host: `${plan.host}:${plan.port}`, ...plan.headers };
  if (plan.body !== undefined) {
    headers["content-type"] ??= "application/json";
    headers["content-length"] = String(Buffer.byteLength(plan.body));
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${plan.method} ${plan.path} HTTP/1.1\r\n${lines.join("")}\r\n${plan.body ?? ""}`;
}

type Reply = { status: number; head: string; bytes: number };

/** Reads replies off a socket, one after another; `onReply` is called when a whole one has passed. */
function readReplies(socket: Socket, onReply: (reply: Reply) => void, onError: (error: Error) => void): void {
  let held: Buffer | undefined;
  let reply: Reply | undefined;
  let left = 0;
  let tail = "";
  const finish = () => {
    const done = reply;
    reply = undefined;
    if (done) onReply(done);
  };
  const bodyChunk = (chunk: Buffer) => {
    if (!reply) return;
    reply.bytes += chunk.length;
    if (left >= 0) {
      left -= chunk.length;
      if (left <= 0) finish();
      return;
    }
    tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - 7))).slice(-7);
    if (tail.endsWith("\r\n0\r\n\r\n") || tail === "0\r\n\r\n") finish();
  };
  socket.on("data", (data) => {
    if (reply) return bodyChunk(data);
    const chunk = held ? Buffer.concat([held, data]) : data;
    const end = chunk.indexOf("\r\n\r\n");
    if (end < 0) {
      held = chunk;
      return;
    }
    held = undefined;
    const head = chunk.toString("latin1", 0, end);
    const status = Number(head.slice(9, 12));
    reply = { status, head, bytes: 0 };
    left = bodyLength(head, status);
    tail = "";
    if (left === 0) return finish();
    if (chunk.length > end + 4) bodyChunk(chunk.subarray(end + 4));
  });
  socket.on("error", onError);
  socket.on("close", () => onError(new Error("the server closed a connection")));
}

/** Bytes of the body; -1 when it is chunked. */
function bodyLength(head: string, status: number): number {
  if (status === 204 || status === 304) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  return length === undefined ? -1 : Number(length);
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((settle, fail) => {
    const socket = connect({ host, port, noDelay: true }, () => settle(socket));
    socket.once("error", fail);
  });
}

function stayAwake(): () => void {
  let isWanted = true;
  const spin = () => {
    if (isWanted) setImmediate(spin);
  };
  spin();
  return () => {
    isWanted = false;
  };
}

/** Puts load on one address and answers rate and latencies; any other status than expected is an error. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const requests = (plan.paths ?? [plan.path]).map((path) =>
    Buffer.from(requestText({ ...plan, path }), "latin1"),
  );
  const sockets = await Promise.all(
    Array.from({ length: plan.connections }, () => open(plan.host, plan.port)),
  );
  const latencies: number[] = [];
  let bytes = 0;
  let sent = 0;
  const startedAt = performance.now();
  const endAt = startedAt + plan.durationMs;
  const limit = plan.requests ?? Number.POSITIVE_INFINITY;
  const drive = (socket: Socket) =>
    new Promise<void>((settle, fail) => {
      let sentAt = 0;
      const next = () => {
        const request = requests[sent % requests.length];
        if (!request || sent >= limit || performance.now() >= endAt) return settle();
        sent += 1;
        sentAt = performance.now();
        socket.write(request);
      };
      readReplies(
        socket,
        (reply) => {
          if (reply.status !== plan.expectStatus) {
            return fail(new Error(`${plan.method} ${plan.path} answered ${reply.status}: ${reply.head}`));
          }
          bytes += reply.bytes;
          latencies.push(performance.now() - sentAt);
          next();
        },
        fail,
      );
      next();
    });
  const release = plan.isAwake ? stayAwake() : () => undefined;
  try {
    await Promise.all(sockets.map(drive));
  } finally {
    release();
    for (const socket of sockets) socket.destroy();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const sorted = Float64Array.from(latencies).sort();
  return {
    requests: sorted.length,
    seconds,
    rps: sorted.length / seconds,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    bytes,
  };
}

/** Sends one request on a connection of its own and measures it. */
export async function fetchOnce(
  plan: Omit<LoadPlan, "connections" | "durationMs" | "expectStatus">,
): Promise<Answer> {
  const socket = await open(plan.host, plan.port);
  try {
    const startedAt = performance.now();
    const reply = await new Promise<Reply>((settle, fail) => {
      readReplies(socket, settle, fail);
      socket.write(requestText(plan), "latin1");
    });
    return { ...reply, ms: performance.now() - startedAt };
  } finally {
    socket.destroy();
  }
}
