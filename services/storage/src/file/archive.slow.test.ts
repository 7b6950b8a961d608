// Packing files of a stopped world as a zip beside them, over the external face and with the shipped agent.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { AccessLimits, MemberRight } from "@svc/proto";
import { fileAudits } from "../testing/audit-assertions.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";

describe("an archive in a stopped world", () => {
  let fixture: FaceFixture;
  const inWorld = (path: string) => join(fixture.worldDir("survival"), path);
  before(async () => {
    fixture = await openFaceFixture();
    await fixture.start();
    await fixture.base.addServer("survival", "usr-1", {
      "level.dat": "one",
      "config/paper-global.yml": "secret: hush",
      "plugins/a.yml": "a",
      "plugins/b/c.yml": "c",
    });
  });
  after(() => fixture?.close());
  afterEach(() => {
    fixture.base.servers.owners.set("survival", "usr-1");
    fixture.base.servers.overrides.delete("survival");
  });
  const address = (path: string) => `/api/v1/servers/survival/files/archive?path=${encodeURIComponent(path)}`;
  const post = (names: unknown) => ({ method: "POST", json: { names } });
  const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
    fixture.base.servers.owners.set("survival", "usr-owner");
    const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
    fixture.base.servers.overrides.set("survival", { members: [member] });
  };

  test("the owner packs files, each once, and it is in the audit log with its outcome", async () => {
    const { status, body } = await fixture.ask(address("plugins/all.zip"), post(["a.yml", "b", "a.yml"]));
    assert.equal(status, 200, JSON.stringify(body));
    const { size } = statSync(inWorld("plugins/all.zip"));
    assert.deepEqual(body, {
      ...{ path: "plugins/all.zip", status: "archived", entries: 3, size },
      ...{ left_out_count: 0, left_out: [] },
    });
    execFileSync("unzip", ["-tq", inWorld("plugins/all.zip")]);
    const newest = async () => (await fileAudits(fixture.base, "survival")).at(-1);
    await until(async () => (await newest())?.action === "file.archive");
    const { payload, server_name } = (await newest()) ?? {};
    assert.deepEqual(
      [server_name, payload],
      ["survival:plugins/all.zip", { names: ["a.yml", "b"], outcome: "done" }],
    );
    assert.equal(await fixture.refusal(address("plugins/all.zip"), post(["a.yml"])), "409 file_exists");
  });

  test("what is left out is said", async () => {
    const { body } = await fixture.ask(address("c.zip"), post(["config"]));
    assert.deepEqual(
      [body["left_out_count"], body["left_out"]],
      [1, [{ path: "config/paper-global.yml", reason: "protected" }]],
    );
  });

  const refused: [fact: string, path: string, names: unknown, answer: string][] = [
    ["of nothing", "n.zip", [], "400 bad_request"],
    ["of an empty name", "n.zip", [""], "400 bad_request"],
    ["of something else than names", "n.zip", "plugins", "400 bad_request"],
    ["of too many names", "n.zip", Array.from({ length: 101 }, (_, at) => `f${at}`), "400 bad_request"],
    ["of a path", "n.zip", ["plugins/a.yml"], "400 bad_path"],
    ["of the folder itself", "plugins/n.zip", ["."], "400 bad_path"],
    ["of the folder above", "plugins/n.zip", [".."], "400 bad_path"],
    ["of a hidden name", "n.zip", [".svc-write-1"], "400 bad_path"],
    ["under another name", "n.tar", ["plugins"], "400 bad_path"],
    ["at the root itself", "", ["plugins"], "400 bad_path"],
    ["outside of the world", "../n.zip", ["plugins"], "400 bad_path"],
    ["of what is not there", "n.zip", ["nowhere"], "404 not_found"],
    ["in a folder that is not there", "nowhere/n.zip", ["a"], "404 not_found"],
  ];
  for (const [fact, path, names, answer] of refused)
    test(`${fact}: ${answer}, and nothing is made`, async () => {
      assert.equal(await fixture.refusal(address(path), post(names)), answer);
      assert.equal(existsSync(inWorld("n.zip")), false);
      assert.deepEqual(
        readdirSync(inWorld(".")).filter((name) => name.startsWith(".svc-")),
        [],
      );
    });

  test("a member reads and writes within its paths, and needs both rights", async () => {
    const within = { read_paths: ["plugins"], write_paths: ["plugins"] };
    share(["files.read", "files.write"], within);
    assert.equal((await fixture.ask(address("plugins/mine.zip"), post(["b"]))).status, 200);
    assert.equal(await fixture.refusal(address("n.zip"), post(["plugins"])), "403 path_not_shared");
    share(["files.read", "files.write"], { read_paths: ["plugins/a.yml"], write_paths: ["plugins"] });
    assert.equal(await fixture.refusal(address("plugins/n.zip"), post(["b"])), "403 path_not_shared");
    for (const right of ["files.read", "files.write"] as const) {
      share([right]);
      assert.equal(await fixture.refusal(address("plugins/n.zip"), post(["b"])), "403 forbidden");
    }
    assert.equal(existsSync(inWorld("plugins/n.zip")), false);
  });

  test("a server that runs is refused", async () => {
    fixture.base.servers.overrides.set("survival", { phase: "Running", stopped: false });
    assert.equal(await fixture.refusal(address("n.zip"), post(["plugins"])), "409 not_stopped");
  });
});
