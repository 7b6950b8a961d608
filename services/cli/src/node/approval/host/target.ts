// Where a machine is reached over SSH, as options name it.

import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { callerDir } from "../../../config.ts";
import { UsageError } from "../../../output.ts";

type SshAddress = { user?: string; host: string; port?: number };
export type SshTarget = SshAddress & {
  /** `user@host`, for people. */
  name: string;
  /** An absolute path; ssh's own files without it. */
  knownHosts?: string;
};

const parts = {
  user: /^([A-Za-z0-9_][A-Za-z0-9._-]{0,31})@/,
  port: /:(\d{1,5})$/,
  ipv6: /^\[([0-9A-Fa-f:.]{2,45})\]$/,
  name: /^([A-Za-z0-9][A-Za-z0-9._-]{0,252})$/,
};

/** `[user@]host[:port]`, IPv6 in brackets. Nothing for what ssh could read as something else, such as an option. Pure. */
export function readAddress(text: string): SshAddress | undefined {
  const [prefix = "", user] = parts.user.exec(text) ?? [];
  const [suffix = "", digits] = parts.port.exec(text) ?? [];
  const middle = text.slice(prefix.length, text.length - suffix.length);
  const host = (parts.ipv6.exec(middle) ?? parts.name.exec(middle))?.[1];
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port !== undefined && (port < 1 || port > 65_535))) return undefined;
  return { host, ...(user && { user }), ...(port && { port }) };
}

/** Nothing without `--ssh`. Throws a `CommandError` on what is no address or no file. */
export function findSshTarget(options: { ssh?: string; sshKnownHosts?: string }): SshTarget | undefined {
  const { ssh, sshKnownHosts } = options;
  if (ssh === undefined && sshKnownHosts !== undefined)
    throw new UsageError("--ssh-known-hosts needs --ssh [USER@]HOST[:PORT]");
  if (ssh === undefined) return undefined;
  const address = readAddress(ssh);
  if (!address)
    throw new UsageError("--ssh: write [USER@]HOST[:PORT], such as root@10.0.0.2; IPv6 in brackets");
  const name = address.user === undefined ? address.host : `${address.user}@${address.host}`;
  if (sshKnownHosts === undefined) return { ...address, name };
  const knownHosts = resolve(callerDir, sshKnownHosts);
  // ssh reads several files from one setting, and replaces some characters in it.
  if (/["'\\%$~\s]/.test(knownHosts))
    throw new UsageError(`--ssh-known-hosts ${sshKnownHosts}: ssh cannot read such a path; copy the file`);
  accessSync(knownHosts, constants.R_OK);
  return { ...address, name, knownHosts };
}
