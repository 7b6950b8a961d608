import type { Context } from "@svc/mesh";
import { type AnyContract, Fault, isUserName, type Principal } from "@svc/proto";
import type { ScheduleDeps } from "./deps.ts";
import type { LockedServer } from "./locked-server.ts";

function checkOwner(principal: Principal, owner: string | null): void {
  const isAllowed = principal.kind === "account" && (principal.staff || principal.user_id === owner);
  if (!isAllowed)
    throw new Fault("forbidden", { message: "Only the owner of a server may schedule its tasks." });
}

function checkName(name: string): void {
  if (!isUserName(name)) throw new Fault("bad_name");
}

function noServer(name: string): Fault {
  return new Fault("not_found", { message: `There is no server ${name}.` });
}

/** Throws unless the caller owns the server or is staff. */
export async function checkAccess(
  { schedules }: ScheduleDeps,
  { principal }: Pick<Context<AnyContract>, "principal">,
  name: string,
): Promise<void> {
  checkName(name);
  const owner = await schedules.ownerOf(name);
  if (owner === undefined) throw noServer(name);
  checkOwner(principal, owner);
}

/** As `checkAccess`, in the transaction of the change. */
export async function withAccess<R>(
  { schedules }: ScheduleDeps,
  about: { principal: Principal; name: string },
  work: (server: LockedServer) => Promise<R>,
): Promise<R> {
  const { principal, name } = about;
  checkName(name);
  const done = await schedules.withServer(name, async (server) => {
    checkOwner(principal, server.owner);
    return { value: await work(server) };
  });
  if (!done) throw noServer(name);
  return done.value;
}

export const noSchedule = { message: "No such schedule; list the server's schedules." };

/** Throws `bad_id` for a malformed id, and `not_found` for one that cannot exist. */
export function idOf(text: string): number {
  if (!/^[1-9]\d{0,18}$/.test(text)) throw new Fault("bad_id");
  const id = Number(text);
  if (!Number.isSafeInteger(id)) throw new Fault("not_found", noSchedule);
  return id;
}
