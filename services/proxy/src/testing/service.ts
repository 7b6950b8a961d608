// The internal face and a session server as the proxy meets them, over real HTTP, whose answers a test decides. Every
// question and every answer is held against its contract: what does not fit is a mistake, and ends the test.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type AnyContract,
  accountMigrations,
  announcements,
  commonFaults,
  type FaultName,
  faults,
  imageChoices,
  knownPlayers,
  links,
  ownership,
  players,
  type ServerInfo,
  servers,
  signIn,
} from "@svc/proto";
import { watcher } from "./watcher.ts";

export type Account = { uuid: string; name: string };
type Reply = { status: number; body?: unknown };
/** What the proxy may ask, flat as the owner would get it. */
type Input = Readonly<Record<string, string>>;
type Routes = Map<AnyContract, (input: Input) => Reply | Promise<Reply>>;

export const serviceToken = "velocity";

export async function startService() {
  const changes = watcher();
  const verdicts: Record<string, ownership.MenuVerdict> = {};
  const state = {
    servers: new Map<string, ServerInfo>(),
    linked: new Set<string>(),
    barred: new Set<string>(),
    /** Whose account was ended, and how. */
    retired: new Map<string, "account_disabled" | "account_deleted">(),
    joined: new Map<string, Account>(),
    accounts: new Map<string, Account>(),
    /** Calls of the internal face, as `METHOD path body`. */
    calls: [] as string[],
    mistakes: [] as string[],
    token: serviceToken,
    /** Ends once `look` is true of the calls; told of each one. */
    until: changes.until,
    tellWatchers: changes.wake,
    isDown: false,
    isSessionDown: false,
    /** The bar was there before the login; else it comes after it. */
    isBarAtLogin: false,
    /** Answers of single contracts, by subject; they come before those below. */
    answers: new Map<string, (input: Input) => Reply | Promise<Reply>>(),
    verdicts,
    claimable: new Set<string>(),
    announced: [] as announcements.Announcement[],
    /** Everybody on all proxies. */
    online: [] as players.OnlinePlayer[],
    presence: (_input: Input): unknown => ({ elsewhere: [], invitations: [] }),
    takeVisits: (_input: Input): Reply => ({ status: 204 }),
    invite: (_input: Input): Reply => refusal("not_found"),
    wake: (_name: string, _uuid: string): Reply => refusal("forbidden"),
    claim: (_name: string, _uuid: string): Reply => refusal("already_claimed"),
  };
  const routes = routesOf(state);
  const http = createServer((request, response) => void answer({ state, routes }, request, response));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const root = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return Object.assign(state, {
    root,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, "close");
      assert.deepEqual(state.mistakes, [], "the proxy and its test keep to the contracts");
    },
  });
}
export type Service = Awaited<ReturnType<typeof startService>>;
type State = Omit<Service, "root" | typeof Symbol.asyncDispose>;

/** A refusal as the gateway sends it. */
export function refusal(name: FaultName): Reply {
  const { status, code, message } = faults[name];
  return { status, body: { error: { code, message, request_id: "r" } } };
}

type Deps = { state: State; routes: Routes };

async function answer({ state, routes }: Deps, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString();
  const url = new URL(request.url ?? "/", "http://x");
  const isSession = url.pathname.startsWith("/session/");
  if (state.isDown && !isSession) return void request.socket.destroy();
  if (!isSession) {
    state.calls.push(`${request.method} ${url.pathname}${url.search} ${body}`.trim());
    state.tellWatchers();
  }
  if (isSession && state.isSessionDown) return void response.writeHead(503).end();
  const reply = isSession ? session(state, url, body) : await call({ state, routes }, { request, url, body });
  response.writeHead(reply.status, { "content-type": "application/json" });
  response.end(reply.body === undefined ? undefined : JSON.stringify(reply.body));
}

function session(state: State, url: URL, body: string): Reply {
  const { joined, accounts, barred } = state;
  if (url.pathname === "/session/minecraft/join") {
    const { accessToken, serverId } = JSON.parse(body) as { accessToken: string; serverId: string };
    const account = accounts.get(accessToken);
    if (!account) return { status: 403, body: {} };
    joined.set(serverId, account);
    return { status: 204 };
  }
  const account = joined.get(url.searchParams.get("serverId") ?? "");
  const isTold = url.searchParams.get("bars") === "told" && url.searchParams.get("serverId") !== null;
  if (isTold && account && barred.has(account.uuid) && state.isBarAtLogin) return { status: 403 };
  if (account?.name !== url.searchParams.get("username")) return { status: 204 };
  const id = account?.uuid.replaceAll("-", "");
  return { status: 200, body: { id, name: account?.name, properties: [] } };
}

type Asked = { request: IncomingMessage; url: URL; body: string };

