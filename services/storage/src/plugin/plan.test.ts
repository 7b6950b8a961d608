import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { plugins } from "@svc/proto";
import type { Dependency, Version } from "./catalogue.ts";
import { isPossible, type Known, planInstall } from "./plan.ts";

const target = { loader: "paper" as const, game_version: "1.21.4" };
const version = (id: string, about: Partial<Version> = {}): Version => ({
  ...{ id, name: id, channel: "release", published_at: `2026-01-0${id.at(-1)}T00:00:00Z` },
  ...{ game_versions: ["1.21.4"], loaders: ["paper"], changelog: "", dependencies: [] },
  file: { name: `${id}.jar`, size: 10, url: "https://cdn.modrinth.com/x.jar", sha512: "a".repeat(128) },
  ...about,
});
const known = (id: string, ...versions: Version[]): [string, Known] => [
  id,
  {
    project: {
      ...{ source: "modrinth", id, title: id.toUpperCase(), summary: "", author: "", downloads: 0 },
      page_url: "https://modrinth.com/plugin/x",
    },
    versions,
  },
];
const needs = (
  project: string | null,
  kind: Dependency["kind"] = "required",
  pinned: string | null = null,
) => ({
  ...{ kind, project, version: pinned, title: project ?? "Elsewhere" },
});
const file = (
  path: string,
  about: Partial<plugins.PluginFile> = {},
  versionId = "a1",
): plugins.PluginFile => ({
  ...{ path, sha256: "0".repeat(64), size: 1, state: "as_installed" },
  record: {
    ...{ path, sha256: "0".repeat(64), source: "modrinth", project: path.at(8) ?? "", title: "T" },
    ...{ version: versionId, version_name: versionId, installed_at: "2026-01-01T00:00:00.000Z" },
  },
  ...about,
});
const byHand = (path: string): plugins.PluginFile => ({
  path,
  sha256: "1".repeat(64),
  size: 1,
  state: "by_hand",
});

