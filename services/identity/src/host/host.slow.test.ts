import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { testProgram } from "@svc/config/test-program";
import { accounts } from "@svc/proto";
import { sha256 } from "../secret.ts";
import { type Fixture, startFixture, stateOf } from "../testing/fixture.ts";
import type { Command } from "./command.ts";

const program = testProgram(fileURLToPath(new URL("./main.ts", import.meta.url)));

describe("the host's own commands", () => {
  let fixture: Fixture;
  let dir: string;
  before(async () => {
    fixture = await startFixture();
    dir = await mkdtemp(join(tmpdir(), "svc-host-"));
  });
  after(async () => {
    await fixture.stop();
    await rm(dir, { recursive: true });
  });

  async function run(command: Command): Promise<{ code: number | null; answer: never; error: string }> {
    const env = {
      ...process.env,
      SVC_DATABASE_URL: fixture.database.url,
      SVC_SET: "smtp.host=127.0.0.1\nsmtp.from=a@b.c",
    };
    const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.end(JSON.stringify(command));
    const [out, error, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.once("close", resolve)),
    ]);
    return { code, answer: (out === "" ? undefined : JSON.parse(out)) as never, error };
  }
  const audited = (action: string) =>
    fixture.database.admin(`select actor, source, payload from identity.audit_logs where action = $1`, [
      action,
    ]);

  test("a setup link signs its holder in as the owner, and none is created once the owner can sign in", async () => {
    const made = await run({ do: "setup-link" });
    assert.equal(made.code, 0, made.error);
    const { setup_url: link } = made.answer as { setup_url: string };
    const token = new URL(link).searchParams.get("token") ?? "";
    const state = await fixture.gateway.call(accounts.redeemSetup, { token });
    assert.equal(state.role, "owner");
    await fixture.database.admin(
      "update identity.users set email = 'o@b.cd', email_verified = true where id = $1",
      [state.user_id],
    );
    const refused = await run({ do: "setup-link" });
    assert.deepEqual(refused.answer, { refused: "owner_can_sign_in" });
    const recovered = await run({ do: "recover-owner" });
    assert.equal(recovered.code, 0, recovered.error);
    assert.deepEqual(
      (await audited("break_glass.recovery")).map(({ source }) => source),
      ["break-glass"],
    );
  });

  test("the host signs the owner in, with a proof and an audit entry, but not a player", async () => {
    const made = await run({ do: "sign-in" });
    assert.equal(made.code, 0, made.error);
    const { value, role } = made.answer as { value: string; role: string };
    assert.equal(role, "owner");
    const hash = sha256(value);
    assert.equal((await stateOf(fixture, hash)).state, "live");
    const rows = await fixture.database.admin(
      "select door, reauth_at from identity.sessions where token_hash = $1",
      [hash],
    );
    assert.deepEqual([rows[0]?.["door"], rows[0]?.["reauth_at"] === null], ["host", false]);
    assert.equal((await audited("break_glass.sign_in"))[0]?.["source"], "break-glass");

    const again = await run({ do: "sign-in", replaces: hash });
    assert.equal(again.code, 0, again.error);
    assert.equal((await stateOf(fixture, hash)).state, "unknown");
    const player = await fixture.person();
    const refused = await run({ do: "sign-in", who: player.userId });
    assert.match(refused.error, /is not an operator/);
    await fixture.database.admin("update identity.users set disabled = true where role = 'owner'");
    assert.match((await run({ do: "sign-in" })).error, /there is no owner yet/);
    await fixture.database.admin("update identity.users set disabled = false where role = 'owner'");
  });

  test("an operator is added once, with their own setup link", async () => {
    const made = await run({ do: "add-operator", username: "Alex" });
    const token = new URL((made.answer as { setup_url: string }).setup_url).searchParams.get("token") ?? "";
    assert.equal((await fixture.gateway.call(accounts.redeemSetup, { token })).role, "admin");
    assert.match((await run({ do: "add-operator", username: "alex" })).error, /the name alex is taken/);
    assert.equal((await audited("operator_create")).length, 1);
  });

  test("a password set at the host ends existing sessions, and password sign-in is enabled and disabled", async () => {
    const person = await fixture.person();
    const username = person.principal.username;
    const set = await run({ do: "set-password", who: username, password: "correct horse battery" });
    assert.deepEqual(set.answer, { username });
    assert.equal((await stateOf(fixture, person.session)).state, "unknown");
    assert.deepEqual((await run({ do: "set-local-auth", enabled: true })).answer, {
      local_auth_enabled: true,
    });
    assert.deepEqual((await run({ do: "set-local-auth", enabled: false })).answer, {
      local_auth_enabled: false,
    });
  });

  test("a player is barred and unbarred, by UUID or by account; an operator's player is not", async () => {
    const person = await fixture.person();
    const player = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
    const link = "insert into identity.account_links (user_id, mc_uuid) values ($1, $2)";
    await fixture.database.admin(link, [person.userId, player]);
    const barred = "select username from identity.username_blacklist";
    const planned = await run({ do: "bar-player", who: person.principal.username, dry_run: true });
    assert.equal(planned.code, 0, planned.error);
    assert.deepEqual(await fixture.database.admin(barred), []);
    await run({ do: "bar-player", who: player, username: "Notch" });
    assert.deepEqual(await fixture.database.admin(barred), [{ username: "Notch" }]);
    assert.equal((await audited("player.bar")).length, 1);
    const freed = await run({ do: "unbar-player", who: person.userId });
    assert.deepEqual((freed.answer as { players: unknown[] }).players.length, 1);
    assert.deepEqual(await fixture.database.admin(barred), []);
    assert.equal((await audited("player.unbar")).length, 1);
    await fixture.database.admin("update identity.users set role = 'admin' where id = $1", [person.userId]);
    assert.match((await run({ do: "bar-player", who: player })).error, /belongs to an operator/);
  });

  test("a lockout of mailed codes is shown and lifted", async () => {
    const person = await fixture.person({ email: "locked@example.org", emailVerified: true });
    await fixture.database.admin("insert into identity.otp_failure_windows values ($1, 'any', now(), 10)", [
      person.userId,
    ]);
    await fixture.database.admin(
      `insert into identity.external_identities (id, user_id, issuer, subject, label, created_at)
         values ('ext-host', $1, 'https://works.example.net', 'secret-subject', 'ada', now())`,
      [person.userId],
    );
    const shown = await run({ do: "describe-user", who: "LOCKED@example.org" });
    const { identities } = shown.answer as { identities: { id: string; issuer: string }[] };
    assert.deepEqual(
      identities.map(({ id, issuer }) => [id, issuer]),
      [["ext-host", "https://works.example.net"]],
    );
    assert.doesNotMatch(JSON.stringify(shown.answer), /secret-subject/);
    assert.ok((shown.answer as { code_locked_until?: string }).code_locked_until);
    const lifted = await run({ do: "lift-lock", who: person.userId });
    assert.equal((lifted.answer as { was_locked: boolean }).was_locked, true);
    const after = await run({ do: "describe-user", who: person.userId });
    assert.equal("code_locked_until" in (after.answer as object), false);
  });

  test("the complete audit log is exported to a new private file", async () => {
    const out = join(dir, "audit.jsonl");
    const done = await run({ do: "export-audit", out });
    const lines = (await readFile(out, "utf8")).trim().split("\n");
    assert.equal((done.answer as { entries: number }).entries, lines.length);
    assert.ok(lines.some((line) => (JSON.parse(line) as { action: string }).action === "operator_create"));
    assert.equal((await stat(out)).mode & 0o777, 0o600);
    assert.match((await run({ do: "export-audit", out })).error, /already exists/);
  });

  test("an export that a disk is too full for leaves no file", {
    skip: process.getuid?.() !== 0,
  }, async () => {
    const full = join(dir, "full");
    await mkdir(full);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4k", "tmpfs", full]);
    try {
      await writeFile(join(full, "filler"), Buffer.alloc(4_096));
      const out = join(full, "audit.jsonl");
      assert.match((await run({ do: "export-audit", out })).error, /the disk is full/);
      await assert.rejects(stat(out), { code: "ENOENT" });
    } finally {
      execFileSync("umount", [full]);
    }
  });

  test("an unknown user is reported", async () => {
    assert.match((await run({ do: "lift-lock", who: "nobody" })).error, /user nobody not found/);
  });
});