async function call({ state, routes }: Deps, { request, url, body }: Asked): Promise<Reply> {
  if (request.headers.authorization !== `Bearer ${state.token}`) return refusal("unauthorized");
  for (const [contract, handler] of routes) {
    const { method, path = "" } = contract.http ?? {};
    const params = request.method === method && match(path, url.pathname);
    if (!params) continue;
    const sent: unknown = body === "" ? {} : JSON.parse(body);
    const input = contract.input.safeParse({
      ...params,
      ...Object.fromEntries(url.searchParams),
      ...Object(sent),
    });
    if (!input.success) {
      state.mistakes.push(
        `${contract.subject} was asked with ${url.pathname} ${body}: ${input.error.message}`,
      );
      return refusal("bad_request");
    }
    const reply = await (state.answers.get(contract.subject) ?? handler)(input.data as Input);
    const mistake = mistakeOf(contract, reply);
    if (mistake !== undefined) state.mistakes.push(`${contract.subject}: ${mistake}`);
    return reply;
  }
  state.mistakes.push(`${request.method} ${url.pathname} is not an operation that the proxy may use`);
  return refusal("not_found");
}

function match(template: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [template.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = decodeURIComponent(given[index] ?? "");
    if (part.startsWith("{")) params[part.slice(1, -1)] = value;
    else if (part !== value) return undefined;
  }
  return params;
}

/** What keeps this answer from being one of the contract's. */
function mistakeOf(contract: AnyContract, { status, body }: Reply): string | undefined {
  if (status >= 400) {
    const { code } = (body as { error: { code: string } }).error;
    const names: FaultName[] = [...contract.faults, ...commonFaults, "wrong_caller"];
    const isKnown = names.some((name) => faults[name].status === status && faults[name].code === code);
    return isKnown ? undefined : `it never answers ${status} ${code}`;
  }
  if (status !== contract.http?.status) return `it answers ${contract.http?.status}, not ${status}`;
  const list = contract.http?.collect;
  const value = list === undefined ? (body ?? null) : { items: (body as Record<string, unknown>)[list] };
  return contract.output.safeParse(value).error?.message;
}

const expires = "2026-01-01T00:10:00.000Z";

function routesOf(state: State): Routes {
  const ofServer = (then: (server: ServerInfo, input: Input) => Reply) => (input: Input) => {
    const server = state.servers.get(input["name"] ?? "");
    return server ? then(server, input) : refusal("not_found");
  };
  const uuidOf = (input: Input) => input["mc_uuid"] ?? "";
  const menuRow = ({ name, phase, ready, playersOnline, playersMax }: ServerInfo) => ({
    status: 200,
    body: { name, phase, ready, playersOnline, playersMax, claimable: state.claimable.has(name) },
  });
  const code = { code: "ABCD2345", expires_at: expires, panel_url: "https://console.play.example" };
  return new Map<AnyContract, (input: Input) => Reply>([
    [announcements.listForProxy, () => ({ status: 200, body: { announcements: state.announced } })],
    [servers.list, () => ({ status: 200, body: { servers: [...state.servers.values()] } })],
    [servers.readStatus, ofServer((server) => ({ status: 200, body: server }))],
    [servers.wakeForPlayer, ofServer(({ name }, input) => state.wake(name, uuidOf(input)))],
    [servers.reportJoin, ofServer(() => ({ status: 204 }))],
    [players.reportLeave, ofServer(() => ({ status: 204 }))],
    [players.reportPlayers, (input) => ({ status: 200, body: state.presence(input) })],
    [knownPlayers.reportVisits, (input) => state.takeVisits(input)],
    [imageChoices.reportVersions, () => ({ status: 204 })],
    [players.listForProxy, () => ({ status: 200, body: { players: state.online } })],
    [players.invite, (input) => state.invite(input)],
    [ownership.claimForPlayer, ofServer(({ name }, input) => state.claim(name, uuidOf(input)))],
    [ownership.readMenu, ofServer(menuRow)],
    [ownership.readMenuAccess, () => ({ status: 200, body: { servers: state.verdicts } })],
    [links.linkStatus, (input) => ({ status: 200, body: { linked: state.linked.has(uuidOf(input)) } })],
    [
      links.readStandings,
      (input) => {
        const asked = input["mc_uuids"] as unknown as string[];
        const found = asked.flatMap((uuid) => {
          const own = state.barred.has(uuid) ? "barred" : state.retired.get(uuid);
          const standing = own ?? (state.linked.has(uuid) ? undefined : "not_linked");
          return standing === undefined ? [] : [[uuid, standing]];
        });
        return { status: 200, body: { standings: Object.fromEntries(found) } };
      },
    ],
    [links.mintCode, () => ({ status: 201, body: code })],
    [accountMigrations.start, () => ({ status: 201, body: { started: true, state: "initiated" } })],
    [signIn.listPendingOpLogins, () => ({ status: 200, body: { pending: [] } })],
    [signIn.readOpLogin, () => refusal("op_login_not_found")],
    [signIn.approveOpLogin, () => refusal("op_login_not_found")],
  ]);
}
