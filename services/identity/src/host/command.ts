import { Sha256Hex } from "@svc/proto";
import { z } from "zod";
import { adminOrigin } from "../config.ts";
import { exportAudit } from "./audit-export.ts";
import type { Host } from "./context.ts";
import { barPlayers, unbarPlayers } from "./players.ts";
import { addOperator, liftLock, mintSetupLink, recoverOwner, setLocalAuth, setPassword } from "./recovery.ts";
import { signInAtHost } from "./sign-in.ts";
import { describeUser, listUsers } from "./users.ts";

const who = z.string().trim().min(1).max(254);

/** All commands. `who` is a user name, an id or a verified address. */
export const Command = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("setup-link") }),
  z.strictObject({ do: z.literal("recover-owner") }),
  z.strictObject({ do: z.literal("sign-in"), who: who.optional(), replaces: Sha256Hex.optional() }),
  z.strictObject({
    do: z.literal("add-operator"),
    username: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{2,63}$/, "a user name has 3 to 64 letters, digits and . _ -"),
  }),
  z.strictObject({ do: z.literal("set-local-auth"), enabled: z.boolean() }),
  z.strictObject({ do: z.literal("set-password"), who, password: z.string().min(12).max(1024) }),
  z.strictObject({ do: z.literal("lift-lock"), who }),
  z.strictObject({
    do: z.literal("bar-player"),
    who,
    username: z.string().max(64).optional(),
    dry_run: z.boolean().optional(),
  }),
  z.strictObject({ do: z.literal("unbar-player"), who }),
  z.strictObject({ do: z.literal("list-users"), query: z.string().max(254).optional() }),
  z.strictObject({ do: z.literal("describe-user"), who }),
  z.strictObject({
    do: z.literal("export-audit"),
    since: z.iso.datetime({ offset: true }).optional(),
    until: z.iso.datetime({ offset: true }).optional(),
    out: z.string().min(1),
  }),
]);
export type Command = z.output<typeof Command>;

/** Runs one command. Throws an Error with a sentence for the user. */
export async function runCommand(host: Host, command: Command): Promise<unknown> {
  switch (command.do) {
    case "setup-link":
      return mintSetupLink(host, adminOrigin(host.settings));
    case "recover-owner":
      return recoverOwner(host, adminOrigin(host.settings));
    case "sign-in":
      return signInAtHost(host, command);
    case "add-operator":
      return addOperator(host, { username: command.username, origin: adminOrigin(host.settings) });
    case "set-local-auth":
      return setLocalAuth(host, command.enabled);
    case "set-password":
      return setPassword(host, command);
    case "lift-lock":
      return liftLock(host, command.who);
    case "bar-player":
      return barPlayers(host, command);
    case "unbar-player":
      return unbarPlayers(host, command.who);
    case "list-users":
      return listUsers(host, command.query);
    case "describe-user":
      return describeUser(host, command.who);
    case "export-audit":
      return exportAudit(host, command);
  }
}
