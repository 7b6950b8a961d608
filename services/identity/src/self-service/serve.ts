import { accounts, links, passkeys, playerData } from "@svc/proto";
import { passkeyDeps } from "../passkey/serve.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { createDescribeAccounts, createMe, createNameAccounts, createSetupStatus } from "./account.ts";
import { createListLinks, createRemoveLink } from "./links.ts";
import { createListPasskeys, createRemovePasskey } from "./passkeys.ts";
import { createErasePlayerData, createReadPlayerData } from "./player-data.ts";
import { createStartLink, createVerifyLink } from "./player-link.ts";
import { createListSessions, createLogout, createRevokeOthers, createRevokeSession } from "./sessions.ts";

export function serveSelfService(deps: ServiceDeps): void {
  const { mesh } = deps;
  mesh.serve(accounts.setupStatus, createSetupStatus(deps));
  mesh.serve(accounts.me, createMe(deps));
  mesh.serve(accounts.describeAccounts, createDescribeAccounts(deps));
  mesh.serve(accounts.nameAccounts, createNameAccounts(deps));

  mesh.serve(accounts.logout, createLogout(deps));
  mesh.serve(accounts.listSessions, createListSessions(deps));
  mesh.serve(accounts.revokeSession, createRevokeSession(deps));
  mesh.serve(accounts.revokeOtherSessions, createRevokeOthers(deps));

  mesh.serve(passkeys.list, createListPasskeys(passkeyDeps(deps)));
  mesh.serve(passkeys.remove, createRemovePasskey(passkeyDeps(deps)));

  mesh.serve(links.listOwn, createListLinks(deps));
  mesh.serve(links.removeOwn, createRemoveLink(deps));
  mesh.serve(playerData.read, createReadPlayerData(deps));
  mesh.serve(playerData.erase, createErasePlayerData(deps));
  mesh.serve(links.startLink, createStartLink(deps));
  mesh.serve(links.verifyLink, createVerifyLink(deps));
}
