// Whose webhooks: those of a server, or of the installation (docs/reference/webhooks.md#operations).

import type { Context, Mesh } from "@svc/mesh";
import {
  type AnyContract,
  askedBy,
  decideAccess,
  Fault,
  isUserName,
  type MemberRight,
  type webhooks,
} from "@svc/proto";
import { readSharing } from "./sender.ts";
import { closedTo } from "./standing.ts";

export type Place = {
  /** Null: of the installation; then there is no owner. */
  server: string | null;
  owner: string | null;
  /** What the caller has there as a member; absent of whom nothing is closed to. */
  rights?: readonly MemberRight[];
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
  const member =
    verdict.as === "member" && members.find(({ user_id }) => user_id === userIdOf(context.principal));
  return { server: name, owner: ownerId ?? null, ...(member && { rights: member.rights }) };
}

const userIdOf = (principal: Context<AnyContract>["principal"]) =>
  principal.kind === "account" ? principal.user_id : undefined;

/** Whether the caller may be told of an event. */
export function mayBeTold({ rights }: Place, type: webhooks.WebhookEventType): boolean {
  return rights === undefined || closedTo(rights, [type]).length === 0;
}

/** Throws `forbidden` naming the events that the caller may not be told. */
export function assertMayBeTold({ rights }: Place, events: readonly webhooks.WebhookEventType[]): void {
  const closed = rights === undefined ? [] : closedTo(rights, events);
  if (closed.length === 0) return;
  const message = `Your access to this server does not include ${closed.join(", ")}; leave such events out, or ask its owner.`;
  throw new Fault("forbidden", { message });
}
