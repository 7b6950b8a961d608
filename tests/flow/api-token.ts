// An API token by the command line: what it opens, what it does not, and that it ends.

import assert from "node:assert/strict";
import { runSvc, type Stack } from "./stack.ts";

const [open, closed, file] = ["work", "survival", "note.txt"] as const;

/** The servers are there, and so is the file at the first one, which is the caller's. */
export async function assertApiToken(stack: Stack): Promise<void> {
  const owner = async (...args: string[]) => {
    const ran = await stack.svc(...args, "--json");
    assert.equal(ran.code, 0, `svc ${args.join(" ")}: ${ran.stderr}`);
    return JSON.parse(ran.stdout);
  };
  const odd = await stack.svc("token", "create", "odd", "--right", "everything");
  assert.match(odd.stderr, /everything is no right; there are see, console\.read/);
  const made = await stack.svc(
    ...["token", "create", "deploy", "--right", "see,files.read", "--server", open, "--days", "1"],
  );
  assert.equal(made.code, 0, made.stderr);
  const [secret = ""] = made.stdout.split("\n");
  assert.match(secret, /^svc_pat_[\w-]{43}[0-9a-f]{8}$/);
  assert.doesNotMatch((await stack.svc("token", "list")).stdout, new RegExp(secret));

  const script = (...args: string[]) =>
    runSvc([...args, "--data", stack.dataDir], undefined, { SVC_TOKEN: secret });
  assert.match((await script("server", "status", open)).stdout, /desiredState +Stopped/);
  const rows = JSON.parse((await script("server", "list", "--json")).stdout) as { name: string }[];
  assert.deepEqual(
    rows.map(({ name }) => name),
    [open],
  );
  assert.equal((await script("files", "get", open, file, "-")).code, 0);
  const refusals: [args: string[], why: RegExp][] = [
    [["server", "status", closed], new RegExp(`not for the server ${closed}`)],
    [["server", "stop", open], /does not have the right power/],
    [["files", "rm", open, file, "--yes"], /does not have the right files\.write/],
    [["account", "whoami"], /API tokens are not accepted here/],
    [["token", "list"], /API tokens are not accepted here/],
  ];
  for (const [args, why] of refusals) assert.match((await script(...args)).stderr, why, args.join(" "));

  const { tokens } = await owner("token", "list");
  assert.deepEqual([tokens[0].name, tokens[0].servers], ["deploy", [open]]);
  assert.match(tokens[0].last_used_ip, /127\.0\.0\.1$/);
  await owner("token", "revoke", "deploy");
  assert.match((await script("server", "status", open)).stderr, /SVC_TOKEN is not accepted: .* was revoked/);
}
