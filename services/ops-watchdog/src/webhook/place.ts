// Whose webhooks: those of a server, or of the installation (docs/reference/webhooks.md#operations).

import type { Context, Mesh } from "@svc/mesh";
import { type AnyContract, askedBy, decideAccess, Fault, isUserName } from "@svc/proto";
import { readSharing } from "./sender.ts";

export type Place = {
  /** Null: of the installation; then there is no owner. */
  server: string | null;
  owner: string | null;
};

export const platform: Place = { server: null, owner: null };

type Asked = {
  name: string;
  to: Pick<AnyContract, "http">;
  /** What staff may do at servers of others too: they see and delete, and send nothing anywhere. */
  isForStaff?: boolean;
};

/** The webhooks of a server for somebody who may do this with them. Throws `bad_name`, `not_found`, `forbidden`. */
export async function placeOf(
  mesh: Pick<Mesh, "call">,
  context: Context<AnyContract>,
  { name, to, isForStaff = false }: Asked,
): Promise<Place> {
  if (!isUserName(name)) throw new Fault("bad_name");
  const sharing = await readSharing(mesh, name, context);
  if (!sharing) throw new Fault("not_found", { message: `There is no server ${name}.` });
  const { owner_id: ownerId, members } = sharing;
  const asked = { ...askedBy(to), now: Date.now(), isClosedToStaff: !isForStaff };
  const verdict = decideAccess(context.principal, { name, ownerId, members }, asked);
  if (!verdict.isAllowed) throw new Fault("forbidden", { message: verdict.message });
  return { server: name, owner: ownerId ?? null };
}
