import { passkeys } from "@svc/proto";
import { createStartReauthEmail, createVerifyReauthEmail } from "../reauth/email.ts";
import { createBeginReauth, createFinishReauth, createReauthStatus } from "../reauth/passkey.ts";
import { createListPasskeys, createRemovePasskey } from "../self-service/passkeys.ts";
import type { Serving } from "../service-deps.ts";
import type { PasskeyDeps } from "./deps.ts";
import {
  createBeginDiscoverable,
  createBeginLogin,
  createFinishDiscoverable,
  createFinishLogin,
} from "./login.ts";
import { createBeginRegister, createFinishRegister } from "./register.ts";
import { relyingParty } from "./relying-party.ts";

/** What everything about passkeys is given. */
export function passkeyDeps({ deps, settings, notices }: Serving): PasskeyDeps {
  return { ...deps, notices, party: relyingParty(settings) };
}

export function servePasskeys(serving: Serving): void {
  const { mesh, sendCode } = serving;
  const deps = passkeyDeps(serving);
  mesh.serve(passkeys.beginLogin, createBeginLogin(deps));
  mesh.serve(passkeys.finishLogin, createFinishLogin(deps));
  mesh.serve(passkeys.beginDiscoverable, createBeginDiscoverable(deps));
  mesh.serve(passkeys.finishDiscoverable, createFinishDiscoverable(deps));

  mesh.serve(passkeys.beginRegister, createBeginRegister(deps));
  mesh.serve(passkeys.finishRegister, createFinishRegister(deps));
  mesh.serve(passkeys.list, createListPasskeys(deps));
  mesh.serve(passkeys.remove, createRemovePasskey(deps));

  mesh.serve(passkeys.reauthStatus, createReauthStatus(deps));
  mesh.serve(passkeys.beginReauth, createBeginReauth(deps));
  mesh.serve(passkeys.finishReauth, createFinishReauth(deps));
  mesh.serve(passkeys.startReauthEmail, createStartReauthEmail({ ...deps, sendCode }));
  mesh.serve(passkeys.verifyReauthEmail, createVerifyReauthEmail(deps));
}
