import type { Client } from "@svc/client";
import { accounts } from "@svc/proto";
import { hint } from "../hint.ts";
import { mintSetupLink } from "../host/rescue.ts";
import { CommandError, type Outcome, UsageError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { exchangeCode } from "./mail-code.ts";
import { createPanelClient } from "./panel-client.ts";
import { explain, isRefusal } from "./refusal.ts";
import { findSession } from "./session-file.ts";

export type SetupOptions = { data: string; email: string; code?: string; link?: string };

/**
 * Makes the person at this terminal the owner: signs in with the setup link of the stack, mails a code to the address
 * and verifies it. Safe to repeat at any point: it continues with the session or link that exists.
 */
export async function setUpOwner(options: SetupOptions): Promise<Outcome> {
  const { data, email, code } = options;
  const state = (await findState(data)) ?? (await signIn(options));
  if (!state.setup_required) {
    return {
      json: { user_id: state.user_id, role: state.role, email: state.email },
      text: `You are the ${state.role}, ${state.email || state.username}, already; setup is done.`,
    };
  }
  const client = createPanelClient(data, "admin");
  const verified = await exchangeCode({
    send: () => client.call(accounts.startEmail, { email }),
    verify: (typed) => client.call(accounts.verifyEmail, { code: typed }),
    known: code,
    sent: `A code went to ${email} (local mails: ${readStackFile(data).mail.page})`,
    again: hint(data, `account setup --email ${email}`),
  });
  return {
    json: { user_id: state.user_id, role: state.role, email: verified.email },
    text: `You are the ${state.role}, ${verified.email}. Setup is done.`,
  };
}

/** Setup state of the saved session; undefined when there is no valid one. */
async function findState(data: string): Promise<accounts.SetupState | undefined> {
  if (findSession(data)?.panelHost !== "admin") return undefined;
  try {
    return await createPanelClient(data, "admin").call(accounts.setupStatus, {});
  } catch (error) {
    if (isRefusal(error, "unauthorized")) return undefined;
    throw explain(error);
  }
}

async function signIn({ data, link }: SetupOptions): Promise<accounts.SetupState> {
  const client = createPanelClient(data, "admin");
  if (link !== undefined) {
    return redeem(client, link).catch((error: unknown) => {
      throw explain(error);
    });
  }
  const found = readStackFile(data).setup_url;
  const state = found === undefined ? undefined : await redeem(client, found).catch(unlessSpent);
  return (
    state ??
    redeem(client, await newLink(data)).catch((error: unknown) => {
      throw explain(error);
    })
  );
}

function unlessSpent(error: unknown): undefined {
  if (isRefusal(error, "setup_token_invalid")) return undefined;
  throw explain(error);
}

/** The data folder holds the database's credentials, so a spent or expired link can be replaced. */
async function newLink(data: string): Promise<string> {
  const link = await mintSetupLink(data);
  if (link) return link.setup_url;
  throw new CommandError("this stack has an owner already; sign in with: `svc account login`");
}

function redeem(client: Client, link: string): Promise<accounts.SetupState> {
  const token = URL.canParse(link) ? new URL(link).searchParams.get("token") : null;
  if (!token) throw new UsageError(`${link} is not a setup link; it must end in /setup?token=…`);
  return client.call(accounts.redeemSetup, { token });
}
