// One RCON connection for each server in use, shared by all callers of this replica: commands wait in a short queue, equal
// concurrent queries are sent once, and an idle connection is closed.

import { type Kube, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { connectRcon, type RconClient, RconError } from "@svc/rcon";
import { hasRcon, namespaceOf, rconPort, rconSecretRef, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";

export type ServerRcon = {
  /** Runs a command; resolves with its raw reply. Throws the fault `unavailable` or `overloaded`. */
  run: (server: Server, command: string) => Promise<string>;
  /** As `run`, for a command that changes nothing: equal concurrent queries share one reply. */
  query: (server: Server, command: string) => Promise<string>;
  close: () => Promise<void>;
};

type Connection = {
  host: string;
  client: Promise<RconClient> | undefined;
  waiting: number;
  queries: Map<string, Promise<string>>;
  idle: NodeJS.Timeout | undefined;
};

export function createServerRcon({
  kube,
  settings,
}: {
  kube: Kube;
  settings: LifecycleSettings;
}): ServerRcon {
  const connections = new Map<string, Connection>();
  const passwords = createPasswords(kube, settings.password_ttl);

  const connectionOf = (server: Server): Connection => {
    const host = hostOf(server);
    const known = connections.get(server.metadata.name);
    if (known?.host === host) return known;
    closeConnection(known);
    const connection = { host, client: undefined, waiting: 0, queries: new Map(), idle: undefined };
    connections.set(server.metadata.name, connection);
    return connection;
  };
  const connect = async (server: Server, connection: Connection): Promise<RconClient> => {
    const options = { host: connection.host, port: rconPort, timeoutMs: settings.rcon_timeout };
    const maxReplyBytes = settings.rcon_reply_bytes;
    const attempt = async () =>
      connectRcon({ ...options, maxReplyBytes, password: await passwords.read(server) });
    return attempt().catch((error: unknown) => {
      // The Secret may have been replaced since it was read.
      if (!isRcon(error) || error.code !== "auth" || !passwords.forget(server)) throw error;
      return attempt();
    });
  };
  // Chained, so that concurrent callers never open two connections.
  const clientOf = (server: Server, connection: Connection): Promise<RconClient> => {
    const fresh = () => connect(server, connection);
    connection.client = connection.client?.then((open) => (open.isOpen() ? open : fresh()), fresh) ?? fresh();
    return connection.client;
  };
  const run: ServerRcon["run"] = async (server, command) => {
    const connection = connectionOf(server);
    if (connection.waiting >= settings.rcon_waiting) throw new Fault("overloaded", { message: tooMany });
    connection.waiting += 1;
    clearTimeout(connection.idle);
    const endAt = Date.now() + settings.rcon_timeout;
    try {
      const client = await clientOf(server, connection);
      return await client.command(command, { timeoutMs: Math.max(1, endAt - Date.now()) });
    } catch (error) {
      throw isRcon(error) ? asFault(error) : error;
    } finally {
      connection.waiting -= 1;
      if (connection.waiting === 0) {
        connection.idle = setTimeout(() => {
          closeConnection(connection);
          if (connections.get(server.metadata.name) === connection) connections.delete(server.metadata.name);
        }, settings.rcon_idle).unref();
      }
    }
  };
  return {
    run,
    query: (server, command) => {
      const { queries } = connectionOf(server);
      const known = queries.get(command);
      if (known !== undefined) return known;
      const answer = run(server, command).finally(() => queries.delete(command));
      queries.set(command, answer);
      return answer;
    },
    close: async () => {
      const all = [...connections.values()];
      connections.clear();
      for (const connection of all) clearTimeout(connection.idle);
      await Promise.all(
        all.map((connection) =>
          connection.client?.then(
            (client) => client.close(),
            () => {},
          ),
        ),
      );
    },
  };
}

const tooMany = "Too many commands are waiting for this server; try again in a moment.";

function hostOf(server: Server): string {
  if (!hasRcon(server))
    throw new Fault("unavailable", {
      message: "RCON is disabled for this server, so no command can be run.",
    });
  const { mode, address = "" } = server.status?.endpoint ?? {};
  const host = address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  if (mode !== "direct" || host === "")
    throw new Fault("unavailable", { message: "The server has no address yet; try again in a moment." });
  return host;
}

function closeConnection(connection: Connection | undefined): void {
  clearTimeout(connection?.idle);
  connection?.client?.then((client) => client.close()).catch(() => {});
}

function isRcon(error: unknown): error is RconError {
  return error instanceof RconError;
}

function asFault(cause: RconError): Fault {
  const messages: Partial<Record<RconError["code"], string>> = {
    connect: "The server cannot be reached over RCON right now; try again in a moment.",
    auth: "The server rejects its RCON password; restart it to give it the current one.",
    timeout: "The server did not reply in time; the command may have run.",
    closed: "The connection to the server was lost; the command may have run.",
    too_long: "The reply is too long; the command has run.",
  };
  return new Fault("unavailable", { cause, ...(messages[cause.code] && { message: messages[cause.code] }) });
}

function createPasswords(kube: Kube, ttlMs: number) {
  const known = new Map<string, { password: string; readAt: number }>();
  return {
    read: async (server: Server): Promise<string> => {
      const found = known.get(server.metadata.name);
      if (found && Date.now() - found.readAt < ttlMs) return found.password;
      const { name, key } = rconSecretRef(server);
      const secret = await kube.find(resources.secrets, { name, namespace: namespaceOf(server) });
      const password = Buffer.from(secret?.data?.[key] ?? "", "base64").toString("utf8");
      if (password === "")
        throw new Fault("unavailable", { message: "The server's RCON password is missing; try again soon." });
      known.set(server.metadata.name, { password, readAt: Date.now() });
      return password;
    },
    /** False when nothing was cached, so that reading again would return the same. */
    forget: (server: Server): boolean => known.delete(server.metadata.name),
  };
}
