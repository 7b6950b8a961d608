// HTTP to the API server: where it is, who we are and TLS come from the kubeconfig by way of @kubernetes/client-node.

import http from "node:http";
import https from "node:https";
// The root of the package loads every generated model (100 MB resident); this file is all that is needed here.
import { KubeConfig } from "@kubernetes/client-node/dist/config.js";
import { Fault } from "@svc/proto";
import { kubeErrorOf } from "./error.ts";

export type Call = {
  method: string;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  contentType?: string;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
};

export type Transport = {
  /** Sends one request and resolves with the parsed JSON. Throws `KubeError`, or `Fault` when unreachable. */
  request: (call: Call) => Promise<unknown>;
  /** Opens a response that stays open; rejects as `request` does. */
  open: (call: Call) => Promise<http.IncomingMessage>;
  close: () => void;
};

type Credentials = { headers: Record<string, string>; agent: http.Agent; key: string; at: number };

const defaultTimeoutMs = 10_000;
// Tokens in files are rotated by the cluster; they are read again this often.
const credentialsTtlMs = 30_000;

/** Reads the named file, else the place that in-cluster pods have. */
export function loadKubeConfig(file: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (file) config.loadFromFile(file);
    else config.loadFromCluster();
  } catch (error) {
    throw new Error(`the kubeconfig ${file ?? "of the pod"} cannot be read: ${(error as Error).message}`);
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error(`the kubeconfig ${file ?? "of the pod"} names no cluster`);
  return config;
}

export function createTransport(config: KubeConfig): Transport {
  const server = config.getCurrentCluster()?.server ?? "";
  const base = new URL(server);
  allowLoopback(config, base);
  const secure = base.protocol === "https:";
  let known: Credentials | undefined;
  const credentials = async (): Promise<Credentials> => {
    if (known && Date.now() - known.at < credentialsTtlMs) return known;
    known = await readCredentials(config, { secure, known });
    return known;
  };
  const send = async (call: Call): Promise<http.IncomingMessage> => {
    const { headers, agent } = await credentials();
    const url = new URL(base.pathname.replace(/\/$/, "") + call.path, base);
    for (const [key, value] of Object.entries(call.query ?? {})) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
    const allHeaders = {
      accept: "application/json",
      ...headers,
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
    close: () => known?.agent.destroy(),
  };
}

// client-node refuses plain HTTP unless TLS checks are off. There is no TLS to check on this machine's own loopback.
function allowLoopback(config: KubeConfig, base: URL): void {
  if (base.protocol !== "http:") return;
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(base.hostname)) {
    throw new Error(
      `the kubeconfig names ${base.origin}: plain http is only taken from this machine, use https`,
    );
  }
  const context = config.getContextObject(config.getCurrentContext());
  config.clusters = config.clusters.map((cluster) =>
    cluster.name === context?.cluster ? { ...cluster, skipTLSVerify: true } : cluster,
  );
}

async function readCredentials(
  config: KubeConfig,
  { secure, known }: { secure: boolean; known: Credentials | undefined },
): Promise<Credentials> {
  const options: https.RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value);
  if (options.auth) headers["Authorization"] = `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const { ca, cert, key, passphrase, rejectUnauthorized, servername } = options;
  const tls = { ca, cert, key, passphrase, rejectUnauthorized, servername };
  const fingerprint = JSON.stringify(tls, (_name, value: unknown) =>
    Buffer.isBuffer(value) ? value.toString("base64") : value,
  );
  const isSame = known?.key === fingerprint;
  // With a proxy the agent of client-node knows the way; ours keeps connections.
  const hasProxy = config.getCurrentCluster()?.proxyUrl !== undefined;
  const pool = { keepAlive: true, maxSockets: 256, maxFreeSockets: 32 };
  const agent = isSame
    ? known.agent
    : hasProxy
      ? (options.agent as http.Agent)
      : secure
        ? new https.Agent({ ...pool, ...defined(tls) })
        : new http.Agent(pool);
  if (!isSame) known?.agent.destroy();
  return { headers, agent, key: fingerprint, at: Date.now() };
}

function defined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as Partial<T>;
}

type Sending = {
  secure: boolean;
  url: URL;
  method: string;
  headers: Record<string, string>;
  agent: http.Agent;
  body: Buffer | undefined;
  signal: AbortSignal;
};

function answerOf(sending: Sending, call: Call): Promise<http.IncomingMessage> {
  const { secure, url, body, ...options } = sending;
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(call.signal?.aborted ? error : unreachable(error));
    const request = (secure ? https : http).request(url, options, resolve);
    request.on("error", fail);
    request.end(body);
  });
}

async function readText(response: http.IncomingMessage): Promise<string> {
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
    message: "The cluster is not reachable right now; try again in a moment.",
    cause,
  });
}

// Too busy, restarting or not trusting us is "not now"; everything else is an answer.
function refusalOf(code: number, body: string): Error {
  const error = kubeErrorOf(code, body);
  return code === 401 || code === 429 || code >= 502 ? unreachable(error) : error;
}
