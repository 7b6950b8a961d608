// The part of a kubelet's server that `kubectl logs` needs: the API server fetches the logs of pods from their node.
// It knows no credentials, as the API server of the tests has none for it; so it listens on a socket or on loopback only.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { PodLogOptions, PodLogs } from "../cluster-api.ts";
import type { Source } from "../controllers/informer.ts";
import type { Pod } from "../controllers/objects.ts";

type LogServerOptions = {
  identity: { key: string; cert: string };
  pods: Source<Pod>;
  logs: PodLogs;
  /** Port on 127.0.0.1, or path of a socket. */
  listen: number | string;
};

const wholeNumbers = ["tailLines", "limitBytes", "sinceSeconds"] as const;
const flags = ["follow", "previous", "timestamps"] as const;

function logOptionsOf(query: URLSearchParams): PodLogOptions {
  const numbers = wholeNumbers.flatMap((name) =>
    query.has(name) ? [[name, Number(query.get(name))] as const] : [],
  );
  const sinceTime = query.get("sinceTime");
  return {
    ...Object.fromEntries(numbers),
    ...Object.fromEntries(flags.map((name) => [name, query.get(name) === "true"])),
    ...(sinceTime !== null && { sinceTime }),
  };
}

async function answer({ pods, logs }: LogServerOptions, request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url ?? "/", "https://node");
  const [, what, namespace = "", name = "", container = ""] = url.pathname.split("/").map(decodeURIComponent);
  const pod = what === "containerLogs" ? pods.get(`${namespace}/${name}`) : undefined;
  if (pod === undefined) {
    response.writeHead(404).end("this node has no such pod\n");
    return;
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const options = { ...logOptionsOf(url.searchParams), container };
  response.setHeader("content-type", "text/plain");
  for await (const part of logs.read(pod, options, gone.signal)) {
    if (!response.write(part)) await Promise.race([once(response, "drain"), once(response, "close")]);
    if (gone.signal.aborted) return;
  }
  response.end();
}

export async function startLogServer(options: LogServerOptions): Promise<{ port: number; close(): void }> {
  const server = createServer(options.identity, (request, response) => {
    answer(options, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(400).end(`${error instanceof Error ? error.message : String(error)}\n`);
    });
  });
  if (typeof options.listen === "string") server.listen(options.listen);
  else server.listen(options.listen, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
