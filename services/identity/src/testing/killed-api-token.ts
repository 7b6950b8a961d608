// A process that creates an API token and is killed at a named point: `node killed-api-token.ts <url> <kill point> <principal>`.

import type { apiTokens } from "@svc/proto";
import { createCreateToken } from "../api-token/own.ts";
import { die, killedContext, killedDeps } from "./killed-process.ts";

const [url = "", killPoint, principal = "{}"] = process.argv.slice(2);
const context = killedContext<typeof apiTokens.create>("killed-api-token", principal);
const input = { name: "killed", rights: ["see" as const], expires_in_days: 1 };
await createCreateToken(killedDeps(url, killPoint))(context, input);
die();
