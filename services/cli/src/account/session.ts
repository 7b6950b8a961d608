// The CLI's own signed-in session, kept beside the stack it belongs to.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiError, type Client, createClient } from "@svc/client";
import { Agent, fetch as undiciFetch } from "undici";
import { CommandError } from "../output.ts";
import { readStackFile } from "../stack/stack-file.ts";

const fileName = "cli-session";

/** A client of the external face on the operator console host, signed in when `svc account setup` was done. */
export function externalClient(dataDir: string): Client {
  const { external_base_url, admin_host } = readStackFile(dataDir);
  const cookie = readSession(dataDir);
  const url = new URL(external_base_url);
  const { hostname } = url;
  url.hostname = admin_host;
  // The console's name need not be in any DNS: the connection goes to where the stack listens.
  const toStack = new Agent({
    connect: { lookup: (_name, _options, answer) => answer(null, [{ address: hostname, family: 4 }]) },
  });
  return createClient({
    baseUrl: url.origin,
    ...(cookie === undefined ? {} : { cookie }),
    fetch: async (input, init) => {
      const response = await undiciFetch(input as string, { ...(init as object), dispatcher: toStack });
      keepSession(dataDir, response.headers.getSetCookie());
      return response as unknown as Response;
    },
  });
}

function keepSession(dataDir: string, cookies: readonly string[]): void {
  for (const line of cookies) {
    const [, value] = /^svc_session=([^;]*)/.exec(line) ?? [];
    if (value !== undefined) saveSession(dataDir, value);
  }
}

function readSession(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, fileName), "utf8").trim();
  } catch {
    return undefined;
  }
}

function saveSession(dataDir: string, value: string): void {
  const path = join(dataDir, fileName);
  if (value === "") rmSync(path, { force: true });
  else writeFileSync(path, value, { mode: 0o600 });
}

/** Says what to do about a refused call, in the words of this command. */
export function explain(error: unknown): never {
  if (!(error instanceof ApiError)) throw error;
  if (error.code === "unauthorized") {
    throw new CommandError(
      `${error.message}\nSign this command line in with: npm run svc -- account setup --email YOU@EXAMPLE.NET`,
    );
  }
  throw new CommandError(`${error.message} (${error.code}, request ${error.requestId ?? "unknown"})`);
}
