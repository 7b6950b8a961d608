// Servers from files, by the command line alone (docs/reference/apply.md).

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runSvc as commandOfSvc } from "@svc/local-stack";
import { until } from "@svc/local-stack/testing";
import { runSvc, type Stack } from "./stack.ts";

const root = resolve(import.meta.dirname, "../..");
const head = (name: string) => `apiVersion: svc/v1\nkind: Server\nname: ${name}\n`;
const tasks = (count: number) =>
  Array.from(
    { length: count },
    (_, hour) => `  - {label: task ${hour}, action: stop, at: "0${hour}:00"}\n`,
  ).join("");

type Applied = { code: number; stdout: string; stderr: string };

/** Needs an operator who is signed in. Leaves the servers `farm` and `mine` behind, stopped. */
export async function assertApply(stack: Stack): Promise<void> {
  const file = join(stack.dataDir, "servers.yaml");
  const apply = async (text: string, ...args: string[]): Promise<Applied> => {
    writeFileSync(file, text);
    return stack.svc("apply", "-f", file, ...args);
  };
  const farm = (settings: string, count: number) =>
    `${head("farm")}settings: {owner: me, ${settings}}\nschedules:\n${tasks(count)}`;
  await assertCreated(stack, { apply, farm });
  await assertStopsAndGoesOn({ apply, farm });
  await assertAsks(stack, {
    file,
    wanted: farm("displayName: Asked", 0).replace("schedules:", "schedules: []"),
  });
  await assertTokens(stack, file);
  await assertKilled(stack, file);
}

type Run = {
  apply: (text: string, ...args: string[]) => Promise<Applied>;
  farm: (settings: string, count: number) => string;
};
const fine = ({ code, stdout, stderr }: Applied): string => {
  assert.equal(code, 0, `${stdout}${stderr}`);
  return stdout;
};

async function assertCreated(stack: Stack, { apply, farm }: Run): Promise<void> {
  const wanted = farm("displayName: Farm, idleStopSeconds: 0", 2);
  assert.match(
    fine(await apply(wanted, "--plan")),
    /\+ farm: create the server[\s\S]*Plan: 3 to add[\s\S]*--plan/,
  );
  assert.equal((await stack.svc("server", "status", "farm")).code, 1);
  assert.match(fine(await apply(wanted)), /Done: 3 changed/);
  assert.equal(fine(await apply(wanted)), "Nothing to change.\n");

  const exported = fine(await stack.svc("server", "export", "farm"));
  assert.match(exported, /displayName: Farm/);
  assert.equal(fine(await apply(exported, "--prune")), "Nothing to change.\n");

  const changed = await apply(farm("displayName: The farm, memory: 1Gi", 1), "--prune", "--json");
  assert.deepEqual([JSON.parse(fine(changed)).done, JSON.parse(changed.stdout).changes.length], [false, 2]);
  assert.match(
    fine(await apply(farm("memory: 1Gi", 1))),
    /~ farm: change memory[\s\S]*it stays without --prune/,
  );
  assert.match(fine(await apply(farm("memory: 1Gi", 1), "--prune", "--yes")), /- farm: delete task "task 1"/);
  const { schedules } = JSON.parse(fine(await stack.svc("schedule", "list", "farm", "--json")));
  assert.deepEqual(
    schedules.map(({ label }: { label: string }) => label),
    ["task 0"],
  );
  // A server that is no longer in the file stays.
  assert.equal(fine(await apply(head("work"))), "Nothing to change.\n");
  assert.equal((await stack.svc("server", "status", "farm")).code, 0);
}

async function assertStopsAndGoesOn({ apply, farm }: Run): Promise<void> {
  const refused = await apply(`${farm("storage: 99Gi", 1)}---\n${head("nowhere")}settings: {nodeName: x}\n`);
  assert.match(refused.stderr, /servers\.yaml:\d+: settings\.nodeName: there is no such field; did you mean/);
  const immutable = await apply(farm("displayName: Never, storage: 99Gi", 1));
  assert.match(immutable.stderr, /nothing was changed:\n.*storage of a server that exists cannot be changed/);

  // Only the server knows that this name is not allowed.
  const two = (name: string) =>
    `${farm("displayName: First", 1)}---\n${head("work")}settings: {displayName: "${name}"}\n`;
  const stopped = await apply(two("\\u0007"));
  assert.equal(stopped.code, 1);
  assert.match(
    stopped.stdout,
    /^Done:\n {2}~ farm: change displayName\nNot done:\n {2}~ work: .*\nStopped: .*bad_display_name/m,
  );
  const rest = fine(await apply(two("Workshop 2")));
  assert.match(rest, /^~ work: change displayName$/m);
  assert.doesNotMatch(rest, /~ farm/);
}

