// The internal face and a session server as the proxy meets them, over real HTTP, whose answers a test decides.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ServerInfo } from "@svc/proto";
import { watcher } from "./watcher.ts";

export type Account = { uuid: string; name: string };
type Reply = { status: number; body?: unknown };

export async function startService() {
  const changes = watcher();
  const state = {
    servers: new Map<string, ServerInfo>(),
    linked: new Set<string>(),
    barred: new Set<string>(),
    joined: new Map<string, Account>(),
    accounts: new Map<string, Account>(),
    /** Calls of the internal face, as `METHOD path body`. */
    calls: [] as string[],
    /** Ends once `look` is true of the calls; told of each one. */
    until: changes.until,
    tellWatchers: changes.wake,
    isDown: false,
    wake: (_name: string, _uuid: string): Reply => refusal(403, "forbidden"),
    claim: (_name: string, _uuid: string): Reply => refusal(409, "already_claimed"),
  };
  const http = createServer((request, response) => void answer(state, request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const root = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return Object.assign(state, {
    root,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  });
}
export type Service = Awaited<ReturnType<typeof startService>>;
type State = Omit<Service, "root" | typeof Symbol.asyncDispose>;

export function refusal(status: number, code: string): Reply {
  return { status, body: { error: { code, message: code, request_id: "r" } } };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? "/", "http://x");
  const isSession = url.pathname.startsWith("/session/");
  if (state.isDown && !isSession) return void request.socket.destroy();
  if (!isSession) state.calls.push(`${request.method} ${url.pathname} ${body}`.trim());
  if (!isSession) state.tellWatchers();
  const reply = isSession ? session(state, url, body) : call(state, url.pathname, body);
  response.writeHead(reply.status, { "content-type": "application/json" });
  response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
}

function session({ joined, accounts }: State, url: URL, body: string): Reply {
  if (url.pathname === "/session/minecraft/join") {
    const { accessToken, serverId } = JSON.parse(body) as { accessToken: string; serverId: string };
    const account = accounts.get(accessToken);
    if (!account) return { status: 403, body: {} };
    joined.set(serverId, account);
    return { status: 204 };
  }
  const account = joined.get(url.searchParams.get("serverId") ?? "");
  if (account?.name !== url.searchParams.get("username")) return { status: 204 };
  return {
    status: 200,
    body: { id: account?.uuid.replaceAll("-", ""), name: account?.name, properties: [] },
  };
}

function call(state: State, path: string, body: string): Reply {
  const [, , , , noun, key = "", verb] = path.split("/");
  const uuid = body === "" ? "" : (JSON.parse(body) as { mc_uuid: string }).mc_uuid;
  if (path === "/api/v1/servers") return { status: 200, body: { servers: [...state.servers.values()] } };
  if (path.includes("/link/status/"))
    return { status: 200, body: { linked: state.linked.has(path.split("/").at(-1) ?? "") } };
  if (path.includes("/player/blacklist/"))
    return { status: 200, body: { blacklisted: state.barred.has(path.split("/").at(-1) ?? "") } };
  if (noun === "player") return { status: 200, body: { servers: {} } };
  const server = state.servers.get(key);
  if (!server) return refusal(404, "not_found");
  if (verb === "status") return { status: 200, body: server };
  if (verb === "wake") return state.wake(key, uuid);
  if (verb === "claim") return state.claim(key, uuid);
  if (verb === "join-event") return { status: 204 };
  const { name, phase, ready, playersOnline, playersMax } = server;
  return { status: 200, body: { name, phase, ready, playersOnline, playersMax, claimable: false } };
}
