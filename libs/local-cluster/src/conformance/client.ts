import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { createInterface } from "node:readline";

/** A cluster under test: an HTTP address and bearer tokens. */
export type Endpoint = { url: string; ca?: string; adminToken: string; nobodyToken: string };

/** Untyped JSON of a response. */
// biome-ignore lint/suspicious/noExplicitAny: answers of a foreign server have no type, and asserting on them is the test.
export type Json = any;

/** A response. */
export type Answer = { status: number; body: Json };

/** How to send a request. */
type CallOptions = { body?: unknown; type?: string; token?: string; accept?: string };

/** An open watch: the next event in order; `end` closes it. */
type EventStream = {
  next(): Promise<Json>;
  until(matches: (event: Json) => boolean): Promise<Json>;
  end(): void;
};

/** A small client that returns status and body unchanged. */
export type Client = {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  watch(path: string): Promise<EventStream>;
  close(): void;
};

const eventWaitMs = 15_000;

/** Connects to a cluster. */
export function createClient(endpoint: Endpoint): Client {
  const secure = endpoint.url.startsWith("https:");
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, ...(endpoint.ca ? { ca: endpoint.ca } : {}) })
    : new HttpAgent({ keepAlive: true });
  const open = (method: string, path: string, { body, type, token, accept }: CallOptions) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const headers = {
        ...(token === "" ? {} : { authorization: `Bearer ${token ?? endpoint.adminToken}` }),
        accept: accept ?? "application/json",
        ...(text === undefined
          ? {}
          : { "content-type": type ?? "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const send = secure ? httpsRequest : httpRequest;
      const request = send(endpoint.url + path, { method, agent, headers }, resolve);
      request.on("error", reject);
      request.end(text);
    });
  return {
    call: async (method, path, options = {}) => {
      const response = await open(method, path, options);
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      const text = Buffer.concat(chunks).toString();
      const json = (response.headers["content-type"] ?? "").includes("json");
      return { status: response.statusCode ?? 0, body: json ? JSON.parse(text) : text };
    },
    watch: async (path) => openStream(await open("GET", path, {})),
    close: () => agent.destroy(),
  };
}

function openStream(response: IncomingMessage): EventStream {
  const lines = createInterface({ input: response })[Symbol.asyncIterator]();
  response.on("error", () => response.destroy());
  const next = async () => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no watch event within ${eventWaitMs} ms`)), eventWaitMs);
    });
    try {
      const line = await Promise.race([lines.next(), late]);
      return line.done ? undefined : JSON.parse(line.value);
    } finally {
      clearTimeout(timer);
    }
  };
  return {
    next,
    until: async (matches) => {
      for (;;) {
        const event = await next();
        if (event === undefined) throw new Error("the watch ended before the awaited event");
        if (matches(event)) return event;
      }
    },
    end: () => response.destroy(),
  };
}
