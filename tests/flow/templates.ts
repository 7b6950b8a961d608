// Templates and servers made of them, by the command line alone (docs/reference/server-templates.md).

import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { newestCode, runSvc, type Stack } from "./stack.ts";

const email = "maker@example.net";

/** Needs an operator who is signed in, and leaves one. Leaves the servers `night` and `day` behind, stopped. */
export async function assertTemplates(stack: Stack): Promise<void> {
  const svc = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await stack.svc(...args);
    assert.equal(code, 0, `svc ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };
  const refused = async (wanted: RegExp, ...args: string[]) => {
    const { code, stderr } = await stack.svc(...args);
    assert.equal(code, 1, `svc ${args.join(" ")}`);
    assert.match(stderr, wanted);
  };
  assert.match(
    await svc("template", "list"),
    /Make one with: npm run svc -- template save NAME --from SERVER/,
  );
  await assertSaved(stack, { svc, refused });
  await svc("server", "create", "night", "--template", "event");
  const { memory, autostartPolicy } = JSON.parse(await svc("server", "status", "night", "--json"));
  assert.deepEqual([memory, autostartPolicy], ["1Gi", "public"]);

  assert.equal((await stack.svc("account", "logout")).code, 0);
  await signInAsAccount(stack);
  assert.match(
    await svc("template", "list"),
    /^event +Event night +1Gi [\s\S]*You can make 3 more servers\.$/m,
  );
  assert.doesNotMatch(await svc("template", "list"), /kept/);
  assert.match(await svc("template", "show", "event"), /^memory +1Gi$/m);
  await refused(/no template kept is offered; list them with: npm run svc -- /, "template", "show", "kept");
  await refused(/\(forbidden, request /, "template", "save", "event", "--memory", "8Gi");
  await svc("server", "create", "day", "--template", "event");
  await refused(/\(template_not_found, request /, "server", "create", "dusk", "--template", "kept");
  assert.match(await svc("template", "list"), /You can make 2 more servers\./);
  await svc("account", "login", "--with", "host");

  assert.match(
    await svc("template", "delete", "event"),
    /servers made of it stay\.\nNothing was done; add --yes/,
  );
  assert.match(await svc("template", "show", "event"), /^revision +3$/m);
  await svc("template", "delete", "event", "--yes");
  await svc("template", "delete", "kept", "--yes");
  await refused(/\(template_not_found, request /, "template", "show", "event");
  await svc("server", "status", "night");
}

type Run = {
  svc: (...args: string[]) => Promise<string>;
  refused: (wanted: RegExp, ...args: string[]) => Promise<void>;
};

async function assertSaved({ dataDir }: Stack, { svc, refused }: Run): Promise<void> {
  const file = join(dataDir, "template.yaml");
  writeFileSync(file, "memory: 2Gi\nautostartPolicy: public\n");
  assert.match(
    await svc("template", "save", "event", "--file", file, "--title", "Event night"),
    /^Saved event: 2Gi, autostartPolicy; for staff alone; --offer lets accounts use it\.$/m,
  );
  assert.match(
    await svc("template", "save", "event", "--memory", "1Gi"),
    /^Saved event: 1Gi, autostartPolicy;/m,
  );
  assert.match(await svc("template", "save", "event", "--offer"), /accounts may use it\.$/m);
  // What it says already changes nothing.
  assert.match(await svc("template", "save", "event", "--offer"), /accounts may use it\.$/m);
  assert.match(await svc("template", "save", "kept", "--from", "work"), /^Saved kept: .*demo-server/m);
  assert.match(await svc("template", "list"), /^event +Event night +accounts [\s\S]*^kept +kept +staff /m);
  writeFileSync(file, "memory: lots\n");
  await refused(
    /memory must be a quantity .*\(bad_template, request /,
    "template",
    "save",
    "bad",
    "--file",
    file,
  );
  await refused(/\(bad_template, request /, "template", "save", "BAD");
  await refused(/\(not_found, request /, "template", "save", "bad", "--from", "nowhere");
  await refused(/\(template_not_found, request /, "template", "show", "bad");
}

/** An account without rights of staff, on the panel, with a mailed code. */
async function signInAsAccount(stack: Stack): Promise<void> {
  const mails = join(stack.dataDir, "mail");
  const count = () => readdirSync(mails).filter((name) => name.endsWith(".eml")).length;
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  const columns = "(id, username, role, email, email_verified)";
  await client
    .query(`insert into identity.users ${columns} values ('usr-maker', 'maker', 'user', '${email}', true)`)
    .finally(() => client.end());
  const before = count();
  const code = until(() => (count() > before ? newestCode(mails) : undefined), 15_000, "the mailed code");
  const signedIn = await runSvc(["account", "login", "--email", email, "--data", stack.dataDir], code);
  assert.equal(signedIn.code, 0, signedIn.stderr);
}