/** At a terminal it asks before it deletes; what somebody changes before the answer is not overwritten. */
async function assertAsks(stack: Stack, { file, wanted }: { file: string; wanted: string }): Promise<void> {
  writeFileSync(file, wanted);
  const answered = async (answer: string, meanwhile: () => Promise<unknown>): Promise<Applied> => {
    const { args, env } = commandOfSvc(root, join(root, "services/cli/src/main.ts"));
    const words = [process.execPath, ...args, "apply", "-f", file, "--prune", "--data", stack.dataDir];
    const child = spawn("script", ["-qefc", words.map((word) => `'${word}'`).join(" "), "/dev/null"], {
      env: { ...process.env, ...env },
    });
    let stdout = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk;
    });
    await until(() => stdout.includes("Type yes:"), 60_000, "the question");
    await meanwhile();
    child.stdin.write(`${answer}\n`);
    const [code] = (await once(child, "exit")) as [number];
    return { code, stdout, stderr: "" };
  };
  const nothing = async () => undefined;
  assert.match(fine(await answered("no", nothing)), /Nothing was done/);
  const rename = async () => fine(await stack.svc("server", "set", "farm", "--display-name", "By somebody"));
  const stale = await answered("yes", rename);
  assert.equal(stale.code, 1);
  assert.match(stale.stdout, /Nothing was changed\.[\s\S]*farm was changed by somebody else/);
  assert.match(
    fine(await answered("yes", nothing)),
    /displayName: By somebody -> Asked[\s\S]*Done: 2 changed/,
  );
}

async function assertTokens(stack: Stack, file: string): Promise<void> {
  const token = async (...rights: string[]) => {
    const args = ["--right", rights.join(","), "--server", "work", "--days", "1", "--json"];
    const made = await stack.svc("token", "create", "applier", ...args);
    assert.equal(made.code, 0, made.stderr);
    return JSON.parse(made.stdout) as { secret: string; token: { id: string } };
  };
  const applyBy = (secret: string) =>
    runSvc(["apply", "-f", file, "--data", stack.dataDir], undefined, { SVC_TOKEN: secret });
  writeFileSync(
    file,
    `${head("work")}settings: {displayName: By token}\nschedules:\n${tasks(1)}allowlist: []\n`,
  );
  const [none, all] = await Promise.all([
    token("see", "schedules"),
    token("see", "schedules", "settings", "players", "command", "power", "backups.make"),
  ]);
  assert.match(
    (await applyBy(none.secret)).stderr,
    /nothing was changed:\n +work: the token does not have the right players\n/,
  );
  writeFileSync(file, `${head("work")}settings: {displayName: By token}\nschedules:\n${tasks(1)}`);
  const lacking = (await applyBy(none.secret)).stderr;
  for (const right of ["settings", "command", "power", "backups.make"])
    assert.match(lacking, new RegExp(`does not have the right ${right}$`, "m"));
  assert.match(fine(await applyBy(all.secret)), /Done: 2 changed/);
  // The server may have tasks of other tests, which stay.
  assert.match(fine(await applyBy(all.secret)), /^Nothing to change\.\n/);
  writeFileSync(file, head("farm"));
  assert.match((await applyBy(all.secret)).stderr, /farm: the token is not for this server/);
  for (const { token: made } of [none, all])
    assert.equal((await stack.svc("token", "revoke", made.id)).code, 0);
}

/** Killed after its first change was seen; the next run does the rest, and nothing twice. */
async function assertKilled(stack: Stack, file: string): Promise<void> {
  const most = 9;
  writeFileSync(file, `${head("mine")}settings: {owner: me}\nschedules:\n${tasks(most)}`);
  const svc = commandOfSvc(root, join(root, "services/cli/src/main.ts"));
  const args = [...svc.args, "apply", "-f", file, "--data", stack.dataDir];
  const child = spawn(process.execPath, args, { stdio: "ignore", env: { ...process.env, ...svc.env } });
  await until(async () => (await stack.svc("schedule", "list", "mine", "--json")).code === 0, 60_000, "mine");
  child.kill("SIGKILL");
  fine(await stack.svc("apply", "-f", file));
  const { schedules } = JSON.parse(fine(await stack.svc("schedule", "list", "mine", "--json")));
  assert.equal(schedules.length, most);
  assert.equal(fine(await stack.svc("apply", "-f", file)), "Nothing to change.\n");
}
