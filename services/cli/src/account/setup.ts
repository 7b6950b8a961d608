import { createInterface } from "node:readline/promises";
import { accounts } from "@svc/proto";
import { CommandError, type Outcome } from "../output.ts";
import { readStackFile } from "../stack/stack-file.ts";
import { explain, externalClient } from "./session.ts";

export type SetupOptions = { data: string; email: string; code?: string; link?: string };

/**
 * Makes the person at this terminal the owner: redeems the setup link of the stack, mails a code to the address
 * and verifies it. Asks for the code when it was not given.
 */
export async function setUpOwner(options: SetupOptions): Promise<Outcome> {
  const stack = readStackFile(options.data);
  const link = options.link ?? stack.setup_url;
  const token = link ? new URL(link).searchParams.get("token") : null;
  if (!token) throw new CommandError("this stack has an owner already; give --link with a new setup link");
  try {
    const owner = await externalClient(options.data).call(accounts.redeemSetup, { token });
    const client = externalClient(options.data);
    await client.call(accounts.startEmail, { email: options.email });
    const code = options.code ?? (await askForCode(options.email, stack.mail.page));
    const { email } = await client.call(accounts.verifyEmail, { code });
    return {
      json: { user_id: owner.user_id, role: owner.role, email },
      text: `You are the owner, ${email}. Setup is done.`,
    };
  } catch (error) {
    return explain(error);
  }
}

async function askForCode(email: string, page: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<never>((_, reject) => {
    terminal.once("close", () =>
      reject(new CommandError("no code was given; type it, pipe it in or give --code")),
    );
  });
  ended.catch(() => undefined);
  try {
    const asked = terminal.question(`A code went to ${email} (local mails: ${page})\nCode: `);
    return (await Promise.race([asked, ended])).trim();
  } finally {
    terminal.close();
  }
}
