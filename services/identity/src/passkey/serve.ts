import { passkeys } from "@svc/proto";
import type { Deps } from "../deps.ts";
import type { ServiceDeps } from "../service-deps.ts";
import type { PasskeyDeps } from "./deps.ts";
import {
  createBeginDiscoverable,
  createBeginLogin,
  createFinishDiscoverable,
  createFinishLogin,
} from "./login.ts";
import { createBeginRegister, createFinishRegister } from "./register.ts";
import { relyingParty } from "./relying-party.ts";

/** The dependencies of all passkey handlers. */
export function passkeyDeps(deps: Deps & Pick<ServiceDeps, "mailQueue" | "settings">): PasskeyDeps {
  return { ...deps, party: relyingParty(deps.settings) };
}

export function servePasskeys(service: ServiceDeps): void {
  const { mesh } = service;
  const deps = passkeyDeps(service);
  mesh.serve(passkeys.beginLogin, createBeginLogin(deps));
  mesh.serve(passkeys.finishLogin, createFinishLogin(deps));
  mesh.serve(passkeys.beginDiscoverable, createBeginDiscoverable(deps));
  mesh.serve(passkeys.finishDiscoverable, createFinishDiscoverable(deps));

  mesh.serve(passkeys.beginRegister, createBeginRegister(deps));
  mesh.serve(passkeys.finishRegister, createFinishRegister(deps));
}