type Case = {
  known: [string, Known][];
  installed?: plugins.PluginFile[];
  version?: string;
  items: string[];
  problems?: string[];
  possible?: "always" | "asked" | "never";
};
const cases: Record<string, Case> = {
  "the newest release that fits is chosen": {
    known: [known("a", version("a3", { channel: "beta" }), version("a2"), version("a1"))],
    items: ["chosen a2 plugins/a2.jar"],
  },
  "a beta is chosen where there is nothing else": {
    known: [known("a", version("a3", { channel: "beta" }))],
    items: ["chosen a3 plugins/a3.jar"],
  },
  "another version of the game is passed over": {
    known: [known("a", version("a2", { game_versions: ["1.20"] }), version("a1"))],
    items: ["chosen a1 plugins/a1.jar"],
  },
  "a version that is asked for and does not fit says why": {
    known: [known("a", version("a2", { game_versions: ["1.20"] }))],
    version: "a2",
    items: [],
    problems: ["game_version A no"],
    possible: "never",
  },
  "a mod is none for this server": {
    known: [known("a", version("a2", { loaders: ["fabric"] }))],
    version: "a2",
    items: [],
    problems: ["loader A no"],
    possible: "never",
  },
  "a file without a digest is not installed": {
    known: [known("a", version("a2", { file: null }))],
    version: "a2",
    items: [],
    problems: ["no_file A no"],
    possible: "never",
  },
  "plugins for Bukkit run on Paper": {
    known: [known("a", version("a2", { loaders: ["bukkit"] }))],
    items: ["chosen a2 plugins/a2.jar"],
  },
  "what it needs comes along, each once, also in a circle": {
    known: [
      known("a", version("a1", { dependencies: [needs("b"), needs("c")] })),
      known("b", version("b1", { dependencies: [needs("c"), needs("a")] })),
      known("c", version("c1")),
    ],
    items: ["chosen a1 plugins/a1.jar", "dependency b1 plugins/b1.jar", "dependency c1 plugins/c1.jar"],
  },
  "a pinned version of a dependency is taken": {
    known: [
      known("a", version("a1", { dependencies: [needs("b", "required", "b1")] })),
      known("b", version("b2"), version("b1")),
    ],
    items: ["chosen a1 plugins/a1.jar", "dependency b1 plugins/b1.jar"],
  },
  "what is there already is not installed again": {
    known: [known("a", version("a1", { dependencies: [needs("b")] }))],
    installed: [file("plugins/b.jar")],
    items: ["chosen a1 plugins/a1.jar"],
  },
  "what may be is left out": {
    known: [known("a", version("a1", { dependencies: [needs("b", "optional")] }))],
    items: ["chosen a1 plugins/a1.jar"],
  },
  "a dependency without a fitting version stops it": {
    known: [known("a", version("a1", { dependencies: [needs("b")] })), known("b")],
    items: ["chosen a1 plugins/a1.jar"],
    problems: ["no_version B no"],
    possible: "never",
  },
  "a dependency that is gone stops it": {
    known: [known("a", version("a1", { dependencies: [needs("b")] })), ["b", "none"]],
    items: ["chosen a1 plugins/a1.jar"],
    problems: ["no_version b no"],
    possible: "never",
  },
  "one that lies elsewhere is only said": {
    known: [known("a", version("a1", { dependencies: [needs(null)] }))],
    items: ["chosen a1 plugins/a1.jar"],
    problems: ["dependency_elsewhere Elsewhere yes"],
  },
  "a plugin that it does not go with stops it": {
    known: [known("a", version("a1", { dependencies: [needs("b", "incompatible")] }))],
    installed: [file("plugins/b.jar")],
    items: ["chosen a1 plugins/a1.jar"],
    problems: ["conflicts T no"],
    possible: "never",
  },
  "an update replaces the file under its old name": {
    known: [known("a", version("a2"), version("a1"))],
    installed: [file("plugins/a.jar")],
    items: ["chosen a2 plugins/a2.jar for plugins/a.jar"],
  },
  "what is installed as it should be is not installed again": {
    known: [known("a", version("a1"))],
    installed: [file("plugins/a.jar")],
    items: [],
    problems: ["already_installed A no"],
    possible: "never",
  },
  "what was deleted by hand comes back when it is asked for": {
    known: [known("a", version("a1"))],
    installed: [file("plugins/a.jar", { state: "missing", sha256: null })],
    items: ["chosen a1 plugins/a1.jar"],
  },
  "what was changed by hand is replaced only when that is said": {
    known: [known("a", version("a2"))],
    installed: [file("plugins/a.jar", { state: "changed", sha256: "2".repeat(64) })],
    items: ["chosen a2 plugins/a2.jar for plugins/a.jar"],
    problems: ["changed plugins/a.jar ask"],
    possible: "asked",
  },
  "a file that was put there by hand is never replaced": {
    known: [known("a", version("a1"))],
    installed: [byHand("plugins/a1.jar")],
    items: ["chosen a1 plugins/a1.jar"],
    problems: ["in_the_way plugins/a1.jar no"],
    possible: "never",
  },
  "a name that leads elsewhere is not taken": {
    known: [
      known(
        "a",
        version("a1", { file: { name: "../../a.jar", size: 1, url: "https://x.example/a", sha512: "b" } }),
      ),
    ],
    items: ["chosen a1 plugins/a-a1.jar"],
  },
  "two files of one name stop it": {
    known: [
      known("a", version("a1", { dependencies: [needs("b")], file: { name: "x.jar", size: 1, url: "u" } })),
      known("b", version("b1", { file: { name: "X.jar", size: 1, url: "u" } })),
    ],
    items: ["chosen a1 plugins/x.jar", "dependency b1 plugins/X.jar"],
    problems: ["in_the_way plugins/X.jar no"],
    possible: "never",
  },
};

describe("a plan", () => {
  for (const [fact, { known: all, installed = [], version: wanted, ...expected }] of Object.entries(cases))
    test(fact, () => {
      const planned = planInstall({
        ...{ source: "modrinth", wanted: { project: "a", version: wanted }, target, installed },
        known: new Map(all),
      });
      assert.ok(!("missing" in planned), JSON.stringify(planned));
      const { items, problems } = planned;
      assert.deepEqual(
        items.map(({ reason, version: id, path, replaces }) =>
          [reason, id, path, ...(replaces ? ["for", replaces.path] : [])].join(" "),
        ),
        expected.items,
      );
      assert.deepEqual(
        problems.map(({ code, about, goes_on }) => `${code} ${about} ${goes_on}`),
        expected.problems ?? [],
      );
      const { possible = "always" } = expected;
      assert.equal(isPossible(planned, false), possible === "always");
      assert.equal(isPossible(planned, true), possible !== "never");
    });

  test("names what it does not know yet", () => {
    const about = { source: "modrinth" as const, wanted: { project: "a" }, target, installed: [] };
    assert.deepEqual(planInstall({ ...about, known: new Map() }), { missing: "a" });
    const first = new Map([known("a", version("a1", { dependencies: [needs("b")] }))]);
    assert.deepEqual(planInstall({ ...about, known: first }), { missing: "b" });
  });

  test("has an end", () => {
    const all = Array.from({ length: 40 }, (_, n) =>
      known(n === 0 ? "a" : `p${n}`, version(`v${n}`, { dependencies: [needs(`p${n + 1}`)] })),
    );
    const planned = planInstall({
      ...{ source: "modrinth", wanted: { project: "a" }, target, installed: [], known: new Map(all) },
    });
    assert.ok(!("missing" in planned));
    assert.equal(planned.items.length, 30);
    assert.deepEqual(
      planned.problems.map(({ code }) => code),
      ["too_many"],
    );
  });
});
