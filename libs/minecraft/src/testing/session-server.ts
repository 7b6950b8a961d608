import { once } from "node:events";
import { createServer } from "node:http";
import { offlineUuid } from "../login/profile.ts";

/** A session server for tests: `join` is believed, `hasJoined` answers for what joined. `down` makes it answer 503. */
export type SessionServerForTests = AsyncDisposable & { readonly root: string; down: boolean };

/** Starts one on a free port of 127.0.0.1. */
export async function startSessionServer(): Promise<SessionServerForTests> {
  const joined = new Map<string, string>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://x");
    if (state.down) return void response.writeHead(503).end();
    if (request.method === "POST") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { serverId, accessToken } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
        string,
        string
      >;
      joined.set(serverId ?? "", accessToken ?? "");
      return void response.writeHead(204).end();
    }
    const name = url.searchParams.get("username") ?? "";
    if (joined.get(url.searchParams.get("serverId") ?? "") !== name)
      return void response.writeHead(204).end();
    const id = offlineUuid(name).replaceAll("-", "");
    const properties = [{ name: "textures", value: "e30=", signature: "c2ln" }];
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify({ id, name, properties }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  const state = {
    root: `http://127.0.0.1:${port}`,
    down: false,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return state;
}
