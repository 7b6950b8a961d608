import { passkeys } from "@svc/proto";
import { passkeyDeps } from "../passkey/serve.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { createStartReauthEmail, createVerifyReauthEmail } from "./email.ts";
import { createBeginReauth, createFinishReauth, createReauthStatus } from "./passkey.ts";

export function serveReauth(service: ServiceDeps): void {
  const { mesh, sendCode } = service;
  const deps = passkeyDeps(service);
  mesh.serve(passkeys.reauthStatus, createReauthStatus(deps));
  mesh.serve(passkeys.beginReauth, createBeginReauth(deps));
  mesh.serve(passkeys.finishReauth, createFinishReauth(deps));
  mesh.serve(passkeys.startReauthEmail, createStartReauthEmail({ ...deps, sendCode }));
  mesh.serve(passkeys.verifyReauthEmail, createVerifyReauthEmail(deps));
}
