// Sign-in by data folder: whoever can read its stack.json has the database's credentials. None of this is reachable over
// the network.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { askIdentity } from "../host/identity.ts";
import { CommandError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { findSession, saveSession } from "./session-file.ts";

type HostLogin = { user_id: string; username: string; role: string; value: string };

/** Creates a session of the owner, or of the operator `who`, replacing the saved one; audited. */
export async function loginAtHost(data: string, who?: string): Promise<Omit<HostLogin, "value">> {
  readStackFile(data);
  refuseShared(join(data, "stack.json"));
  const former = findSession(data);
  const command = {
    do: "sign-in",
    ...(who !== undefined && { who }),
    ...(former && { replaces: createHash("sha256").update(former.value).digest("hex") }),
  };
  const { value, ...account } = await askIdentity<HostLogin>(data, command);
  saveSession(data, { value, panelHost: "admin" });
  return account;
}

/** A file that others can read does not prove who asks. */
function refuseShared(file: string): void {
  const { mode, uid } = statSync(file);
  const self = process.getuid?.() ?? uid;
  if (uid !== self && self !== 0) throw new CommandError(`${file} belongs to another user`);
  if ((mode & 0o077) === 0) return;
  throw new CommandError(
    `${file} is readable by others and cannot be used to sign in; run chmod 600 ${file}`,
  );
}
