// Sign-in through the browser: this command shows a code, a signed-in person types it on a page of the stack and approves
// (docs/reference/sign-in.md#cli-login).

import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type Client } from "@svc/client";
import { cliLogins } from "@svc/proto";
import { CommandError } from "../output.ts";
import { addressOf, createPanelClient } from "./panel-client.ts";
import { explain, isRefusal } from "./refusal.ts";
import type { PanelHost } from "./session-file.ts";

const pollMs = 2_000;

type SignedIn = { user_id: string; role: string };

/** Waits until somebody approved. Throws a `CommandError` for a refusal and after the code has expired. */
export async function loginByBrowser(data: string, panelHost: PanelHost): Promise<SignedIn> {
  const client = createPanelClient(data, panelHost);
  const { secret, code, expires_at } = await client.call(cliLogins.start, {}).catch((error: unknown) => {
    throw explain(error);
  });
  const until = Date.parse(expires_at);
  const minutes = Math.round((until - Date.now()) / 60_000);
  process.stderr.write(
    `Open ${addressOf(data, panelHost, "/cli")} in a browser, sign in there and type this code:\n\n` +
      `    ${spaced(code)}\n\n` +
      `It is valid for ${minutes} minutes and for you alone: do not share it. Waiting; press Ctrl+C to stop ...\n`,
  );
  for (;;) {
    const answer = await poll(client, secret);
    if (answer.state === "signed_in") return answer;
    if (Date.now() >= until) throw new CommandError(expired);
    await sleep(pollMs);
  }
}

const expired = "nobody approved the sign-in in time; start again with: `svc account login --browser`";

/** A stack that does not answer for a moment may still know the login. */
async function poll(client: Client, secret: string) {
  try {
    return await client.call(cliLogins.finish, { secret });
  } catch (error) {
    if (isRefusal(error, "cli_login_refused"))
      throw new CommandError("the sign-in was refused in the browser");
    if (isRefusal(error, "cli_login_invalid")) throw new CommandError(expired);
    if (error instanceof ApiError && error.status < 500) throw explain(error);
    return { state: "pending" } as const;
  }
}

function spaced(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
