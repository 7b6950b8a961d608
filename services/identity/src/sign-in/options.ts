import type { Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { findByVerifiedEmail } from "../account/store.ts";
import type { Deps } from "../deps.ts";

/** identity.sign-in.options: the one door that may tell what an address has. */
export function createOptions({ db, hasRelay }: Deps): Handler<typeof signIn.options> {
  return async (_context, { email }) => {
    const account = await findByVerifiedEmail(db, email);
    return { methods: account && hasRelay ? ["email_otp"] : [] };
  };
}
