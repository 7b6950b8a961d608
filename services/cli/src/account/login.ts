import { setTimeout as sleep } from "node:timers/promises";
import { accounts, signIn } from "@svc/proto";
import { hint } from "../hint.ts";
import { CommandError, type Outcome, UsageError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { loginByBrowser } from "./browser-login.ts";
import { chooseWay, decideWay, hasPanel, type Way } from "./choose-way.ts";
import { loginAtHost } from "./host-login.ts";
import { exchangeCode } from "./mail-code.ts";
import { createPanelClient } from "./panel-client.ts";
import { explain, isRefusal } from "./refusal.ts";

export type LoginOptions = {
  data: string;
  json?: boolean;
  with?: Way;
  browser?: boolean;
  /** Host of a sign-in through the browser. */
  host?: "panel" | "operator";
  email?: string;
  code?: string;
};

/** Signs in: by data folder by default, by mailed code when an address is given; asks a person at a terminal. */
export async function login(options: LoginOptions): Promise<Outcome> {
  const { data } = options;
  const isTerminal = process.stdin.isTTY && !options.json;
  const decided = decideWay(options, { isTerminal, hasPanel: hasPanel(data) });
  const { way, ...typed } = decided === "ask" ? await chooseWay() : { way: decided };
  const { user_id, role, name } = await loginBy(way, { ...options, ...typed });
  return {
    json: { user_id, role, signed_in: true },
    text: `You are signed in as ${name} (${role}).`,
  };
}

type Login = { user_id: string; role: string; name: string };

async function loginBy(way: Way, options: LoginOptions): Promise<Login> {
  if (way === "host") {
    const { username, ...rest } = await loginAtHost(options.data);
    return { ...rest, name: username };
  }
  if (way === "browser") return loginInBrowser(options);
  const { email } = options;
  if (email === undefined) throw new UsageError(`--with ${way} needs --email, your verified address`);
  const done = way === "email" ? await loginByMail(options, email) : await loginAsOperator(options, email);
  return { ...done, name: email };
}

/** Says whose session it is: another person may have approved. */
async function loginInBrowser({ data, host }: LoginOptions): Promise<Login> {
  const panelHost = host === "operator" ? "admin" : "panel";
  const done = await loginByBrowser(data, panelHost);
  const { email, username } = await readAccount(data, panelHost);
  return { ...done, name: email || username };
}

/** Players sign in on the panel's host with a mailed code. */
async function loginByMail(options: LoginOptions, email: string) {
  const { data, code } = options;
  const client = createPanelClient(data, "panel");
  const again = hint(data, `account login --email ${email}`);
  return exchangeCode({
    send: () => client.call(signIn.startEmail, { email }),
    verify: (typed) =>
      client.call(signIn.verifyEmail, { email, code: typed }).catch((error: unknown) => {
        if (!isRefusal(error, "staff_account")) throw error;
        const command = `\`svc account login --with operator --email ${email}\``;
        throw new CommandError(`operators sign in with an approval in the game: ${command}`);
      }),
    known: code,
    sent: `A code went to ${email}, if it has an account (local mails: ${mailPage(data)})`,
    again,
  });
}

const approvalPollMs = 1_000;

/** Operators sign in with a mailed code and the approval of an operator in the game. */
async function loginAsOperator({ data, code }: LoginOptions, email: string) {
  const client = createPanelClient(data, "admin");
  const started = await client.call(signIn.startOpLogin, { email }).catch((error: unknown) => {
    throw explain(error);
  });
  const id = started.request_id;
  process.stderr.write(
    `A code went to ${email}, if it is an operator's (local mails: ${mailPage(data)}).\n` +
      `Now approve it in the game: /felis web op approve ${id}\n`,
  );
  await awaitApproval(data, { id, until: Date.parse(started.expires_at) });
  return exchangeCode({
    verify: (typed) => client.call(signIn.finishOpLogin, { request_id: id, code: typed }),
    known: code,
    sent: "",
    again: hint(data, `account login --with operator --email ${email}`),
  });
}

async function awaitApproval(data: string, { id, until }: { id: string; until: number }): Promise<void> {
  const client = createPanelClient(data, "admin");
  for (;;) {
    const { approved } = await client.call(signIn.readOpLoginStatus, { id }).catch((error: unknown) => {
      throw explain(error);
    });
    if (approved) return;
    if (Date.now() > until) throw new CommandError("nobody approved the sign-in in time; start again");
    await sleep(approvalPollMs);
  }
}

function mailPage(data: string): string {
  return readStackFile(data).mail.page;
}

/** The account signed in on a host. */
export async function readAccount(data: string, panelHost: "admin" | "panel") {
  return createPanelClient(data, panelHost)
    .call(accounts.me, {})
    .catch((error: unknown) => {
      throw explain(error);
    });
}
