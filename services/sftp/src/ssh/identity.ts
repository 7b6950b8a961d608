// The internal face as the caller `sftp` (docs/reference/sftp.md#sign-in).

import { createClient } from "@svc/client";
import { type OutputOf, sshKeys } from "@svc/proto";
import type { TokenSource } from "@svc/service/token";

export type Opened = OutputOf<typeof sshKeys.openSession>;
type Proof = { signed: Buffer; signature: Buffer; address: string; software: string };

export type Identity = ReturnType<typeof createIdentity>;

const timeoutMs = 10_000;

export function createIdentity({ internalUrl, token }: { internalUrl: string; token: TokenSource }) {
  const client = createClient({
    baseUrl: internalUrl,
    headers: {
      // Read for each call.
      get authorization() {
        return `Bearer ${token()}`;
      },
    },
  });
  const soon = () => ({ signal: AbortSignal.timeout(timeoutMs) });
  return {
    open: ({ signed, signature, address, software }: Proof): Promise<Opened> =>
      client.call(
        sshKeys.openSession,
        {
          signed: signed.toString("base64"),
          signature: signature.toString("base64"),
          client_ip: address,
          client_software: software.replace(/[^\x20-\x7e]/g, "?").slice(0, 255),
        },
        soon(),
      ),
    close: (id: string) => client.call(sshKeys.closeSession, { id }, soon()),
    announce: (endpoint: sshKeys.SftpEndpoint) => client.call(sshKeys.announceEndpoint, endpoint, soon()),
  };
}
