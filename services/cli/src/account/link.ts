import { links } from "@svc/proto";
import type { Outcome } from "../output.ts";
import { connectExternal } from "./external.ts";

/** Gives the player who holds the code in the game to the account that this command line is signed in to. */
export async function linkPlayer(code: string, { data }: { data: string }): Promise<Outcome> {
  const { mc_uuid, auth_source } = await connectExternal(data).call(links.verifyLink, { code });
  return {
    json: { linked: true, mc_uuid, auth_source },
    text: `Linked: the player ${mc_uuid} is you. The game lets you in by itself.`,
  };
}
