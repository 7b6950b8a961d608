// A server that crashes after something was added: why, and the start without it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer } from "@svc/proto";
import pg from "pg";
import { en } from "../../services/panel/src/words/en/index.ts";
import type { Stack } from "../flow/stack.ts";
import type { Area, Fixture } from "./fixture.ts";
import { writeFile } from "./person.ts";

const { crashes, server, serverConsole } = en;
const name = "survival";
const added = "plugins/too-new.jar";

/** The demo server can be made to crash by a command then. */
async function allowFaults(stack: Stack): Promise<void> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const { group, version, plural, kind } = MinecraftServer;
  const servers = resource<never>({ group, version, plural, kind, namespaced: true });
  const merge = { spec: { env: [{ name: "DEMO_FAULTS", value: "on" }] } };
  await kube.patch(servers, { name, namespace: "minecraft" }, { merge }).finally(kube.close);
}

/** A start counts as good ten minutes after it: what has happened so far was an hour earlier. */
async function passAnHour(stack: Stack): Promise<void> {
  const client = new pg.Client(stack.file().database_url);
  await client.connect();
  await client.query(
    "update lifecycle.server_phases set at = at - interval '1 hour' where server_name = $1",
    [name],
  );
  await client.end();
}

export const addCrashTests: Area = (fixture) => {
  const isIn = ({ owner }: Fixture, phase: string) =>
    until(
      async () => (await owner.request("GET", `/servers/${name}/status`)).body["phase"] === phase,
      90_000,
      phase,
    );

  test("after a crash a server starts without what was added last, which is put back later", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    await isIn(fixture(), "Stopped");
    await allowFaults(stack);
    await passAnHour(stack);
    const policy = { after_crash: "stop", when_hung: "restart", silent_minutes: 10 };
    assert.equal((await owner.request("PUT", `/servers/${name}/restart-policy`, policy)).status, 200);
    await owner.request("POST", `/servers/${name}/files/mkdir?path=plugins`, {});
    assert.equal((await writeFile(owner, { server: name, path: added }, "a plugin")).status, 200);
    await owner.press("button", server.wake);
    await isIn(fixture(), "Running");
    await owner.sees(server.phases.Running);
    await owner.fill(serverConsole.command, "crash 1 java.lang.UnsupportedClassVersionError: too new");
    await owner.page.keyboard.press("Enter");
    await owner.sees(crashes.crashed);
    await isIn(fixture(), "Stopped");
    await owner.press("button", crashes.safeStart);
    await owner.sees(crashes.changedSince);
    await owner.sees(added);
    await inspect(owner, "server-safe-start");
    await owner.press("button", crashes.safeStartAction);
    await owner.sees(crashes.asideDone(1));
    await isIn(fixture(), "Running");
    await owner.sees(server.phases.Running);
    await inspect(owner, "server-after-crash");
    await owner.press("button", `${server.stop} ${name}`);
    await isIn(fixture(), "Stopped");
    await owner.open(addressOf("admin_host", `/servers/${name}/files?path=.svc`));
    await owner.sees(crashes.setAsideTitle);
    await inspect(owner, "files-set-aside");
    await owner.press("button", crashes.putBack);
    await owner.sees(crashes.putBackDone(1));
    await owner.open(addressOf("admin_host", `/servers/${name}/files?path=plugins`));
    await owner.sees("too-new.jar");
    await owner.open(addressOf("admin_host", `/servers/${name}/history`));
    await owner.sees(crashes.title);
    await inspect(owner, "history-crashes");
  });
};
