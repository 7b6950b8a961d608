// A PostgreSQL that nobody else reaches: it applies the log to the scratch folder up to a time and is read over a socket.

import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isFault } from "@svc/proto";
import { asFault } from "@svc/store";
import { z } from "zod";
import { connect } from "../bundle/snapshot.ts";
import { makeFile, type Owner } from "./scratch.ts";

/** How `postgres` is started; the arguments follow. */
export const ServerProgram = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()),
  uid: z.number().int().optional(),
  gid: z.number().int().optional(),
});
export type ServerProgram = z.output<typeof ServerProgram>;

type Scratch = { dir: string; data: string; wal: string; socket: string };

const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** A word of a shell, and a text of the configuration. */
const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;

/** `%f` and `%p` are for the server to fill in; every other percent sign is its own. */
export function restoreCommand(wal: string): string {
  return `cp ${shellWord(wal).replaceAll("%", "%%")}/%f "%p"`;
}

/** The letter Z is not known to the server while it reads its settings. */
const timeText = (at: Date) => at.toISOString().replace("T", " ").replace("Z", "+00");

/** Recovers to the time, or to the end of the log. */
export async function writeSettings(
  scratch: Scratch,
  { to, owner }: { to: Date | undefined; owner: Owner },
): Promise<void> {
  const values: Record<string, string> = {
    hba_file: join(scratch.dir, "hba.conf"),
    ident_file: join(scratch.dir, "ident.conf"),
    listen_addresses: "",
    unix_socket_directories: scratch.socket,
    unix_socket_permissions: "0700",
    hot_standby: "off",
    restore_command: restoreCommand(scratch.wal),
    recovery_target_timeline: "current",
    ...(to && { recovery_target_time: timeText(to), recovery_target_action: "promote" }),
    // It is thrown away: a power cut ends the recovery anyway.
    fsync: "off",
    full_page_writes: "off",
    autovacuum: "off",
    archive_mode: "off",
    max_wal_senders: "0",
    max_connections: "20",
    shared_buffers: "64MB",
    logging_collector: "off",
    log_timezone: "UTC",
    timezone: "UTC",
    lc_messages: "C",
  };
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${quoted(value)}\n`);
  await makeFile(join(scratch.dir, "postgresql.conf"), lines.join(""), owner);
  await makeFile(join(scratch.dir, "hba.conf"), "local all all trust\n", owner);
  await makeFile(join(scratch.dir, "ident.conf"), "", owner);
  await makeFile(join(scratch.data, "recovery.signal"), "", owner);
}

export type Recovered = {
  url: string;
  /** Where the recovery ended. */
  replayed: string;
  stop: () => Promise<void>;
};

/** Undefined when the log ended before the time: nothing was committed after it. */
export async function startRecovered(
  program: ServerProgram,
  scratch: Scratch,
  about: { database: string; user: string },
): Promise<Recovered | undefined> {
  const logPath = join(scratch.dir, "server.log");
  const log = await open(logPath, "w", 0o600);
  const args = [
    ...program.args,
    "-D",
    scratch.data,
    "-c",
    `config_file=${join(scratch.dir, "postgresql.conf")}`,
  ];
  const child = spawn(program.command, args, {
    ...{ env, cwd: "/", stdio: ["ignore", log.fd, log.fd] as const, detached: true },
    ...(program.uid !== undefined && { uid: program.uid }),
    ...(program.gid !== undefined && { gid: program.gid }),
  });
  let ended: string | undefined;
  const exited = new Promise<void>((done) => {
    child.once("error", (error) => {
      ended = error.message;
      done();
    });
    child.once("exit", (code, signal) => {
      ended = `it ended with ${code ?? signal}`;
      done();
    });
  });
  await log.close();
  const stop = async () => {
    // Its files are thrown away.
    if (ended === undefined) child.kill("SIGQUIT");
    const isLate = await Promise.race([exited.then(() => false), delay(10_000, true, { ref: false })]);
    if (isLate) child.kill("SIGKILL");
    await exited;
  };
  const url = `postgresql:///${encodeURIComponent(about.database)}?host=${encodeURIComponent(scratch.socket)}&user=${encodeURIComponent(about.user)}`;
  try {
    for (;;) {
      if (ended !== undefined) return await explainEnd(logPath, ended);
      const replayed = await askReplayed(url);
      if (replayed !== undefined) return { url, replayed, stop };
      await delay(200);
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

async function explainEnd(logPath: string, ended: string): Promise<undefined> {
  const lines = (await readFile(logPath, "utf8").catch(() => "")).trim().split("\n");
  if (lines.some((line) => line.includes("recovery ended before configured recovery target was reached")))
    return undefined;
  const fatal = lines.findLast((line) => /(FATAL|PANIC|ERROR):/.test(line)) ?? lines.at(-1) ?? "";
  throw new Error(`the log could not be applied: ${ended}: ${fatal}`);
}

/** Undefined until the recovery has ended and it serves. */
async function askReplayed(url: string): Promise<string | undefined> {
  try {
    const client = await connect(url, "svc-recovery");
    try {
      const { rows } = await client.query<{ busy: boolean; replayed: string }>(
        "select pg_is_in_recovery() as busy, pg_last_wal_replay_lsn()::text as replayed",
      );
      return rows[0]?.busy === false ? rows[0].replayed : undefined;
    } finally {
      await client.end();
    }
  } catch (error) {
    if (isNotThere(error)) return undefined;
    throw error;
  }
}

/** Whether a server does not serve yet, or ends: one that ends is noticed by its process. */
export function isNotThere(error: unknown): boolean {
  // A socket that is not made yet.
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return true;
  const fault = asFault(error);
  return isFault(fault) && fault.fault === "unavailable";
}
