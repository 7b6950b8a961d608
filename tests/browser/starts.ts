import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { connectKube, resource } from "@svc/kube";
import { until } from "@svc/local-stack/testing";
import { MinecraftServer, type ServerInfo } from "@svc/proto";
import { en } from "../../services/panel/src/words/en/index.ts";
import { isolate } from "../../services/panel/src/words/format.ts";
import { join, type Player } from "../flow/player.ts";
import type { Stack } from "../flow/stack.ts";
import type { Area } from "./fixture.ts";

const { players, server, settings, start } = en;
const name = "starter";

async function statusOf(stack: Stack): Promise<ServerInfo> {
  const answer = await stack.internal("GET", `/api/v1/internal/servers/${name}/status`);
  return answer.body as ServerInfo;
}

/** Behind the API, which takes only images that exist, and no start in the middle of a move. */
async function setSpec(stack: Stack, spec: object): Promise<void> {
  const kube = connectKube({ kubeconfigFile: stack.file().kubeconfig });
  const { group, version, plural, kind } = MinecraftServer;
  const servers = resource<never>({ group, version, plural, kind, namespaced: true });
  await kube.patch(servers, { name, namespace: "minecraft" }, { merge: { spec } }).finally(kube.close);
}

export const addStartTests: Area = (fixture) => {
  let alice: Player | undefined;
  after(() => alice?.leave());

  test("a server whose image cannot be fetched says so on its page, in the list and on the overview", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    await owner.open(addressOf("admin_host", "/servers"));
    const created = await owner.page.evaluate(
      async (body: string) => {
        const headers = { "content-type": "application/json" };
        return (await fetch("/api/v1/servers", { method: "POST", headers, body })).status;
      },
      JSON.stringify({ name, subdomain: name }),
    );
    assert.equal(created, 201);
    const { image = "" } = await until(async () => {
      const status = await statusOf(stack);
      return status.phase === "Stopped" ? status : undefined;
    });
    await setSpec(stack, { image: "svc.local/nothing:1" });
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    await owner.press("button", server.wake);
    await owner.sees(start.problems.ImagePullFailed.title);
    await owner.sees(start.steps.image);
    await owner.page.locator(`::-p-aria([name=${JSON.stringify(start.bar)}][role="progressbar"])`).wait();
    await inspect(owner, "server-start-stuck");
    for (const path of ["/servers", "/"]) {
      await owner.open(addressOf("admin_host", path));
      await owner.sees(start.problems.ImagePullFailed.title);
      await inspect(owner, path === "/" ? "dashboard-start-stuck" : "servers-start-stuck");
    }
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    await setSpec(stack, { image });
    await owner.sees(server.phases.Running);
    assert.ok((await statusOf(stack)).startEstimate, "its first start was learned");
  });

  test("a player who is kicked is gone from the game and from the page", async () => {
    const { stack, owner, addressOf } = fixture();
    const bob = await join((await statusOf(stack)).endpointAddress ?? "", "bob");
    const kicked = new Promise<string>((resolve) => void bob.bot.once("kicked", resolve));
    await owner.open(addressOf("admin_host", `/servers/${name}/players`));
    await owner.press("button", players.kickOf(isolate("bob")));
    await owner.sees(players.kickHelp);
    await owner.press("button", players.kickAction);
    assert.match(JSON.stringify(await kicked), /kicked/i);
    await owner.sees(players.kicked(isolate("bob")));
    await owner.sees(server.nobody);
    await owner.open(addressOf("admin_host", `/servers/${name}`));
  });

  test("a player who joins shows up without a reload, and may play on after a stop", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    alice = await join((await statusOf(stack)).endpointAddress ?? "", "alice");
    // The proxy reports it; here nobody plays the proxy.
    const path = `/api/v1/internal/servers/${name}/join-event`;
    assert.equal((await stack.internal("POST", path, { mc_uuid: randomUUID() })).status, 204);
    await owner.sees(server.players(1, 20));
    // A change that would throw the player out asks first.
    await owner.open(addressOf("admin_host", `/servers/${name}/settings`));
    await owner.fill(server.memory, "3Gi");
    await owner.press("button", settings.saveHardware);
    await owner.sees(settings.hardwareConfirm(1));
    await owner.press("button", en.shell.cancel);
    await owner.open(addressOf("admin_host", `/servers/${name}`));
    const stop = async () => {
      await owner.press("button", `${server.stop} ${name}`);
      await owner.sees(isolate("alice"));
      await owner.press("button", server.stopServer);
      await owner.sees(start.stopHelp);
    };
    await stop();
    await owner.press("button", start.playOn);
    await owner.sees(start.goesOn(isolate(name)));
    await until(async () => (await statusOf(stack)).stopsAt === undefined);
    assert.equal((await statusOf(stack)).phase, "Running");
    await stop();
    await inspect(owner, "server-stop-notice");
  });

  test("a move of the world that failed is tried again", async () => {
    const { stack, owner, addressOf, inspect } = fixture();
    const isAsleep = async () => (await statusOf(stack)).phase === "Stopped";
    await until(isAsleep, 90_000, "the server to stop");
    await owner.open(addressOf("admin_host", `/servers/${name}/settings`));
    const list = await owner.page.waitForSelector(`::-p-aria([name="${settings.moveTo}"][role="combobox"])`);
    const [, target = ""] =
      (await list?.$$eval("option", (options) => options.map(({ value }) => value))) ?? [];
    await list?.select(target);
    await owner.press("button", settings.move);
    await owner.sees(settings.moveConfirm);
    await owner.page.locator("[role=alertdialog] button:last-of-type").click();
    const moveOf = async () => (await owner.request("GET", `/servers/${name}/migrations`)).body;
    await until(async () => (await moveOf())["id"] !== undefined, 30_000, "the move");
    // Somebody with rights in the cluster starts the server in the middle of it.
    await setSpec(stack, { desiredState: "Running" });
    await owner.sees(settings.moveFailed);
    await inspect(owner, "settings-move-failed");
    assert.equal((await moveOf())["state"], "failed");
    await setSpec(stack, { desiredState: "Stopped" });
    await until(isAsleep, 90_000, "the server to stop again");
    await owner.press("button", settings.retryMove);
    const source = String((await moveOf())["sourceNode"]);
    await until(async () => (await moveOf())["state"] === "succeeded", 120_000, "the move to end");
    await owner.sees(settings.moved(isolate(source), isolate(target)));
  });
};
