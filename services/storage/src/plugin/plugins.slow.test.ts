// Plugins of a stopped world over the external face, with the shipped agent, from recorded catalogues that also lie.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { until } from "@svc/mesh/testing";
import type { AccessLimits, files, MemberRight, plugins } from "@svc/proto";
import { fileAudits } from "../testing/audit-assertions.ts";
import { jarOf, openCatalogueServer } from "../testing/catalogue-server.ts";
import { type FaceFixture, openFaceFixture } from "../testing/face-fixture.ts";
import type { Replica } from "../testing/fixture.ts";
import { readFiles } from "../testing/worlds.ts";

type Op = files.FileOp;
type Plan = { items: plugins.PlanItem[]; problems: plugins.PlanProblem[]; digest: string };
type Listed = {
  files: plugins.PluginFile[];
  loader: string | null;
  game_version: string | null;
  catalogues: string[];
};
const base = "/api/v1/servers/survival/plugins";
const target = { loader: "paper", game_version: "1.21.4" };
const at = `loader=paper&game_version=1.21.4`;

describe("plugins of a stopped server", () => {
  let fixture: FaceFixture;
  let replica: Replica;
  let catalogue: Awaited<ReturnType<typeof openCatalogueServer>>;
  before(async () => {
    fixture = await openFaceFixture();
    catalogue = await openCatalogueServer();
    catalogue.release("Library", { id: "Lib1", day: 1 });
    catalogue.release("Towers", { id: "One", day: 1 });
    replica = await fixture.start([
      ...catalogue.settings,
      "storage.file_op_settle=50ms",
      "storage.transfer_stall=2s",
    ]);
    await fixture.base.addServer("survival", "usr-1", {
      "level.dat": "one",
      "plugins/hand.jar": "by hand",
      "config/paper-global.yml": "a: 1",
      "version_history.json": '{"currentVersion":"1.21.4-1-a (MC: 1.21.4)"}',
    });
  });
  after(async () => {
    await replica?.stop();
    await catalogue?.close();
    await fixture?.close();
  });
  afterEach(() => {
    fixture.base.servers.owners.set("survival", "usr-1");
    fixture.base.servers.overrides.delete("survival");
  });
  const world = () => fixture.worldDir("survival");
  const get = async <T>(place: string): Promise<T> => {
    const { status, body } = await fixture.ask(`${base}${place}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as T;
  };
  const list = () => get<Listed>("");
  const stateOf = async () =>
    Object.fromEntries((await list()).files.map(({ path, state }) => [path, state]));
  const post = (json: object) => ({ method: "POST", json });
  const planOf = async (choice: object): Promise<Plan> => {
    const { status, body } = await fixture.ask(
      `${base}/plan`,
      post({ ...target, source: "modrinth", ...choice }),
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body as Plan;
  };
  const end = async (id: string) => {
    const find = async () => {
      const { body } = await fixture.ask("/api/v1/servers/survival/files/ops");
      return (body["ops"] as Op[]).find((op) => op.id === id);
    };
    await until(async () => (await find())?.state !== "running", 20_000);
    return (await find()) as Op;
  };
  const begin = async (choice: object, about: object = {}) => {
    const { digest } = await planOf(choice);
    return fixture.ask(
      `${base}/install`,
      post({ ...target, source: "modrinth", ...choice, plan: digest, ...about }),
    );
  };
  const install = async (choice: object, about: object = {}) => {
    const { status, body } = await begin(choice, about);
    assert.equal(status, 202, JSON.stringify(body));
    return end((body["op"] as Op).id);
  };
  const codeOf = ({ status, body }: Awaited<ReturnType<typeof begin>>) =>
    `${status} ${(body["error"] as { code?: string } | undefined)?.code ?? ""}`;
  /** Answers are kept for a while, so what changed in a catalogue is seen by a new replica. */
  const forget = async (settings: readonly string[] = []) => {
    await replica.stop();
    const all = [
      ...catalogue.settings,
      "storage.file_op_settle=50ms",
      "storage.transfer_stall=2s",
      ...settings,
    ];
    replica = await fixture.start(all);
  };

  test("what lies there is listed, with what the server runs and which catalogues there are", async () => {
    const { files: listed, ...about } = await list();
    assert.deepEqual(
      listed.map(({ path, state }) => [path, state]),
      [["plugins/hand.jar", "by_hand"]],
    );
    assert.deepEqual(about, {
      ...{ truncated: false, loader: "paper", game_version: "1.21.4", catalogues: ["modrinth", "hangar"] },
    });
  });

  test("both catalogues are searched, and what strangers wrote is made harmless", async () => {
    const found = await get<{ projects: plugins.PluginProject[]; total: number }>(
      `/search?source=modrinth&text=tow&${at}`,
    );
    assert.equal(found.total, 1);
    assert.deepEqual(found.projects[0], {
      ...{ source: "modrinth", id: "Towers", title: "Towers <b>", summary: "Makes towers", author: "Ada" },
      ...{ downloads: 1_200, page_url: "https://modrinth.com/plugin/towers" },
    });
    const asked = new URL(
      catalogue.asked.find((path) => path.startsWith("/modrinth/v2/search")) ?? "",
      "http://a",
    );
    assert.deepEqual(JSON.parse(asked.searchParams.get("facets") ?? "").slice(0, 2), [
      ["categories:paper", "categories:spigot", "categories:bukkit"],
      ["versions:1.21.4"],
    ]);
    const count = catalogue.asked.length;
    await get(`/search?source=modrinth&text=tow&${at}`);
    assert.equal(catalogue.asked.length, count, "the answer was kept");
    const walls = await get<{ projects: plugins.PluginProject[] }>(`/search?source=hangar&${at}`);
    assert.deepEqual(
      walls.projects.map(({ id }) => id),
      ["Walls"],
    );
    const mods = await get<{ projects: object[] }>("/search?source=hangar&loader=fabric&game_version=1.21.4");
    assert.deepEqual(mods.projects, []);
  });

  test("versions come with their changelog, and with why they cannot be installed", async () => {
    const { versions } = await get<{ versions: plugins.PluginVersion[] }>(
      `/versions?source=hangar&project=Walls&${at}`,
    );
    assert.deepEqual(
      versions.map(({ id, why_not, changelog }) => [id, why_not, changelog]),
      [
        ["1.1", "no_file", "First release"],
        ["1.0", null, "First release"],
      ],
    );
    const other = "loader=paper&game_version=1.20.6";
    const found = await get<{ versions: plugins.PluginVersion[] }>(
      `/versions?source=modrinth&project=Towers&${other}`,
    );
    assert.deepEqual(
      found.versions.map(({ why_not }) => why_not),
      ["game_version"],
    );
    assert.equal(
      await fixture.refusal(`${base}/versions?source=modrinth&project=Nothing&${at}`),
      "404 plugin_not_found",
    );
  });

  test("a plugin is installed as planned, and it is recorded and in the audit log", async () => {
    const { items, problems } = await planOf({ project: "Towers" });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      items.map(({ path, reason, replaces }) => [path, reason, replaces]),
      [["plugins/Towers-One.jar", "chosen", null]],
    );
    const op = await install({ project: "Towers" });
    assert.equal(op.state, "succeeded", JSON.stringify(op));
    assert.ok(readFileSync(join(world(), "plugins/Towers-One.jar")).equals(jarOf("Towers-One")));
    assert.deepEqual(await stateOf(), {
      "plugins/Towers-One.jar": "as_installed",
      "plugins/hand.jar": "by_hand",
    });
    await until(async () => (await fileAudits(fixture.base, "survival")).at(-1)?.action === "plugin.install");
    const { payload, server_name } = (await fileAudits(fixture.base, "survival")).at(-1) ?? {};
    assert.equal(server_name, "survival:plugins");
    assert.deepEqual([payload?.["outcome"], payload?.["plugins"]], ["done", ["Towers One"]]);
    assert.equal(codeOf(await begin({ project: "Towers" })), "409 plan_refused");
    await until(() => readdirSync(fixture.stagingDir).length === 0, 20_000);
  });

  test("an update brings what it needs, replaces the old file, and is announced with its changelog", async () => {
    catalogue.release("Towers", {
      ...{ id: "Two", day: 2 },
      needs: [
        { project_id: "Library", dependency_type: "required" },
        { project_id: null, dependency_type: "required", file_name: "Elsewhere.jar" },
      ],
    });
    await forget();
    type Updates = { updates: { path: string; version: plugins.PluginVersion }[]; unknown: string[] };
    const { updates, unknown } = await get<Updates>(`/updates?${at}`);
    assert.deepEqual(
      updates.map(({ path, version: { id, changelog } }) => [path, id, changelog]),
      [["plugins/Towers-One.jar", "Two", "What is new in\n**Two**"]],
    );
    assert.deepEqual(unknown, []);
    const { problems } = await planOf({ project: "Towers", version: "Two" });
    assert.deepEqual(problems, [{ code: "dependency_elsewhere", about: "Elsewhere.jar", goes_on: "yes" }]);
    const op = await install({ project: "Towers", version: "Two" });
    assert.equal(op.state, "succeeded", JSON.stringify(op));
    assert.deepEqual(await stateOf(), {
      ...{ "plugins/Library-Lib1.jar": "as_installed", "plugins/Towers-Two.jar": "as_installed" },
      "plugins/hand.jar": "by_hand",
    });
  });

  test("what was changed by hand is replaced only when that is said, and what was shown is what is installed", async () => {
    writeFileSync(join(world(), "plugins/Towers-Two.jar"), "changed");
    assert.equal((await stateOf())["plugins/Towers-Two.jar"], "changed");
    const choice = { project: "Towers", version: "Two" };
    assert.equal(codeOf(await begin(choice)), "409 plan_refused");
    const { digest } = await planOf(choice);
    writeFileSync(join(world(), "plugins/Towers-Two.jar"), "changed again");
    const late = await fixture.ask(
      `${base}/install`,
      post({ ...target, source: "modrinth", ...choice, plan: digest }),
    );
    assert.equal(codeOf(late), "409 plan_changed");
    assert.equal(readFileSync(join(world(), "plugins/Towers-Two.jar"), "utf8"), "changed again");
    assert.equal((await install(choice, { replace_changed: true })).state, "succeeded");
    assert.equal((await stateOf())["plugins/Towers-Two.jar"], "as_installed");
  });

  test("a plugin is removed with its record, and only as it was listed", async () => {
    const { files: listed } = await list();
    const { sha256 } = listed.find(({ path }) => path === "plugins/Library-Lib1.jar") ?? {};
    const about = (json: object) => post({ path: "plugins/Library-Lib1.jar", ...json });
    assert.equal(
      await fixture.refusal(`${base}/remove`, about({ expect_sha256: "0".repeat(64) })),
      "409 file_changed",
    );
    assert.equal(await fixture.refusal(`${base}/remove`, about({})), "409 file_changed");
    assert.equal((await fixture.ask(`${base}/remove`, about({ expect_sha256: sha256 }))).status, 200);
    assert.ok(!existsSync(join(world(), "plugins/Library-Lib1.jar")));
    rmSync(join(world(), "plugins/Towers-Two.jar"));
    assert.equal((await stateOf())["plugins/Towers-Two.jar"], "missing");
    assert.equal((await fixture.ask(`${base}/remove`, post({ path: "plugins/Towers-Two.jar" }))).status, 200);
    assert.deepEqual(await stateOf(), { "plugins/hand.jar": "by_hand" });
    assert.equal(await fixture.refusal(`${base}/remove`, post({ path: "level.dat" })), "400 bad_path");
  });

  const lies: [what: string, about: object, code: string][] = [
    ["another digest", { claims: { sha512: "0".repeat(128) } }, "digest_mismatch"],
    ["another size", { claims: { size: 10 } }, "digest_mismatch"],
    ["no plugin in it", { file: Buffer.from("a text") }, "archive_invalid"],
  ];
  for (const [index, [what, about, code]] of lies.entries())
    test(`a file with ${what} is not installed, nor anything that comes with it`, async () => {
      const project = `Lie${index}`;
      catalogue.release(project, { id: "Bad", day: 1, ...about });
      const id = `Good${index}`;
      catalogue.release(id, {
        id: "Fine",
        day: 1,
        needs: [{ project_id: project, dependency_type: "required" }],
      });
      const was = readFiles(world());
      const op = await install({ project: id });
      assert.deepEqual([op.state, op.error?.code], ["failed", code], JSON.stringify(op));
      assert.deepEqual(readFiles(world()), was);
      await until(() => readdirSync(fixture.stagingDir).length === 0, 20_000);
    });

  test("Hangar's plugins are installed as well", async () => {
    const choice = { source: "hangar", project: "Walls" };
    const op = await install(choice);
    assert.equal(op.state, "succeeded", JSON.stringify(op));
    assert.equal((await stateOf())["plugins/Walls.jar"], "as_installed");
  });

  const away: Record<string, (response: import("node:http").ServerResponse) => void> = {
    "answers with an error": (response) => void response.writeHead(500).end(),
    "limits us": (response) => void response.writeHead(429).end(),
    "answers with no JSON": (response) => void response.writeHead(200).end("<html>"),
    "answers with something else": (response) => void response.writeHead(200).end('{"hits":1}'),
    "answers without an end": (response) => {
      response.writeHead(200);
      const more = () => response.destroyed || response.write("x".repeat(100_000), () => setImmediate(more));
      more();
    },
    redirects: (response) => void response.writeHead(302, { location: "http://169.254.169.254/" }).end(),
    "breaks off": (response) => void response.destroy(),
  };
  for (const [what, answer] of Object.entries(away))
    test(`a catalogue that ${what} is 503`, async () => {
      const project = what.replaceAll(" ", "");
      catalogue.put(`/modrinth/v2/project/${project}`, (_request, response) => answer(response));
      const place = `${base}/versions?source=modrinth&project=${project}&${at}`;
      const { status, body, headers } = await fixture.ask(place);
      assert.deepEqual([status, (body["error"] as { code: string }).code], [503, "catalogue_unavailable"]);
      assert.ok(Number(headers.get("retry-after")) > 0);
    });

  const bad = [
    "/search?source=other&loader=paper&game_version=1",
    "/search?source=modrinth&loader=velocity&game_version=1",
    "/search?source=modrinth&loader=paper",
    "/versions?source=modrinth&project=..%2F..&loader=paper&game_version=1",
    "/versions?source=modrinth&project=a&loader=paper&game_version=1%22",
  ];
  for (const place of bad)
    test(`${place} is 400`, async () =>
      assert.equal(await fixture.refusal(`${base}${place}`), "400 bad_request"));

  test("rights of members hold, and others see nothing", async () => {
    const share = (given: readonly MemberRight[], limits?: AccessLimits) => {
      fixture.base.servers.owners.set("survival", "usr-owner");
      const member = { user_id: "usr-1", rights: [...given], ...(limits && { limits }) };
      fixture.base.servers.overrides.set("survival", { members: [member] });
    };
    share(["files.read"]);
    await list();
    const choice = post({ ...target, source: "modrinth", project: "Library" });
    assert.equal(await fixture.refusal(`${base}/plan`, choice), "403 forbidden");
    share(["files.read", "files.write"], { read_paths: ["world"], write_paths: ["world"] });
    assert.deepEqual((await list()).files, []);
    assert.equal(await fixture.refusal(`${base}/plan`, choice), "403 path_not_shared");
    assert.equal(
      await fixture.refusal(`${base}/remove`, post({ path: "plugins/hand.jar" })),
      "403 path_not_shared",
    );
    share([]);
    for (const place of [
      "",
      `/search?source=modrinth&${at}`,
      `/versions?source=modrinth&project=Towers&${at}`,
    ])
      assert.equal(await fixture.refusal(`${base}${place}`), "403 forbidden");
  });

  test("an account has a budget of questions, and a catalogue can be off", async () => {
    await forget(["storage.plugin_questions=1", "storage.hangar_url="]);
    await get(`/search?source=modrinth&text=a&${at}`);
    assert.equal(
      await fixture.refusal(`${base}/search?source=modrinth&text=b&${at}`),
      "429 catalogue_rate_limited",
    );
    await get(`/search?source=modrinth&text=a&${at}`);
    assert.equal(await fixture.refusal(`${base}/search?source=hangar&${at}`), "403 catalogue_disabled");
    assert.deepEqual((await list()).catalogues, ["modrinth"]);
  });
});
