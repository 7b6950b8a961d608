// HTTP to the API server; address, credentials and TLS come from access.ts.

import type { Agent, AgentOptions, IncomingMessage } from "node:http";
import https from "node:https";
import { Fault } from "@svc/proto";
import type { Access } from "./access.ts";
import { kubeErrorOf } from "./error.ts";

// An import of node:http would load the WebSocket client of Node with it: 6 MB.
const http = process.getBuiltinModule("node:http");

type Call = {
  method: string;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  /** Asks as somebody else, if our account may. */
  impersonate?: { user: string; group?: string } | undefined;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  /** A long-lived response, which must not take a connection from the pool of short calls. */
  isLong?: boolean;
};

export type Transport = {
  /** Sends one request and resolves with the parsed JSON. Throws `KubeError`, or `Fault` when unreachable. */
  request: (call: Call) => Promise<unknown>;
  /** Opens a long-lived response; rejects as `request` does. */
  open: (call: Call) => Promise<IncomingMessage>;
  close: () => void;
};

type Known = {
  headers: Record<string, string>;
  agent: Agent;
  longAgent: Agent;
  key: string;
  at: number;
};

const defaultTimeoutMs = 10_000;
// The cluster rotates tokens in files; they are reread this often.
const credentialsTtlMs = 30_000;

export function createTransport(access: Access): Transport {
  const base = access.server;
  const secure = base.protocol === "https:";
  let known: Known | undefined;
  const credentials = async (): Promise<Known> => {
    if (known && Date.now() - known.at < credentialsTtlMs) return known;
    known = await readCredentials(access, { secure, known });
    return known;
  };
  const send = async (call: Call): Promise<IncomingMessage> => {
    const { headers, ...agents } = await credentials();
    const agent = call.isLong ? agents.longAgent : agents.agent;
    const url = new URL(base.pathname.replace(/\/$/, "") + call.path, base);
    for (const [key, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const allHeaders = {
      accept: "application/json",
      ...headers,
      ...(call.impersonate && { "impersonate-user": call.impersonate.user }),
      ...(call.impersonate?.group && { "impersonate-group": call.impersonate.group }),
      ...(body && {
        "content-type": call.contentType ?? "application/json",
        "content-length": String(body.length),
      }),
    };
    const timeout = AbortSignal.timeout(call.timeoutMs ?? defaultTimeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    return answerOf({ secure, url, method: call.method, headers: allHeaders, agent, body, signal }, call);
  };
  return {
    request: async (call) => {
      const response = await send(call);
      const text = await readText(response);
      const code = response.statusCode ?? 0;
      if (code === 401) known = undefined;
      if (code >= 400) throw refusalOf(code, text);
      return text === "" ? undefined : JSON.parse(text);
    },
    open: async (call) => {
      const response = await send(call);
      const code = response.statusCode ?? 0;
      if (code < 400) return response;
      if (code === 401) known = undefined;
      throw refusalOf(code, await readText(response));
    },
    close: () => {
      known?.agent.destroy();
      known?.longAgent.destroy();
    },
  };
}

async function readCredentials(
  access: Access,
  { secure, known }: { secure: boolean; known: Known | undefined },
): Promise<Known> {
  const { headers, tls } = await access.read();
  const key = JSON.stringify(tls, (_name, value: unknown) =>
    Buffer.isBuffer(value) ? value.toString("base64") : value,
  );
  const isSame = known?.key === key;
  if (isSame) return { ...known, headers, at: Date.now() };
  const pool = { keepAlive: true, maxSockets: 256, maxFreeSockets: 32 };
  const fresh = (shape: AgentOptions) =>
    secure ? new https.Agent({ ...shape, ...tls }) : new http.Agent(shape);
  known?.agent.destroy();
  known?.longAgent.destroy();
  return { headers, agent: fresh(pool), longAgent: fresh({}), key, at: Date.now() };
}

type Sending = {
  secure: boolean;
  url: URL;
  method: string;
  headers: Record<string, string>;
  agent: Agent;
  body: Buffer | undefined;
  signal: AbortSignal;
};

function answerOf(sending: Sending, call: Call): Promise<IncomingMessage> {
  const { secure, url, body, ...options } = sending;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(call.signal?.aborted ? error : unreachable(error));
    const request = (secure ? https : http).request(url, options, resolve);
    request.on("error", fail);
    request.end(body);
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    throw unreachable(error as Error);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function unreachable(cause: Error): Fault {
  return new Fault("unavailable", {
    message: "The cluster is not reachable; try again in a moment.",
    cause,
  });
}

// Overload, a restart or rejected credentials mean "unavailable"; everything else is a response.
function refusalOf(code: number, body: string): Error {
  const error = kubeErrorOf(code, body);
  return code === 401 || code === 429 || code >= 502 ? unreachable(error) : error;
}
