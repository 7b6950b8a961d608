// The command line signs in through the browser: a process of `svc` beside somebody at /cli.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { after, describe, test } from "node:test";
import { until } from "@svc/local-stack/testing";
import pg from "pg";
import { findSession, removeSession } from "../../services/cli/src/account/session-file.ts";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Area } from "./fixture.ts";

const main = resolve(import.meta.dirname, "../../services/cli/src/main.ts");

const started: ChildProcess[] = [];

/** `svc account login --browser`, once it shows its code. */
async function startLogin(data: string, ...args: string[]) {
  const child = spawn(process.execPath, [main, "account", "login", "--browser", "--data", data, ...args]);
  started.push(child);
  let said = "";
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk;
  });
  const ended = new Promise<number | null>((settle) => child.on("close", settle));
  const code = await until(() => /^ {4}([A-Z2-9]{4}-[A-Z2-9]{4})$/m.exec(said)?.[1], 20_000, "the code");
  const [, address = ""] = /Open (\S+) in a browser/.exec(said) ?? [];
  return {
    code,
    address,
    stop: () => child.kill("SIGINT"),
    end: async () => ({ code: await ended, said, printed }),
  };
}

export const addCliLoginTests: Area = (fixture) => {
  describe("a command line signs in through the browser", () => {
    after(() => {
      for (const child of started) child.kill();
    });
    const database = async (text: string) => {
      const client = new pg.Client(fixture().stack.file().database_url);
      await client.connect();
      await client.query(text).finally(() => client.end());
    };
    const asOperator = () => startLogin(fixture().stack.dataDir, "--host", "operator");
    const isSignedIn = () => findSession(fixture().stack.dataDir) !== undefined;
    const type = async (code: string) => {
      const { owner, addressOf } = fixture();
      await owner.open(addressOf("admin_host", "/cli"));
      await owner.fill(en.cliLogin.code, code.toLowerCase());
      await owner.page.keyboard.press("Enter");
    };

    test("who is not signed in comes back after a passkey, approves, and the command goes on as them", async () => {
      const { owner, stack, inspect } = fixture();
      const starting = asOperator();
      await owner.press("button", en.shell.signOut);
      await owner.isAt("/login");
      const login = await starting;
      await owner.open(login.address);
      await owner.isAt("/login");
      await owner.press("button", en.signIn.passkey);
      await owner.isAt("/cli");
      await inspect(owner, "cli-login-code");
      await owner.fill(en.cliLogin.code, login.code);
      await owner.page.keyboard.press("Enter");
      await owner.sees(en.cliLogin.asks);
      await owner.sees(/svc\/\S+ \(/);
      await inspect(owner, "cli-login-review");
      await owner.press("button", en.cliLogin.approve);
      await owner.sees(en.cliLogin.approved);
      await inspect(owner, "cli-login-approved");
      const done = await login.end();
      assert.equal(done.code, 0, done.said);
      assert.match(done.printed, /You are signed in as .+ \(owner\)\./);
      assert.doesNotMatch(login.address, new RegExp(login.code.replace("-", "-?")));
      const [me, list] = await Promise.all([
        stack.svc("account", "whoami", "--json"),
        stack.svc("server", "list"),
        owner.open(fixture().addressOf("admin_host", "/account")).then(() => owner.sees(/svc, [\w.-]+/)),
      ]);
      const { role, host } = JSON.parse(me.stdout) as Record<string, unknown>;
      assert.deepEqual([me.code, role, host, list.code], [0, "owner", "admin", 0]);
    });

    test("a stranger's login is refused, after a fresh proof, and the command says so", async () => {
      const { owner, stack } = fixture();
      removeSession(stack.dataDir);
      const login = await asOperator();
      const owners = "(select id from identity.users where role = 'owner')";
      const past = "now() - interval '1 hour'";
      await database(`update identity.sessions set reauth_at = ${past} where user_id in ${owners}`);
      await database("update identity.cli_logins set client_ip = '203.0.113.9'");
      await type(login.code);
      await owner.press("button", en.shell.provePasskey);
      await owner.sees(en.cliLogin.otherNetwork);
      await fixture().inspect(owner, "cli-login-stranger");
      await owner.press("button", en.cliLogin.refuse);
      await owner.sees(en.cliLogin.refused);
      const done = await login.end();
      assert.deepEqual([done.code, /was refused in the browser/.test(done.said)], [1, true], done.said);
      assert.equal(isSignedIn(), false);
    });

    test("a wrong code, one of the players' panel and an expired one are unknown; Ctrl+C ends the wait", async () => {
      const { owner, stack } = fixture();
      const starting = Promise.all([startLogin(stack.dataDir), asOperator()]);
      await type("AAAA-BBBB");
      await owner.sees(en.faults.cli_login_not_found);
      await fixture().inspect(owner, "cli-login-unknown");
      const [elsewhere, late] = await starting;
      assert.equal(elsewhere.address, fixture().addressOf("panel_host", "/cli"));
      await type(elsewhere.code);
      await owner.sees(en.faults.cli_login_not_found);
      elsewhere.stop();
      assert.notEqual((await elsewhere.end()).code, 0);
      await database("update identity.cli_logins set expires_at = now()");
      await type(late.code);
      await owner.sees(en.faults.cli_login_not_found);
      const done = await late.end();
      assert.deepEqual(
        [done.code, /nobody approved the sign-in in time/.test(done.said)],
        [1, true],
        done.said,
      );
      assert.equal(isSignedIn(), false);
    });
  });
};
