// kill -9 at every step of an installation of two plugins that replaces a third.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before } from "node:test";
import { killPoint } from "@svc/config/testing";
import type { files } from "@svc/proto";
import { assertAudited } from "../testing/audit-assertions.ts";
import { jarOf, openCatalogueServer } from "../testing/catalogue-server.ts";
import { all, asked, core, describeKillPoints, ended, type StepVictims } from "../testing/kill-points.ts";
import { assertOnlyRetryable, createRetryingClient, retryUntil } from "../testing/retrying-client.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;
const installing: StepVictims[] = [
  { step: "the session is written", victims: asked },
  { step: "the change is admitted", victims: asked },
  { step: "the operation is written", victims: core },
  { step: "bytes of a part are written", victims: core },
  { step: "a part is synced", victims: core },
  { step: "the token is written", victims: core },
  { step: "the lock is taken", victims: core },
  { step: "the lock is released", victims: core },
  { step: "the token is spent", victims: all },
  { step: "the session is removed", victims: all },
  { step: "the operation is ended", victims: core },
  { step: "the change is settled", victims: core },
];

const target = { source: "modrinth", project: "Towers", loader: "paper", game_version: "1.21.4" };
const old = "the old one";
const oldWorld = {
  "level.dat": "one",
  "plugins/Towers-One.jar": old,
  ".svc/plugins.json": JSON.stringify({
    ...{ loader: "paper", game_version: "1.21.4" },
    plugins: [
      {
        ...{ path: "plugins/Towers-One.jar", sha256: createHash("sha256").update(old).digest("hex") },
        ...{ source: "modrinth", project: "Towers", title: "Towers", version: "One", version_name: "one" },
        installed_at: "2026-01-01T00:00:00.000Z",
      },
    ],
  }),
};
const newWorld = {
  "level.dat": "one",
  "plugins/Library-Lib1.jar": jarOf("Library-Lib1").toString("utf8"),
  "plugins/Towers-Two.jar": jarOf("Towers-Two").toString("utf8"),
};

/** Without what the next change of the world removes; and without the record, whose times differ. */
function visible(tree: Record<string, string>) {
  const shown = Object.entries(tree).filter(([path]) => !path.startsWith(".svc"));
  return Object.fromEntries(shown.sort());
}

let catalogue: Awaited<ReturnType<typeof openCatalogueServer>>;
before(async () => {
  catalogue = await openCatalogueServer();
  catalogue.release("Library", { id: "Lib1", day: 1 });
  catalogue.release("Towers", { id: "One", day: 1 });
  catalogue.release("Towers", {
    ...{ id: "Two", day: 2 },
    needs: [{ project_id: "Library", dependency_type: "required" }],
  });
});
after(() => catalogue?.close());

describeKillPoints("an installation of plugins", (count) => killPoint(count, 23), {
  settings: () => catalogue.settings,
  fill: ({ fixture, newServer, killAt, assertNothingLeft, table }) => {
    table("all of it is installed, at the latest after a second try", installing, async (point) => {
      const server = await newServer(oldWorld);
      const client = createRetryingClient(fixture());
      const place = `/api/v1/servers/${server}/plugins`;
      const now = () => visible(readFiles(fixture().worldDir(server)));
      const isDone = () => JSON.stringify(now()) === JSON.stringify(visible(newWorld));
      const installOnce = () =>
        retryUntil(client, "the installation", async () => {
          const plan = await client.ask(`${place}/plan`, { method: "POST", json: target });
          if (plan?.status !== 200) return undefined;
          const json = { ...target, plan: plan.body["digest"] };
          const answer = await client.ask(`${place}/install`, { method: "POST", json });
          if (answer?.status === 409 && isDone()) return "unknown" as const;
          if (answer?.status !== 202) return undefined;
          return ended(client, server, (answer.body["op"] as Op).id);
        });
      await killAt({ ...point, client }, async () => {
        await retryUntil(client, "the plugins", async () => {
          await installOnce();
          const tree = now();
          assert.ok(
            [oldWorld, newWorld].some((one) => JSON.stringify(visible(one)) === JSON.stringify(tree)),
            Object.keys(tree).join(),
          );
          return isDone() ? true : undefined;
        });
      });
      // A request whose answer was cut may have begun the installation already.
      assertOnlyRetryable(client, /^(429 too_many_uploads|409 plan_(refused|changed))$/);
      await assertNothingLeft(server);
      const { ".svc/plugins.json": record = "" } = readFiles(fixture().worldDir(server));
      assert.deepEqual(
        (JSON.parse(record) as { plugins: { path: string }[] }).plugins.map(({ path }) => path),
        ["plugins/Library-Lib1.jar", "plugins/Towers-Two.jar"],
      );
      await assertAudited(fixture().base, { server, action: "plugin.install", isChanged: true });
    });
  },
});
