import { passkeys } from "@svc/proto";
import { hint } from "../hint.ts";
import { CommandError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { loginAtHost } from "./host-login.ts";
import { readAccount } from "./login.ts";
import { exchangeCode } from "./mail-code.ts";
import { createPanelClient } from "./panel-client.ts";
import { explain } from "./refusal.ts";
import type { PanelHost } from "./session-file.ts";

/**
 * Gives the fresh proof that a call required: for operators by the data folder, whose holder could change everything
 * anyway, for players by a mailed code.
 */
export async function prove(data: string, panelHost: PanelHost): Promise<void> {
  const me = await readAccount(data, panelHost);
  if (me.role === "user") {
    process.stderr.write("This change requires a fresh proof.\n");
    await proveByMail(data, panelHost);
    return;
  }
  await loginAtHost(data, me.user_id);
  process.stderr.write("This change required a fresh proof; the data folder provided it (audited).\n");
}

export async function proveByMail(data: string, panelHost: PanelHost): Promise<void> {
  const client = createPanelClient(data, panelHost);
  const { factors } = await client.call(passkeys.reauthStatus, {}).catch((error: unknown) => {
    throw explain(error);
  });
  if (!factors.includes("email"))
    throw new CommandError(
      "mailed codes are for players with a verified address; make the change in the panel, or use --with host or operator",
    );
  await exchangeCode({
    send: () => client.call(passkeys.startReauthEmail, {}),
    verify: (code) => client.call(passkeys.verifyReauthEmail, { code }),
    sent: `A code went to your address (local mails: ${readStackFile(data).mail.page})`,
    again: hint(data, "account reauth"),
  });
}
