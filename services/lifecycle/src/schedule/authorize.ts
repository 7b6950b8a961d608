import type { Context } from "@svc/mesh";
import { type AnyContract, Fault, isUserName } from "@svc/proto";
import { assertAccess } from "../access/assert.ts";
import type { ServerRow } from "../database/server-row.ts";
import { stepsOf } from "./chain.ts";
import type { ScheduleDeps } from "./deps.ts";
import type { LockedServer } from "./locked-server.ts";

type Caller = Pick<Context<AnyContract>, "principal">;
type Wanted = { name: string; to: Pick<AnyContract, "http"> };
/** What a task sends to the game; empty for all actions but `command`. */
type Task = { action: string; command: string };
/** Throws `forbidden` when the caller may not have a task with this command. */
type CheckTask = (task: Task) => void;

function checkName(name: string): void {
  if (!isUserName(name)) throw new Fault("bad_name");
}

function noServer(name: string): Fault {
  return new Fault("not_found", { message: `There is no server ${name}.` });
}

// Rights first, and the command as soon as it is known: what is wrong with an input is told only to those who may.
function checkTasks(caller: Caller, wanted: Wanted, row: ServerRow): CheckTask {
  assertAccess(caller, { ...wanted, row, command: null });
  return ({ action, command }) =>
    void assertAccess(caller, { ...wanted, row, command: action === "command" ? command : null });
}

/** Throws unless the caller may do this with the tasks of a server. */
export async function checkAccess(
  { store }: Pick<ScheduleDeps, "store">,
  caller: Caller,
  wanted: Wanted,
): Promise<CheckTask> {
  const { name } = wanted;
  checkName(name);
  const row = await store.find(name);
  if (!row) throw noServer(name);
  return checkTasks(caller, wanted, row);
}

/** As `checkAccess`, in the transaction of the change. */
export async function withAccess<R>(
  { schedules }: ScheduleDeps,
  { caller, ...wanted }: Wanted & { caller: Caller },
  work: (server: LockedServer, check: CheckTask) => Promise<R>,
): Promise<R> {
  const { name } = wanted;
  checkName(name);
  const done = await schedules.withServer(name, async (server) => ({
    value: await work(server, checkTasks(caller, wanted, server.row)),
  }));
  if (!done) throw noServer(name);
  return done.value;
}

/** Throws `forbidden` when the caller may not have a task with these steps. */
export function checkSteps(check: CheckTask, task: Parameters<typeof stepsOf>[0]): void {
  for (const step of stepsOf(task)) check(step);
}

/** The account to whom a saved task belongs, if it is not the owner's. */
export function saverOf({ principal }: Caller, { owner }: Pick<LockedServer, "owner">): string | null {
  const isOther = principal.kind === "account" && !principal.staff && principal.user_id !== owner;
  return isOther ? principal.user_id : null;
}

export const noSchedule = { message: "No such schedule; list the server's schedules." };

/** Throws `bad_id` for a malformed id, and `not_found` for one that cannot exist. */
export function idOf(text: string): number {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new Fault("bad_id");
  const id = Number(text);
  if (!Number.isSafeInteger(id)) throw new Fault("not_found", noSchedule);
  return id;
}
