import { passkeys } from "@svc/proto";
import { CommandError, type Outcome } from "../output.ts";
import { connectExternal } from "./external.ts";
import { loginAtHost } from "./host-login.ts";
import { type LoginOptions, login, readAccount } from "./login.ts";
import { prove, proveByMail } from "./prove.ts";
import type { PanelHost } from "./session-file.ts";

/** Gives a fresh proof; `until` is when the next one is due. */
export async function reauth(options: LoginOptions): Promise<Outcome> {
  const { data } = options;
  const { panelHost } = connectExternal(data);
  if (options.with === undefined) await prove(data, panelHost);
  else if (options.with === "host") await loginAtHost(data, (await readAccount(data, panelHost)).user_id);
  else if (options.with === "operator") await login({ ...options, email: await addressOf(data, panelHost) });
  else await proveByMail(data, panelHost);
  const { until } = await connectExternal(data).call(passkeys.reauthStatus, {});
  return {
    json: { proven: true, ...(until !== undefined && { until }) },
    text: until === undefined ? "No proof is needed." : `Proven until ${until}.`,
  };
}

async function addressOf(data: string, panelHost: PanelHost): Promise<string> {
  const { email } = await readAccount(data, panelHost);
  if (email === "") throw new CommandError("this account has no verified address; use --with host");
  return email;
}
