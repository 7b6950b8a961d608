import { passkeys } from "@svc/proto";
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
  const { mesh } = serving;
  const deps = passkeyDeps(serving);
  mesh.serve(passkeys.beginLogin, createBeginLogin(deps));
  mesh.serve(passkeys.finishLogin, createFinishLogin(deps));
  mesh.serve(passkeys.beginDiscoverable, createBeginDiscoverable(deps));
  mesh.serve(passkeys.finishDiscoverable, createFinishDiscoverable(deps));

  mesh.serve(passkeys.beginRegister, createBeginRegister(deps));
  mesh.serve(passkeys.finishRegister, createFinishRegister(deps));
}
