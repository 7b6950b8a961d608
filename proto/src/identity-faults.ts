// Faults of accounts: what they sign in with, and the keys and tokens that they hold.

import { rows } from "./fault-rows.ts";

export const accountFaults = rows({
  bad_ssh_key: [
    400,
    "This is not a usable public SSH key; paste the line from a file such as ~/.ssh/id_ed25519.pub.",
  ],
  cli_login_invalid: [
    400,
    "The command-line login is unknown, used or expired, or its approval is no longer valid; start it again.",
  ],
  oidc_login_invalid: [
    400,
    "The sign-in is unknown, used or expired, or was started in another browser, on another account or on another host; start it again.",
  ],
  oidc_answer_invalid: [
    400,
    "The response of the sign-in provider was not accepted; start the sign-in again.",
  ],
  passkey_login_failed: [400, "The passkey sign-in could not start; try again."],
  passkey_login_invalid: [400, "The passkey was not accepted; try again."],
  passkey_register_failed: [400, "The passkey could not be registered; start again."],
  token_invalid: [
    401,
    "This API token is unknown; check that it was copied completely, or create a new one.",
    { code: "unauthorized" },
  ],
  token_expired: [401, "This API token has expired; make a new one.", { code: "unauthorized" }],
  token_revoked: [401, "This API token was revoked; make a new one.", { code: "unauthorized" }],
  token_not_accepted: [403, "API tokens are not accepted here; sign in with a browser for this."],
  token_scope: [403, "This API token lacks the right for this; create one that has it."],
  ssh_key_refused: [403, "The SSH key, its signature or its account was not accepted."],
  cli_login_refused: [403, "The command-line login was refused in the browser."],
  oidc_not_linked: [
    403,
    "No account can be used with this identity; sign in another way and link it to your account.",
  ],
  token_not_found: [404, "The API token does not exist; it may have been revoked already."],
  ssh_key_not_found: [404, "The SSH key does not exist; it may have been removed already."],
  cli_login_not_found: [
    404,
    "No command-line login with this code is waiting on this host; it may have expired.",
  ],
  oidc_already_linked: [409, "This identity is already linked to another account."],
  oidc_too_many: [409, "The account has reached the limit of linked identities; remove one first."],
  ssh_key_taken: [409, "This SSH key is already registered; generate another one with ssh-keygen."],
  ssh_key_limit: [409, "The account has reached the limit of SSH keys; remove one first."],
  token_limit: [409, "The account has reached the limit of API tokens; revoke one first."],
  passkey_required: [409, "The account has a passkey; use it."],
  passkey_taken: [409, "This passkey is already registered."],
  otp_locked: [429, "Too many wrong attempts with this code; ask for a new one.", { retryAfterSeconds: 60 }],
  otp_account_locked: [
    429,
    "Too many wrong codes; sign in with a passkey or wait.",
    { retryAfterSeconds: 3600 },
  ],
  otp_resend_cooldown: [
    429,
    "A code was sent a moment ago; wait before asking again.",
    { retryAfterSeconds: 60 },
  ],
  token_rate_limited: [
    429,
    "This API token is used too often; wait and try again.",
    { retryAfterSeconds: 1 },
  ],
  oidc_unavailable: [503, "The sign-in provider does not respond; try again later or sign in another way."],
  passkey_unavailable: [503, "Passkeys are not available on this installation."],
});
