// A Postfix of its own: its tree lies in a temporary folder, nothing of the machine's own is touched. Needs root, as
// Postfix does, and openssl for a certificate.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "@svc/local-stack";

export type Postfix = {
  port: number;
  /** Takes TLS from the first byte. */
  tlsPort: number;
  /** PEM of the authority that vouches for `localhost`. */
  authority: string;
  start: () => void;
  stop: () => void;
  log: () => string;
  /** Stops it and removes all of it. */
  remove: () => void;
};

/** Starts a relay that hands everything to a next hop on this machine. `extra` are lines of its main.cf. */
export async function startPostfix(about: {
  binary: string;
  nextHop: number;
  extra?: readonly string[];
}): Promise<Postfix> {
  const dir = mkdtempSync(join(tmpdir(), "svc-postfix-"));
  // The daemons walk into it as their own user.
  chmodSync(dir, 0o755);
  const at = (name: string) => join(dir, name);
  const [port, tlsPort] = [await findFreePort(), await findFreePort()];
  for (const name of ["etc", "queue", "data"]) mkdirSync(at(name));
  const [uid, gid] = [idOf("-u"), idOf("-g")];
  chownSync(at("data"), uid, gid);
  makeCertificate(at("etc"));
  writeFileSync(at("etc/main.cf"), mainFile(dir, about).join("\n"));
  writeFileSync(at("etc/master.cf"), masterFile(port, tlsPort).join("\n"));
  const run = (command: string) =>
    execFileSync(about.binary, ["-c", at("etc"), command], { stdio: "pipe", timeout: 60_000 });
  run("start");
  return {
    port,
    tlsPort,
    authority: readFileSync(at("etc/cert.pem"), "utf8"),
    start: () => void run("start"),
    stop: () => void run("stop"),
    log: () => (existsSync(at("data/mail.log")) ? readFileSync(at("data/mail.log"), "utf8") : ""),
    remove: () => {
      try {
        run("stop");
      } catch {
        // It was stopped by a test.
      }
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function idOf(flag: "-u" | "-g"): number {
  return Number(execFileSync("id", [flag, "postfix"], { encoding: "utf8" }));
}

function makeCertificate(dir: string): void {
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
    ],
    { stdio: "pipe", timeout: 30_000 },
  );
  writeFileSync(join(dir, "chain.pem"), readFileSync(key, "utf8") + readFileSync(cert, "utf8"), {
    mode: 0o600,
  });
}

function mainFile(dir: string, about: { nextHop: number; extra?: readonly string[] }): string[] {
  return [
    "compatibility_level = 3.6",
    `queue_directory = ${dir}/queue`,
    `data_directory = ${dir}/data`,
    `maillog_file = ${dir}/data/mail.log`,
    `maillog_file_prefixes = ${dir}`,
    "myhostname = relay.example",
    "mydestination =",
    "mynetworks = 127.0.0.0/8",
    "inet_interfaces = 127.0.0.1",
    "inet_protocols = ipv4",
    "smtpd_relay_restrictions = permit_mynetworks, reject",
    "smtpd_tls_security_level = may",
    `smtpd_tls_chain_files = ${dir}/etc/chain.pem`,
    `relayhost = [127.0.0.1]:${about.nextHop}`,
    // The sink's certificate is nobody's; what counts is that the hop is encrypted.
    "smtp_tls_security_level = encrypt",
    "alias_maps =",
    "local_recipient_maps =",
    ...(about.extra ?? []),
    "",
  ];
}

function masterFile(port: number, tlsPort: number): string[] {
  const internal = [
    "cleanup unix n - n - 0 cleanup",
    "qmgr unix n - n 300 1 qmgr",
    "tlsmgr unix - - n 1000? 1 tlsmgr",
    "rewrite unix - - n - - trivial-rewrite",
    "bounce unix - - n - 0 bounce",
    "defer unix - - n - 0 bounce",
    "trace unix - - n - 0 bounce",
    "proxymap unix - - n - - proxymap",
    "smtp unix - - n - - smtp",
    "relay unix - - n - - smtp",
    "error unix - - n - - error",
    "retry unix - - n - - error",
    "discard unix - - n - - discard",
    "anvil unix - - n - 1 anvil",
    "scache unix - - n - 1 scache",
    "postlog unix-dgram n - n - 1 postlogd",
  ];
  return [
    `127.0.0.1:${port} inet n - n - - smtpd`,
    `127.0.0.1:${tlsPort} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes`,
    ...internal,
    "",
  ];
}
