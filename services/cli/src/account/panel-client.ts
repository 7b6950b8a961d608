import { hostname } from "node:os";
import { type Client, createClient } from "@svc/client";
import { Agent, fetch as undiciFetch } from "undici";
import { buildVersion } from "../config.ts";
import { readStackFile } from "../stack-file.ts";
import { findSession, type PanelHost, removeSession, saveSession } from "./session-file.ts";

/** Address of a page of the external face, as a browser on this machine reaches it. */
export function addressOf(data: string, panelHost: PanelHost, page = ""): string {
  const { external_base_url, admin_host, panel_host } = readStackFile(data);
  const url = new URL(external_base_url);
  url.hostname = panelHost === "admin" ? admin_host : panel_host;
  return `${url.origin}${page}`;
}

// Lists of sessions, and whoever approves a sign-in in the browser, show it.
const machine = hostname().replace(/[^\w.-]/g, "") || "unknown";
const userAgent = `svc/${buildVersion} (${machine})`;

/** A client of one host of the external face; sends that host's session and saves a new one. */
export function createPanelClient(data: string, panelHost: PanelHost): Client {
  const session = findSession(data);
  return connect(data, panelHost, session?.panelHost === panelHost ? { cookie: session.value } : {});
}

/** A client of the players' panel that sends an API token and no session. */
export function createTokenClient(data: string, token: string): Client {
  return connect(data, "panel", { headers: { authorization: `Bearer ${token}` } });
}

type Credential = { cookie?: string; headers?: Record<string, string> };

function connect(data: string, panelHost: PanelHost, { cookie, headers }: Credential): Client {
  const { hostname: address } = new URL(readStackFile(data).external_base_url);
  // Host names need no DNS: connections go to the address on which the stack listens.
  const dispatcher = new Agent({
    connect: { lookup: (_name, _options, answer) => answer(null, [{ address, family: 4 }]) },
  });
  return createClient({
    baseUrl: addressOf(data, panelHost),
    headers: { "user-agent": userAgent, ...headers },
    ...(cookie !== undefined && { cookie }),
    fetch: async (input, init) => {
      const response = await undiciFetch(input as string, { ...(init as object), dispatcher });
      keep(data, panelHost, response.headers.getSetCookie());
      return response as unknown as Response;
    },
  });
}

function keep(data: string, panelHost: PanelHost, cookies: readonly string[]): void {
  for (const line of cookies) {
    const [, value] = /^svc_session=([^;]*)/.exec(line) ?? [];
    if (value === "") removeSession(data);
    else if (value !== undefined) saveSession(data, { value, panelHost });
  }
}
