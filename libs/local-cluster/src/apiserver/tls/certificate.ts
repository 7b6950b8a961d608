import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { type Identity, makeCertificate } from "./x509.ts";

/** A key and its self-signed certificate, both PEM. */
export type ServerIdentity = Identity;

const dayMs = 86_400_000;
const validDays = 3650;

/** Reads the identity of a server from `keyFile` and `certFile`, or creates one (keys with mode 0600). */
export function ensureIdentity(keyFile: string, certFile: string): ServerIdentity {
  const known = readIdentity(keyFile, certFile);
  if (known) return known;
  const now = Date.now();
  const made = makeCertificate({
    subject: "svc local cluster",
    dnsNames: ["localhost"],
    addresses: ["127.0.0.1", "::1"],
    from: new Date(now - dayMs),
    until: new Date(now + validDays * dayMs),
    // Clients trust this one certificate as their authority.
    isAuthority: true,
  });
  writeFileSync(keyFile, made.key, { mode: 0o600 });
  writeFileSync(certFile, made.cert);
  return made;
}

function readIdentity(keyFile: string, certFile: string): ServerIdentity | undefined {
  try {
    const found = { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8") };
    const ends = Date.parse(new X509Certificate(found.cert).validTo);
    return ends - Date.now() > 30 * dayMs ? found : undefined;
  } catch {
    return undefined;
  }
}
