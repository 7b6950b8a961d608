// Deliveries over TLS, to real receivers with certificates of each kind (docs/reference/webhooks.md#tls). The sender is a process
// of its own that trusts one authority of ours, as an operator names it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { promisify } from "node:util";
import {
  type CertificateOptions,
  type Identity,
  makeCertificate,
} from "../../../../libs/local-cluster/src/apiserver/tls/x509.ts";
import type { TlsCase } from "../testing/webhook-tls-main.ts";

const day = 86_400_000;
const now = Date.now();
const valid = { from: new Date(now - day), until: new Date(now + day) };
const makeAuthority = (subject: string) => ({
  subject,
  ...makeCertificate({ subject, isAuthority: true, ...valid }),
});
const ours = makeAuthority("Authority of the test");
const another = makeAuthority("Another authority");
const issue = (more: Partial<CertificateOptions> = {}, issuer: typeof ours | undefined = ours): Identity =>
  makeCertificate(
    { subject: "receiver", dnsNames: ["localhost"], isAuthority: false, ...valid, ...more },
    issuer,
  );
const selfSigned = () =>
  makeCertificate({ subject: "receiver", dnsNames: ["localhost"], isAuthority: false, ...valid });

/** Names that senders asked for by SNI. */
const askedFor: (string | false | null)[] = [];
const secure = (identity: Identity, more: ServerOptions = {}) =>
  createServer({ ...identity, ...more }, (request, response) => {
    askedFor.push((request.socket as TLSSocket).servername);
    response.writeHead(204).end();
  });
// OpenSSL does not offer them at its usual level.
const old = (version: "TLSv1" | "TLSv1.1") =>
  secure(issue(), { minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" });

const name = "hooks.example.net";
const pinned = "127.0.0.1";
type Row = [fact: string, receiver: Server, said: RegExp, host?: string];
const rows: Row[] = [
  ["an authority of ours vouches for it", secure(issue()), /^204$/],
  ["it speaks TLS 1.2 alone", secure(issue(), { maxVersion: "TLSv1.2" }), /^204$/],
  ["it signed its certificate itself", secure(selfSigned()), /^its certificate is signed by itself$/],
  ["another authority vouches for it", secure(issue({}, another)), /^no authority that svc trusts vouches/],
  [
    "its certificate has expired",
    secure(issue({ from: new Date(now - 3 * day), until: new Date(now - day) })),
    /^its certificate has expired$/,
  ],
  [
    "its certificate begins tomorrow",
    secure(issue({ from: new Date(now + day), until: new Date(now + 3 * day) })),
    /^its certificate is not valid yet$/,
  ],
  [
    "its certificate has another name",
    secure(issue({ dnsNames: [name] })),
    /^its certificate is for another name$/,
  ],
  ["it speaks TLS 1.0", old("TLSv1"), /^it speaks no TLS of version 1\.2 or later$/],
  ["it speaks TLS 1.1", old("TLSv1.1"), /^it speaks no TLS of version 1\.2 or later$/],
  ["it speaks http", createHttpServer(), /^it does not speak TLS on that port$/],
  [
    "it greets like a mail server",
    createTcpServer((socket) => {
      socket.on("error", () => undefined).write("220 mail.example.net ESMTP\r\n");
    }),
    /^it does not speak TLS on that port$/,
  ],
  [
    "it hangs up",
    createTcpServer((socket) => socket.once("data", () => socket.end())),
    /^it closed the connection before TLS was established$/,
  ],
  [
    "it wants a certificate of the sender",
    secure(issue(), { requestCert: true, rejectUnauthorized: true }),
    /^it asks for a certificate of the sender/,
  ],
  ["the name is verified where the address is pinned", secure(issue({ dnsNames: [name] })), /^204$/, name],
  [
    "a certificate of the address is none of the name",
    secure(issue({ dnsNames: [], addresses: [pinned] })),
    /^its certificate is for another name$/,
    name,
  ],
];

let folder: string;
let said: string[];
let saidWithout: string[];
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "svc-webhook-tls-"));
  const authorities = join(folder, "authorities.pem");
  writeFileSync(authorities, ours.cert);
  const cases: TlsCase[] = [];
  for (const [, receiver, , host] of rows) {
    // Its peers end connections at will.
    receiver.on("tlsClientError", () => undefined);
    await once(receiver.listen(0, pinned), "listening");
    const { port } = receiver.address() as AddressInfo;
    cases.push({ url: `https://${host ?? "localhost"}:${port}/`, ...(host !== undefined && { pinned }) });
  }
  said = await send(cases, { NODE_EXTRA_CA_CERTS: authorities, NODE_TLS_REJECT_UNAUTHORIZED: "0" });
  saidWithout = await send(cases.slice(0, 1), {});
});
after(() => {
  for (const [, receiver] of rows) {
    receiver.close();
    if ("closeAllConnections" in receiver)
      (receiver as ReturnType<typeof createServer>).closeAllConnections();
  }
  rmSync(folder, { recursive: true });
});

async function send(cases: readonly TlsCase[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const program = join(import.meta.dirname, "../testing/webhook-tls-main.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(cases)], {
    env: { ...process.env, ...env },
  });
  return JSON.parse(stdout) as string[];
}

for (const [at, [fact, , expected]] of rows.entries())
  test(fact, () => assert.match(said[at] ?? "", expected));

test("nobody vouches for that receiver where the operator names no authority", () =>
  assert.match(saidWithout[0] ?? "", /^no authority that svc trusts vouches/));

test("receivers are asked for by their name", () =>
  assert.deepEqual(askedFor.toSorted(), [name, "localhost", "localhost"]));
