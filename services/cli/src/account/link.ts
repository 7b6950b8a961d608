import { links } from "@svc/proto";
import type { Outcome } from "../output.ts";
import { connectExternal } from "./external.ts";

/** Links the player who was shown the code to the account that is signed in here. */
export async function linkPlayer(code: string, { data }: { data: string }): Promise<Outcome> {
  const { mc_uuid, auth_source } = await connectExternal(data).call(links.verifyLink, { code });
  return {
    json: { linked: true, mc_uuid, auth_source },
    text: `Linked: player ${mc_uuid} now belongs to your account. The login gate lets you in.`,
  };
}
