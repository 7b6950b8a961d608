import { text } from "node:stream/consumers";
import { CommandError, type Outcome, planned, UsageError } from "../output.ts";
import { askIdentity } from "./identity.ts";
import { readUser } from "./users.ts";

type Options = { data: string; yes?: boolean };
type Link = { username: string; setup_url: string; valid_minutes: number };

const plan = (what: string) => planned(what, `Plan: ${what}`);

function linkOutcome(link: Link): Outcome {
  return {
    json: link,
    text: `${link.username} signs in with this link within ${link.valid_minutes} minutes:\n${link.setup_url}`,
  };
}

/** A link for the first owner; undefined once there is an owner who can sign in. */
export async function mintSetupLink(data: string): Promise<Link | undefined> {
  const answer = await askIdentity<Link | { refused: "owner_can_sign_in" }>(data, { do: "setup-link" });
  return "refused" in answer ? undefined : answer;
}

export async function setupLink({ data }: Options): Promise<Outcome> {
  const link = await mintSetupLink(data);
  if (link) return linkOutcome(link);
  throw new CommandError("the owner can sign in; `svc break-glass recover-owner` creates a link anyway");
}

export async function recoverOwner({ data, yes }: Options): Promise<Outcome> {
  if (!yes) return plan("create a sign-in link for the owner and record it in the audit log");
  return linkOutcome(await askIdentity<Link>(data, { do: "recover-owner" }));
}

export async function addOperator(username: string, { data, yes }: Options): Promise<Outcome> {
  if (!yes) {
    const taken = await readUser(data, username).catch(() => undefined);
    if (taken) throw new CommandError(`the name ${username} is taken; choose another`);
    return plan(`create the admin ${username} and a sign-in link`);
  }
  const command = { do: "add-operator", username };
  return linkOutcome(await askIdentity<Link>(data, command));
}

export async function setLocalAuth(wanted: string, { data, yes }: Options): Promise<Outcome> {
  if (wanted !== "on" && wanted !== "off") throw new UsageError("must be on or off");
  const what = wanted === "on" ? "open" : "close";
  if (!yes)
    return plan(`${what} sign-in by local password${wanted === "off" ? "; its sessions stop counting" : ""}`);
  const command = { do: "set-local-auth", enabled: wanted === "on" };
  const answer = await askIdentity<{ local_auth_enabled: boolean }>(data, command);
  return {
    json: answer,
    text: `Sign-in by local password is ${answer.local_auth_enabled ? "enabled" : "disabled"}.`,
  };
}

/** The password is read from standard input, to keep it out of shell histories and process lists. */
export async function setPassword(who: string, { data, yes }: Options): Promise<Outcome> {
  if (!yes) {
    const { username } = await readUser(data, who);
    return plan(`set the local password of ${username} from standard input; all their sessions end`);
  }
  if (process.stdin.isTTY) process.stderr.write("Password (at least 12 characters), then Ctrl-D:\n");
  const password = (await text(process.stdin)).replace(/\r?\n$/, "");
  if (password.length < 12) throw new CommandError("a password needs at least 12 characters");
  const command = { do: "set-password", who, password };
  const answer = await askIdentity<{ username: string }>(data, command);
  return { json: answer, text: `${answer.username} has a new local password; all their sessions ended.` };
}

export async function liftLock(who: string, { data, yes }: Options): Promise<Outcome> {
  if (!yes) return plan(`let mailed codes sign ${(await readUser(data, who)).username} in again`);
  const command = { do: "lift-lock", who };
  const answer = await askIdentity<{ username: string; was_locked: boolean }>(data, command);
  const text = answer.was_locked
    ? `${answer.username} can sign in with mailed codes again.`
    : `${answer.username} was not locked.`;
  return { json: answer, text };
}
