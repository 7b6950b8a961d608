// SSH keys of the account that is signed in, for SFTP (docs/reference/sftp.md#keys).

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { sshKeys } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { callerDir } from "../config.ts";
import { CommandError, type Outcome, table } from "../output.ts";

type At = { data: string };

/** `file`: a public key; asks for a fresh proof where one is needed, as other changes of an account do. */
export async function addKey(file: string, { data, name }: At & { name?: string }): Promise<Outcome> {
  const line = readPublicKey(resolve(callerDir, file));
  const external = connectExternal(data);
  const { key } = await external.call(sshKeys.add, { public_key: line, ...(name !== undefined && { name }) });
  const { endpoint } = await external.call(sshKeys.readEndpoint, {});
  return {
    json: { key, endpoint },
    text: `Added ${key.name}, ${key.fingerprint}.\n${howToConnect(endpoint)}`,
  };
}

export async function listKeys({ data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  const { keys } = await external.call(sshKeys.list, {});
  const { endpoint } = await external.call(sshKeys.readEndpoint, {});
  const rows = keys.map((key) => [
    ...[key.id, key.name, key.type, key.fingerprint],
    ...[key.last_used_at ?? "never", key.last_used_ip ?? ""],
  ]);
  const shown =
    rows.length === 0
      ? "You have no SSH keys."
      : table([["ID", "NAME", "TYPE", "FINGERPRINT", "LAST USED", "FROM"], ...rows]);
  return { json: { keys, endpoint }, text: `${shown}\n${howToConnect(endpoint)}` };
}

/** By id, or by a name that only one key has. */
export async function removeKey(wanted: string, { data }: At): Promise<Outcome> {
  const external = connectExternal(data);
  const { keys } = await external.call(sshKeys.list, {});
  const found = keys.filter(({ id, name, fingerprint }) => [id, name, fingerprint].includes(wanted));
  const [key] = found;
  if (!key) throw new CommandError(`there is no SSH key ${wanted}; list them with: \`svc keys list\``);
  if (found.length > 1)
    throw new CommandError(`${found.length} keys are named ${wanted}; give the id of one`);
  await external.call(sshKeys.remove, { id: key.id });
  return { json: { id: key.id, removed: true }, text: `Removed ${key.name}; its connections are ended.` };
}

function howToConnect(endpoint: sshKeys.SftpEndpoint | null): string {
  if (!endpoint) return "This installation has no SFTP at the moment; ask its operator.";
  const { host, port, fingerprint } = endpoint;
  return `Connect with: sftp -P ${port} SERVER@${host} (host key ${fingerprint})`;
}

function readPublicKey(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError(`${path} can't be read: ${(error as Error).message}`);
  }
  if (text.includes("PRIVATE KEY"))
    throw new CommandError(
      `${path} is a private key, which never leaves your machine; give the file that ends in .pub`,
    );
  const [line = "", ...others] = text.split("\n").filter((one) => one.trim() !== "");
  if (others.length > 0)
    throw new CommandError(`${path} has more than one line; give a file with one public key`);
  return line.trim();
}
