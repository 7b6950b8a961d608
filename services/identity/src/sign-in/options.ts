import type { Handler } from "@svc/mesh";
import type { signIn } from "@svc/proto";
import { findByVerifiedEmail, hasPasskey } from "../account/store.ts";
import type { Deps } from "../deps.ts";
import { isPasswordDoorOpen } from "./store.ts";

type OptionsDeps = Pick<Deps, "db" | "hasRelay"> & { takesPasskeys: boolean };

/** identity.sign-in.options: the only public endpoint that may reveal what an address has. */
export function createOptions({ db, hasRelay, takesPasskeys }: OptionsDeps): Handler<typeof signIn.options> {
  return async (_context, { email }) => {
    // Of the installation, not of the account.
    const password = (await isPasswordDoorOpen(db)) && ({ password: true } as const);
    const account = await findByVerifiedEmail(db, email);
    if (!account) return { methods: [], ...password };
    const isBound = takesPasskeys && (await hasPasskey(db, account.id));
    return {
      methods: [...(isBound ? ["passkey" as const] : []), ...(hasRelay ? ["email_otp" as const] : [])],
      ...password,
    };
  };
}
