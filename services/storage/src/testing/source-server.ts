// A server of files outside: it answers, redirects, lies, hangs and breaks off.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export type SourceServer = {
  /** `http://127.0.0.1:PORT`. */
  origin: string;
  /** Paths that were asked for, in order. */
  asked: string[];
  /** Answers a path with bytes, or as a function does. */
  put: (path: string, answer: Uint8Array | Answerer) => void;
  close: () => Promise<void>;
};

export async function openSourceServer(): Promise<SourceServer> {
  const answers = new Map<string, Uint8Array | Answerer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://source");
    asked.push(request.url ?? "");
    const answer = answers.get(pathname);
    if (answer === undefined) response.writeHead(404).end();
    else if (typeof answer === "function") answer(request, response);
    else response.writeHead(200, { "content-length": String(answer.length) }).end(answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    asked,
    put: (path, answer) => void answers.set(path, answer),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
