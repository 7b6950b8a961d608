// Sends one line to the console of a server that is ready.

import { connectRcon, type RconError } from "@svc/rcon";
import { rconPort, type Server } from "../cluster/resource.ts";
import type { RconAccess } from "../reconcile/rcon-access.ts";

export type ServerLine = {
  /** The reply; throws a sentence when the console was not reached. */
  run: (server: Server, command: string) => Promise<string>;
};

type Access = Pick<RconAccess, "readSecret" | "forget">;

export function createServerLine(access: Access, about: { timeoutMs: number }): ServerLine {
  return {
    run: async (server, command) => {
      const host = hostOf(server);
      const secret = host === undefined ? undefined : await access.readSecret(server, true);
      if (host === undefined || secret?.kind !== "present") {
        throw new Error("The server's console has no address or password yet.");
      }
      const { timeoutMs } = about;
      try {
        await using client = await connectRcon({
          host,
          port: rconPort,
          password: secret.password,
          timeoutMs,
        });
        return await client.command(command, { timeoutMs });
      } catch (error) {
        // The Secret may have been made anew since it was read.
        if ((error as RconError).code === "auth") access.forget(server.metadata.name);
        throw error;
      }
    },
  };
}

// The address that players are sent to is that of the Service, which has the console's port too.
function hostOf({ status }: Server): string | undefined {
  const { mode, address } = status?.endpoint ?? {};
  if (mode !== "direct" || !address) return undefined;
  return address.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1") || undefined;
}
