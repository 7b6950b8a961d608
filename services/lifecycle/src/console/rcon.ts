// One RCON connection for each server that somebody works on, shared by all callers of this replica: commands wait for
// their turn in a short queue, equal questions at once are asked once, and an idle connection is closed.

import { type Kube, resources } from "@svc/kube";
import { Fault } from "@svc/proto";
import { connectRcon, type RconClient, RconError } from "@svc/rcon";
import { hasRcon, namespaceOf, rconPort, rconSecretRef, type Server } from "../cluster/resource.ts";
import type { LifecycleSettings } from "../config.ts";

export type ServerRcon = {
  /** Runs a command and answers its raw reply. Throws the fault `unavailable` or `overloaded`. */
  run: (server: Server, command: string) => Promise<string>;
  /** As `run` for what changes nothing: callers that ask the same at once share one answer. */
  ask: (server: Server, question: string) => Promise<string>;
  close: () => Promise<void>;
};

type Line = {
  host: string;
  client: Promise<RconClient> | undefined;
  waiting: number;
  asked: Map<string, Promise<string>>;
  idle: NodeJS.Timeout | undefined;
};

export function createServerRcon({
  kube,
  settings,
}: {
  kube: Kube;
  settings: LifecycleSettings;
}): ServerRcon {
  const lines = new Map<string, Line>();
  const passwords = createPasswords(kube, settings.password_ttl);

  const lineOf = (server: Server): Line => {
    const host = hostOf(server);
    const known = lines.get(server.metadata.name);
    if (known?.host === host) return known;
    closeConnection(known);
    const line = { host, client: undefined, waiting: 0, asked: new Map(), idle: undefined };
    lines.set(server.metadata.name, line);
    return line;
  };
  const connect = async (server: Server, line: Line): Promise<RconClient> => {
    const options = { host: line.host, port: rconPort, timeoutMs: settings.rcon_timeout };
    const maxReplyBytes = settings.rcon_reply_bytes;
    const attempt = async () =>
      connectRcon({ ...options, maxReplyBytes, password: await passwords.read(server) });
    return attempt().catch((error: unknown) => {
      // The Secret may have been made anew since it was read.
      if (!isRcon(error) || error.code !== "auth" || !passwords.forget(server)) throw error;
      return attempt();
    });
  };
  // Chained, so that callers at once never open two.
  const clientOf = (server: Server, line: Line): Promise<RconClient> => {
    const fresh = () => connect(server, line);
    line.client = line.client?.then((open) => (open.isOpen() ? open : fresh()), fresh) ?? fresh();
    return line.client;
  };
  const run: ServerRcon["run"] = async (server, command) => {
    const line = lineOf(server);
    if (line.waiting >= settings.rcon_waiting) throw new Fault("overloaded", { message: tooMany });
    line.waiting += 1;
    clearTimeout(line.idle);
    const endAt = Date.now() + settings.rcon_timeout;
    try {
      const client = await clientOf(server, line);
      return await client.command(command, { timeoutMs: Math.max(1, endAt - Date.now()) });
    } catch (error) {
      throw isRcon(error) ? asFault(error) : error;
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) {
        line.idle = setTimeout(() => {
          closeConnection(line);
          if (lines.get(server.metadata.name) === line) lines.delete(server.metadata.name);
        }, settings.rcon_idle).unref();
      }
    }
  };
  return {
    run,
    ask: (server, question) => {
      const { asked } = lineOf(server);
      const known = asked.get(question);
      if (known !== undefined) return known;
      const answer = run(server, question).finally(() => asked.delete(question));
      asked.set(question, answer);
      return answer;
    },
    close: async () => {
      const all = [...lines.values()];
      lines.clear();
      for (const line of all) clearTimeout(line.idle);
      await Promise.all(
        all.map((line) =>
          line.client?.then(
            (client) => client.close(),
            () => {},
          ),
        ),
      );
    },
  };
}

const tooMany = "Too many commands wait for this server; try again in a moment.";

function hostOf(server: Server): string {
  if (!hasRcon(server))
    throw new Fault("unavailable", {
      message: "RCON is switched off for this server; no command can be run.",
    });
  const { mode, address = "" } = server.status?.endpoint ?? {};
  const host = address.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  if (mode !== "direct" || host === "")
    throw new Fault("unavailable", { message: "The server has no address yet; try again in a moment." });
  return host;
}

function closeConnection(line: Line | undefined): void {
  clearTimeout(line?.idle);
  line?.client?.then((client) => client.close()).catch(() => {});
}

function isRcon(error: unknown): error is RconError {
  return error instanceof RconError;
}

function asFault(cause: RconError): Fault {
  const messages: Partial<Record<RconError["code"], string>> = {
    connect: "The server cannot be reached over RCON right now; try again in a moment.",
    auth: "The server does not accept its RCON password; restart it to give it the present one.",
    timeout: "The server gave no answer in time; the command may have run.",
    closed: "The connection to the server broke; the command may have run.",
    too_long: "The reply is too long to be shown; the command has run.",
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
    /** False when there was nothing to forget, so that asking again would say the same. */
    forget: (server: Server): boolean => known.delete(server.metadata.name),
  };
}
