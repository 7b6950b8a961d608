import { signIn } from "@svc/proto";
import { relyingParty } from "../passkey/relying-party.ts";
import type { Serving } from "../service-deps.ts";
import { createBackground } from "./background.ts";
import type { DoorDeps } from "./deps.ts";
import { createApproveOpLogin, createListPending, createReadOpLogin } from "./op-login/approve.ts";
import { createFinishOpLogin, createReadStatus } from "./op-login/finish.ts";
import { createStartOpLogin } from "./op-login/start.ts";
import { createOptions } from "./options.ts";
import { createPasswordLogin } from "./password.ts";
import { createStartEmail } from "./start-email.ts";
import { createVerifyEmail } from "./verify-email.ts";

/** Returns what ends once no code is on its way any more. */
export function serveSignIn({ mesh, deps, settings, mailer, notices, log }: Serving): {
  settle: () => Promise<void>;
} {
  const background = createBackground(log);
  const doors: DoorDeps = { ...deps, mailer, notices, background };
  mesh.serve(signIn.options, createOptions({ ...deps, takesPasskeys: relyingParty(settings) !== undefined }));
  mesh.serve(signIn.startEmail, createStartEmail(doors));
  mesh.serve(signIn.verifyEmail, createVerifyEmail(doors));
  mesh.serve(signIn.passwordLogin, createPasswordLogin(deps));

  mesh.serve(signIn.startOpLogin, createStartOpLogin(doors));
  mesh.serve(signIn.readOpLoginStatus, createReadStatus(doors));
  mesh.serve(signIn.finishOpLogin, createFinishOpLogin(doors));
  mesh.serve(signIn.listPendingOpLogins, createListPending(deps));
  mesh.serve(signIn.readOpLogin, createReadOpLogin(deps));
  mesh.serve(signIn.approveOpLogin, createApproveOpLogin(deps));
  return background;
}
