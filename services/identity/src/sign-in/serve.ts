import { signIn } from "@svc/proto";
import { relyingParty } from "../passkey/relying-party.ts";
import type { ServiceDeps } from "../service-deps.ts";
import { createApproveOpLogin, createListPending, createReadOpLogin } from "./op-login/approve.ts";
import { createFinishOpLogin, createReadStatus } from "./op-login/finish.ts";
import { createStartOpLogin } from "./op-login/start.ts";
import { createOptions } from "./options.ts";
import { createPasswordLogin } from "./password.ts";
import { createStartEmail } from "./start-email.ts";
import { createVerifyEmail } from "./verify-email.ts";

export function serveSignIn(deps: ServiceDeps): void {
  const { mesh, settings } = deps;
  mesh.serve(signIn.options, createOptions({ ...deps, takesPasskeys: relyingParty(settings) !== undefined }));
  mesh.serve(signIn.startEmail, createStartEmail(deps));
  mesh.serve(signIn.verifyEmail, createVerifyEmail(deps));
  mesh.serve(signIn.passwordLogin, createPasswordLogin(deps));

  mesh.serve(signIn.startOpLogin, createStartOpLogin(deps));
  mesh.serve(signIn.readOpLoginStatus, createReadStatus(deps));
  mesh.serve(signIn.finishOpLogin, createFinishOpLogin(deps));
  mesh.serve(signIn.listPendingOpLogins, createListPending(deps));
  mesh.serve(signIn.readOpLogin, createReadOpLogin(deps));
  mesh.serve(signIn.approveOpLogin, createApproveOpLogin(deps));
}
