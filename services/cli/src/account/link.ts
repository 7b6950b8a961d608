import { links } from "@svc/proto";
import type { Outcome } from "../output.ts";
import { explain, externalClient } from "./session.ts";

/** Gives the player who holds the code in the game to the account that this command line is signed in to. */
export async function linkPlayer(code: string, options: { data: string }): Promise<Outcome> {
  try {
    const { mc_uuid, auth_source } = await externalClient(options.data).call(links.verifyLink, { code });
    return {
      json: { linked: true, mc_uuid, auth_source },
      text: `Linked: the player ${mc_uuid} is you. The game lets you in by itself.`,
    };
  } catch (error) {
    return explain(error);
  }
}
