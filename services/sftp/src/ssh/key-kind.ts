// Which keys and signatures are asked for at all (docs/reference/sftp.md#keys). Pure.

import { sshKeys } from "@svc/proto";

type Offer = { key: { algo: string }; hashAlgo?: string | undefined };

/** A key of RSA signs with SHA-2, which `hashAlgo` says; without it the client means SHA-1. */
export function isAcceptable({ key: { algo }, hashAlgo }: Offer): boolean {
  if (!(sshKeys.sshKeyTypes as readonly string[]).includes(algo)) return false;
  return algo !== "ssh-rsa" || hashAlgo !== undefined;
}
