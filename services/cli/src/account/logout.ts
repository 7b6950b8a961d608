import { accounts } from "@svc/proto";
import type { Outcome } from "../output.ts";
import { createPanelClient } from "./panel-client.ts";
import { explain } from "./refusal.ts";
import { findSession, removeSession } from "./session-file.ts";

/** Ends the session of this command line; without one there is nothing to do. */
export async function logout({ data }: { data: string }): Promise<Outcome> {
  const session = findSession(data);
  if (!session) return { json: { signed_out: false }, text: "Nobody is signed in here." };
  await createPanelClient(data, session.panelHost)
    .call(accounts.logout, {})
    .catch((error: unknown) => {
      throw explain(error);
    });
  removeSession(data);
  return { json: { signed_out: true }, text: "Signed out." };
}
