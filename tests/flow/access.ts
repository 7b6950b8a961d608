// A server that its owner shares, by the command line alone: links, names in the game, limits, ends and the way out.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSvc, type Stack, send } from "./stack.ts";

const [name, file] = ["work", "note.txt"] as const;

type Ran = Awaited<ReturnType<Stack["svc"]>>;
type Cli = (...args: string[]) => Promise<Ran>;

/** The server is there, the caller's and stopped, and has the file. */
export async function assertAccess(stack: Stack): Promise<void> {
  const member = await signInMember(stack);
  try {
    await assertLink(stack, member.svc);
    await assertLimits(stack, member.svc);
    await assertEnds(stack, member.svc);
  } finally {
    member.remove();
  }
}

/** A player with a command line of its own, as on another machine. */
async function signInMember(stack: Stack): Promise<{ svc: Cli; remove: () => void }> {
  const dir = mkdtempSync(join(tmpdir(), "svc-member-"));
  copyFileSync(join(stack.dataDir, "stack.json"), join(dir, "stack.json"));
  const { external_base_url, panel_host } = stack.file();
  const minted = await stack.internal("POST", "/api/v1/internal/account/link/code", {
    mc_uuid: randomUUID(),
  });
  const { port } = new URL(external_base_url);
  const bound = await send(new URL("/api/v1/auth/bind", external_base_url).href, {
    method: "POST",
    headers: { host: port === "" ? panel_host : `${panel_host}:${port}` },
    body: minted.body,
  });
  assert.equal(bound.status, 200, JSON.stringify(bound.body));
  const session = /^svc_session=([^;]+)/.exec(String(bound.headers["set-cookie"]?.[0]))?.[1];
  writeFileSync(join(dir, "cli-session"), `${session} panel\n`, { mode: 0o600 });
  return {
    svc: (...args) => runSvc([...args, "--data", dir]),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

const fine = ({ code, stdout, stderr }: Ran): string => {
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
};
const json = async <T>(ran: Promise<Ran>): Promise<T> => JSON.parse(fine(await ran)) as T;

async function assertLink(stack: Stack, member: Cli): Promise<void> {
  const { external_base_url, panel_host } = stack.file();
  assert.match(
    (await stack.svc("access", "invite", name)).stderr,
    /give --preset helper\|builder\|co-owner or --right/,
  );
  assert.match((await stack.svc("access", "invite", name, "--preset", "king")).stderr, /king is no preset/);
  const late = await stack.svc("access", "invite", name, "--preset", "helper", "--until", "soon");
  assert.match(late.stderr, /--until soon: write a date such as 2026-12-31, which counts to its end/);
  const day = "2031-12-31";
  const invited = fine(await stack.svc("access", "invite", name, "--preset", "helper", "--until", day));
  const [link = ""] = invited.split("\n");
  const [page = "", secret = ""] = link.split("#");
  assert.deepEqual(
    [new URL(page).hostname, new URL(page).port],
    [panel_host, new URL(external_base_url).port],
  );
  assert.equal(new URL(page).pathname, "/invitations");
  assert.match(secret, /^svc_inv_[\w-]{43}$/);
  const end = new Date(2031, 11, 32).toISOString();
  assert.match(invited, new RegExp(`^The access ends at ${end}\\.$`, "m"));
  assert.doesNotMatch((await stack.svc("access", "list", name)).stdout, new RegExp(secret));
  assert.match((await member("access", "accept", `${secret.slice(0, -2)}xx`)).stderr, /no such invitation/);
  assert.match((await member("server", "status", name, "--json")).stdout, /"phase"/);
  assert.match(
    fine(await member("access", "accept", secret)),
    new RegExp(`${name} is shared with you: see,console.read,command`),
  );
  assert.match((await stack.svc("access", "accept", secret)).stderr, /was used or taken back/);
  const mine = await json<{ as: string; ends_at: string }>(member("access", "show", name, "--json"));
  assert.deepEqual([mine.as, mine.ends_at], ["member", end]);
  assert.match((await member("server", "wake", name)).stderr, /does not include this/);
}

async function assertLimits(stack: Stack, member: Cli): Promise<void> {
  const { members } = await json<{ members: { id: string; username: string }[] }>(
    stack.svc("access", "list", name, "--json"),
  );
  const [{ id, username } = { id: "", username: "" }] = members;
  const limited = [
    "--right",
    "files.read,files.write,backups.download",
    "--read",
    file,
    "--write",
    "plugins",
  ];
  const changed = fine(await stack.svc("access", "change", name, username, ...limited));
  assert.match(changed, /read: note\.txt; write: plugins/);
  assert.match(changed, /whole backups and the whole world cannot be downloaded/);
  assert.equal((await member("files", "get", name, file, "-")).code, 0);
  assert.match((await member("files", "ls", name)).stderr, /limited to some files and folders/);
  assert.match(
    (await member("files", "rm", name, file, "--yes")).stderr,
    /limited to some files and folders/,
  );
  assert.match((await member("access", "list", name)).stderr, /does not include this/);
  assert.match(
    (await stack.svc("access", "change", name, "nobody", ...limited)).stderr,
    /is not shared with nobody/,
  );
  fine(await stack.svc("access", "change", name, id, "--preset", "builder"));
  assert.match(
    fine(await member("access", "show", name)),
    /You are member of work: see,console\.read,command,power/,
  );
}

async function assertEnds(stack: Stack, member: Cli): Promise<void> {
  fine(await member("access", "leave", name));
  assert.match((await member("access", "leave", name)).stderr, /is not shared with this account/);
  const unknown = await stack.svc("access", "invite", name, "--right", "see", "--player", "Nobody_Came");
  assert.match(unknown.stderr, /send a link instead/);
  const both = await stack.svc(
    "access",
    "invite",
    name,
    "--right",
    "see",
    "--player",
    "A",
    "--email",
    "a@b.example",
  );
  assert.match(both.stderr, /give --email or --player, not both/);
  assert.match(fine(await member("access", "invitations")), /Nobody has invited you/);
  const made = () =>
    json<{ invitation: { id: string }; secret: string; url: string }>(
      stack.svc("access", "invite", name, "--right", "see", "--days", "1", "--json"),
    );
  const [declined, revoked] = [await made(), await made()];
  assert.ok(declined.url.endsWith(`#${declined.secret}`));
  assert.match(fine(await member("access", "decline", declined.secret)), /Declined/);
  assert.match(fine(await stack.svc("access", "remove", name, revoked.invitation.id)), /Taken back/);
  for (const { secret } of [declined, revoked])
    assert.match((await member("access", "accept", secret)).stderr, /was used or taken back/);
  const last = await made();
  fine(await member("access", "accept", last.secret));
  const { members } = await json<{ members: { id: string }[] }>(stack.svc("access", "list", name, "--json"));
  fine(await stack.svc("access", "remove", name, members[0]?.id ?? ""));
  assert.match(fine(await stack.svc("access", "list", name)), /is shared with nobody/);
}
