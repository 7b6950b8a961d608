// A request that is killed at one of its steps, and the process around it. A step is a statement of SQL, or what `counted` wraps.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Context } from "@svc/mesh";
import { type AnyContract, Fault, type FaultOptions, isFault } from "@svc/proto";
import { openStore } from "@svc/store";
import { createLogger } from "@svc/telemetry";
import type { KyselyPlugin } from "kysely";
import type { Tables } from "../database/schema.ts";

/** Where a process dies: `before` or `after` a step, counted from 1, or once all is done but the answer (`answered`). Step 0 is none. */
type KillAt = readonly [step: string, when: string];
type Told<Answer> = { answer: Answer & { fault?: string }; steps: number };

/** Runs a program that ends with `tell`; `told` is undefined when it was killed. */
export async function runKilled<Answer>(
  program: string,
  given: readonly string[],
  at: KillAt = ["0", "before"],
): Promise<{ signal: string | null; told: Told<Answer> | undefined }> {
  const child = spawn(process.execPath, [program, ...given, ...at], { stdio: ["ignore", "pipe", "inherit"] });
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  return { signal, told: output === "" ? undefined : (JSON.parse(output) as Told<Answer>) };
}

/** The database of such a program, whose last two arguments are a `KillAt`. */
export function openKilledStore(url: string) {
  const [step, when] = process.argv.slice(-2);
  let steps = 0;
  const dieAt = (moment: string) => {
    if (steps === Number(step) && moment === when) process.kill(process.pid, "SIGKILL");
  };
  const begin = () => {
    steps += 1;
    dieAt("before");
  };
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      begin();
      return node;
    },
    transformResult: async ({ result }) => {
      dieAt("after");
      return result;
    },
  };
  const opened = openStore<Tables>({
    ...{ url, schema: "lifecycle", poolSize: 2 },
    log: createLogger("lifecycle", "silent"),
  });
  return {
    store: { ...opened, db: opened.db.withPlugin(counting) },
    /** The same function as a step. */
    counted:
      <Given extends unknown[], Made>(work: (...given: Given) => Promise<Made>) =>
      async (...given: Given): Promise<Made> => {
        begin();
        const made = await work(...given);
        dieAt("after");
        return made;
      },
    /** Does the work, then prints its answer or its fault, and how many steps there were. */
    tell: async (work: () => Promise<unknown>): Promise<void> => {
      const answer = await work().catch((error: unknown) => {
        if (isFault(error)) return { fault: error.fault };
        throw error;
      });
      if (when === "answered") process.kill(process.pid, "SIGKILL");
      process.stdout.write(JSON.stringify({ answer, steps }));
      await opened.close();
    },
  };
}

export function contextOf<C extends AnyContract>(requestId: string, account: string): Context<C> {
  return {
    requestId,
    principal: { kind: "account", user_id: account, username: account, role: "user", staff: false },
    client: { address: "192.0.2.7", userAgent: "browser" },
    fault: (fault: Fault["fault"], options?: FaultOptions) => new Fault(fault, options),
  } as unknown as Context<C>;
}
