// Helper processes of the bench: started with fork, told what to do over IPC, ended with the bench.

import { type ChildProcess, fork } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join, resolve } from "node:path";

const benchDir = resolve(import.meta.dirname, "..");
const askTimeoutMs = 300_000;

type Reply = { id: number; value?: unknown; error?: string };

export type Child = {
  pid: number;
  /** Asks the child to run one of its commands and gives back what that answers. */
  ask: <T>(command: string, argument?: unknown) => Promise<T>;
  stop: () => Promise<void>;
};

type ChildOptions = { env?: NodeJS.ProcessEnv; logDir: string };

/** Starts `tests/bench/<file>`; it must call `serveParent`. Its output goes to a file in `logDir`. */
export async function startChild(file: string, options: ChildOptions): Promise<Child> {
  const log = openSync(join(options.logDir, `${file.replaceAll("/", "-")}.log`), "a");
  const child = fork(join(benchDir, file), [], {
    env: { ...process.env, ...options.env },
    stdio: ["ignore", log, log, "ipc"],
    serialization: "advanced",
  });
  closeSync(log);
  const exited = new Promise<void>((settle) => child.once("exit", () => settle()));
  const ask = createAsk(child, file);
  await ask("ready");
  return {
    pid: child.pid ?? 0,
    ask,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

function createAsk(child: ChildProcess, file: string): Child["ask"] {
  const waiting = new Map<number, { settle: (value: unknown) => void; fail: (error: Error) => void }>();
  let lastId = 0;
  const failAll = (why: string) => {
    for (const { fail } of waiting.values()) fail(new Error(`${file}: ${why}`));
    waiting.clear();
  };
  child.on("message", (message) => {
    const reply = message as Reply;
    const asked = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) asked?.settle(reply.value);
    else asked?.fail(new Error(`${file}: ${reply.error}`));
  });
  child.once("exit", (code, signal) => failAll(`ended with ${code ?? signal}; its log says why`));
  child.once("error", (error) => failAll(error.message));
  return <T>(command: string, argument?: unknown) =>
    new Promise<T>((settle, fail) => {
      if (child.exitCode !== null || !child.connected)
        return fail(new Error(`${file} has ended; its log says why`));
      lastId += 1;
      const timer = setTimeout(() => fail(new Error(`${file}: ${command} took over 300 s`)), askTimeoutMs);
      waiting.set(lastId, {
        settle: (value) => {
          clearTimeout(timer);
          settle(value as T);
        },
        fail: (error) => {
          clearTimeout(timer);
          fail(error);
        },
      });
      child.send({ id: lastId, command, argument });
    });
}
