// A session server that speaks the vanilla protocol: a client joins with its token, a proxy asks whether it has. It can
// be set to misbehave as real ones do.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Player = { id: string; name: string; accessToken: string; properties?: unknown };

export type SessionServer = {
  hasJoinedUrl: string;
  /** Ends with a slash: a name is appended. */
  profileUrl: string;
  /** Creates an account; its client can join from now on. */
  add: (player: Player) => void;
  /** The request that a client sends before it connects to a proxy. Resolves with the status. */
  join: (player: Player, serverId: string) => Promise<number>;
  /** Handles every hasJoined request until it is undefined again. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** The same for profile lookups. */
  misbehaveLookup: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** URLs of the hasJoined requests so far. */
  asked: URL[];
  stop: () => Promise<void>;
};

type State = { players: Map<string, Player>; joined: Map<string, string>; server: SessionServer };

export async function startSessionServer(): Promise<SessionServer> {
  const state = { players: new Map(), joined: new Map() } as unknown as State;
  const http = createServer((request, response) => void answer(state, request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const root = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  state.server = {
    hasJoinedUrl: `${root}/session/minecraft/hasJoined`,
    profileUrl: `${root}/minecraft/profile/lookup/name/`,
    add: (player) => void state.players.set(player.accessToken, player),
    join: async (player, serverId) => {
      const body = { accessToken: player.accessToken, selectedProfile: player.id, serverId };
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${root}/session/minecraft/join`, init)).status;
    },
    misbehave: undefined,
    misbehaveLookup: undefined,
    asked: [],
    stop: async () => {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
  return state.server;
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  const { server } = state;
  if (request.method === "POST" && url.pathname === "/session/minecraft/join")
    return answerJoin(state, await readBody(request), response);
  if (url.pathname === "/session/minecraft/hasJoined") {
    server.asked.push(url);
    if (server.misbehave) return server.misbehave(request, response);
    return answerHasJoined(state, url.searchParams, response);
  }
  if (server.misbehaveLookup) return server.misbehaveLookup(request, response);
  const name = decodeURIComponent(url.pathname.split("/").at(-1) ?? "");
  const found = [...state.players.values()].find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (found) return sendJson(response, { id: found.id, name: found.name });
  response.writeHead(404, { "content-type": "application/json" }).end('{"errorMessage":"not found"}');
}

function answerJoin({ players, joined }: State, body: string, response: ServerResponse): void {
  const { accessToken, selectedProfile, serverId } = JSON.parse(body) as Record<string, string>;
  const player = players.get(accessToken ?? "");
  if (player?.id !== selectedProfile) return void response.writeHead(403).end();
  joined.set(player?.name.toLowerCase() ?? "", serverId ?? "");
  response.writeHead(204).end();
}

function answerHasJoined({ players, joined }: State, query: URLSearchParams, response: ServerResponse): void {
  const name = (query.get("username") ?? "").toLowerCase();
  const player = [...players.values()].find((one) => one.name.toLowerCase() === name);
  const isJoined = player !== undefined && joined.get(name) === query.get("serverId");
  if (!isJoined) return void response.writeHead(204).end();
  const { accessToken: _, ...profile } = player;
  sendJson(response, profile);
}

/** Answers 200 with a value as JSON. */
export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
