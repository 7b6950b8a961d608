// A process that removes an SSH key and is killed at a named point: `node killed-ssh-key.ts <url> <kill point> <principal> <id>`.

import type { sshKeys } from "@svc/proto";
import { createRemoveKey } from "../ssh-key/own.ts";
import { die, killedContext, killedDeps } from "./killed-process.ts";

const [url = "", killPoint, principal = "{}", id = ""] = process.argv.slice(2);
const context = killedContext<typeof sshKeys.remove>("killed-ssh-key", principal);
await createRemoveKey(killedDeps(url, killPoint))(context, { id });
die();
