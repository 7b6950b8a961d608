import { users } from "@svc/proto";
import type { Serving } from "../service-deps.ts";
import { createCreateUser, createDisableUser, createPatchUser } from "./change.ts";
import { createAddLink, createRemoveLink } from "./links.ts";
import { createRemoveUserPasskeys } from "./passkeys.ts";
import { createListUserSessions, createListUsers, createReadUser } from "./read.ts";
import { createRemoveUser } from "./remove.ts";
import { createRevokeUserSession, createRevokeUserSessions } from "./sessions.ts";

export function serveUsers(serving: Serving): void {
  const { mesh } = serving;
  mesh.serve(users.list, createListUsers(serving));
  mesh.serve(users.create, createCreateUser(serving));
  mesh.serve(users.read, createReadUser(serving));
  mesh.serve(users.patch, createPatchUser(serving));
  mesh.serve(users.remove, createRemoveUser(serving));
  mesh.serve(users.disable, createDisableUser(serving));
  mesh.serve(users.listSessions, createListUserSessions(serving));
  mesh.serve(users.revokeSessions, createRevokeUserSessions(serving));
  mesh.serve(users.revokeSession, createRevokeUserSession(serving));
  mesh.serve(users.removePasskeys, createRemoveUserPasskeys(serving));
  mesh.serve(users.addLink, createAddLink(serving));
  mesh.serve(users.removeLink, createRemoveLink(serving));
}
