import { users } from "@svc/proto";
import type { ServiceDeps } from "../service-deps.ts";
import { createCreateUser, createDisableUser, createPatchUser } from "./change.ts";
import { createAddLink, createRemoveLink } from "./links.ts";
import { createRemoveUserPasskeys } from "./passkeys.ts";
import { createListUserSessions, createListUsers, createReadUser } from "./read.ts";
import { createRemoveUser } from "./remove.ts";
import { createRevokeUserSession, createRevokeUserSessions } from "./sessions.ts";

export function serveUsers(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(users.list, createListUsers(deps));
  mesh.serve(users.create, createCreateUser(deps));
  mesh.serve(users.read, createReadUser(deps));
  mesh.serve(users.patch, createPatchUser(deps));
  mesh.serve(users.remove, createRemoveUser(deps));
  mesh.serve(users.disable, createDisableUser(deps));
  mesh.serve(users.listSessions, createListUserSessions(deps));
  mesh.serve(users.revokeSessions, createRevokeUserSessions(deps));
  mesh.serve(users.revokeSession, createRevokeUserSession(deps));
  mesh.serve(users.removePasskeys, createRemoveUserPasskeys(deps));
  mesh.serve(users.addLink, createAddLink(deps));
  mesh.serve(users.removeLink, createRemoveLink(deps));
}
