import { accounts, passkeys } from "@svc/proto";
import type { Outcome } from "../output.ts";
import { connectExternal } from "./external.ts";

/** Who is signed in, on which host, and whether a change to sign-in methods requires a proof. */
export async function whoAmI({ data }: { data: string }): Promise<Outcome> {
  const external = connectExternal(data);
  const me = await external.call(accounts.me, {});
  const { needed, until, factors } = await external.call(passkeys.reauthStatus, {});
  const host = external.panelHost === "admin" ? "operator console" : "players' panel";
  const proof =
    until === undefined
      ? needed
        ? "a proof is needed"
        : "no further proof is needed"
      : `proven until ${until}`;
  return {
    json: {
      ...me,
      host: external.panelHost,
      reauth: { needed, factors, ...(until !== undefined && { until }) },
    },
    text: `${me.email || me.user_id} (${me.role}) at the ${host}; for changes to sign-in methods: ${proof}`,
  };
}
