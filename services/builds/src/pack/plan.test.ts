import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { loadSettings } from "@svc/config";
import { isFault } from "@svc/proto";
import { settings as schema } from "../config.ts";
import { type GivenPack, planPack } from "./plan.ts";
import { formatOf } from "./source.ts";
import { renderTemplate } from "./template.ts";

const bases = [
  "fabric/1.21.4=svc/fabric:1.21.4",
  "fabric/*=svc/fabric:any",
  "forge/1.20.1=ghcr.io/example/forge:1.20.1",
  "vanilla/1.21.4=svc/demo-server:1.21.4",
];
const settingsOf = (...more: string[]) =>
  loadSettings(schema, {
    overrides: ["registry.url=registry.example:5000", `builds.pack_bases=${JSON.stringify(bases)}`, ...more],
  });

const hashes = { sha1: "c".repeat(40), sha512: "d".repeat(128) };
const mod = (path: string, more: Record<string, unknown> = {}) => ({
  ...{ path, hashes, fileSize: 1_000 },
  downloads: [`https://cdn.modrinth.com/data/AANobbMI/versions/kLc5Oxr4/${path.split("/").at(-1)}`],
  ...more,
});
const indexOf = (files: unknown[], more: Record<string, unknown> = {}) => ({
  ...{ formatVersion: 1, game: "minecraft", versionId: "6.2.0", name: "Adrenaline", files },
  dependencies: { minecraft: "1.21.4", "fabric-loader": "0.16.9" },
  ...more,
});
const given = (index: unknown, paths: readonly string[] = [], format: GivenPack["format"] = "modrinth") => ({
  format,
  index: typeof index === "string" ? index : JSON.stringify(index),
  packed: paths.map((path) => ({ path, size: 10 })),
  sourceSha256: "a".repeat(64),
});
const plan = (index: unknown, paths?: readonly string[], ...overrides: string[]) =>
  planPack(given(index, paths), settingsOf(...overrides));

describe("a pack of Modrinth", () => {
  // As packwiz and the launcher of Modrinth write them.
  const real = indexOf([
    mod("mods/sodium-fabric-0.6.5+mc1.21.4.jar", {
      env: { client: "required", server: "unsupported" },
      downloads: [
        "https://cdn.modrinth.com/data/AANobbMI/versions/c3YkZvne/sodium-fabric-0.6.5%2Bmc1.21.4.jar",
      ],
    }),
    mod("mods/lithium-fabric-0.14.3+mc1.21.4.jar", { env: { client: "optional", server: "optional" } }),
    mod("mods/ferritecore-7.1.1-fabric.jar", { env: { client: "required", server: "required" } }),
    mod("./config//simple/pack.zip", {
      hashes: { ...hashes, sha512: "D".repeat(128), md5: "x" },
      downloads: [
        "http://example.net/pack.zip",
        "https://mirror.example.net/pack.zip",
        "https://github.com/example/pack/releases/download/v1/pack.zip",
      ],
    }),
    mod("config/replaced.json"),
  ]);
  const paths = [
    "modrinth.index.json",
    "icon.png",
    "overrides/server.properties",
    "overrides/config/replaced.json",
    "overrides/config/both.toml",
    "server-overrides/config/both.toml",
    "client-overrides/options.txt",
    "overridesx/other",
  ];

  test("becomes the operator's Dockerfile, its downloads for a server, and the files that it brings", () => {
    const { plan: planned, dockerfile, files } = plan(real, paths);
    assert.equal(
      dockerfile,
      'FROM registry.example:5000/svc/fabric:1.21.4\nLABEL svc.internal/pack-loader="fabric 0.16.9" svc.internal/pack-minecraft="1.21.4"\nCOPY server/ /data/\n',
    );
    assert.deepEqual(files, [
      { path: "server/config/both.toml", from: "server-overrides/config/both.toml" },
      { path: "server/config/replaced.json", from: "overrides/config/replaced.json" },
      { path: "server/server.properties", from: "overrides/server.properties" },
    ]);
    const { downloads, left_out, ...summary } = planned;
    assert.deepEqual(summary, {
      ...{ format: "modrinth", name: "Adrenaline", version: "6.2.0", loader: "fabric" },
      ...{ loader_version: "0.16.9", minecraft: "1.21.4", source_sha256: "a".repeat(64) },
      base_image: "registry.example:5000/svc/fabric:1.21.4",
    });
    assert.deepEqual(left_out, [
      { path: "mods/sodium-fabric-0.6.5+mc1.21.4.jar", reason: "client" },
      { path: "config/replaced.json", reason: "replaced" },
    ]);
    assert.deepEqual(
      downloads.map(({ path }) => path),
      [
        "config/simple/pack.zip",
        "mods/ferritecore-7.1.1-fabric.jar",
        "mods/lithium-fabric-0.14.3+mc1.21.4.jar",
      ],
    );
    assert.deepEqual(downloads[0], {
      ...{ path: "config/simple/pack.zip", size: 1_000, ...hashes },
      urls: ["https://github.com/example/pack/releases/download/v1/pack.zip"],
    });
  });
  test("has the same plan whatever the order of its files", () => {
    const turned = { ...real, files: real.files.toReversed() };
    const [one, other] = [plan(real, paths), plan(turned, paths.toReversed())];
    assert.deepEqual(other.files, one.files);
    assert.deepEqual(other.plan.downloads, one.plan.downloads);
  });
  test("takes the base of its loader and version, then that of every version", () => {
    const baseOf = (dependencies: Record<string, string>) =>
      plan(indexOf([mod("a")], { dependencies })).plan.base_image;
    assert.equal(
      baseOf({ minecraft: "1.19.2", "fabric-loader": "0.14" }),
      "registry.example:5000/svc/fabric:any",
    );
    assert.equal(baseOf({ minecraft: "1.20.1", forge: "47.2.0" }), "ghcr.io/example/forge:1.20.1");
    assert.equal(baseOf({ minecraft: "1.21.4" }), "registry.example:5000/svc/demo-server:1.21.4");
  });

  const many = Array.from({ length: 100_000 }, (_, at) => mod(`mods/${at}.jar`));
  const refused: [fact: string, index: () => unknown, message: RegExp, paths?: string[]][] = [
    ["that is not JSON", () => "{", /modrinth\.index\.json is not JSON/],
    ["of another format version", () => indexOf([], { formatVersion: 2 }), /formatVersion/],
    ["of another game", () => indexOf([], { game: "hytale" }), /game/],
    ["without files for a server", () => indexOf([]), /no file for a server/],
    [
      "of client files alone",
      () => indexOf([mod("a", { env: { client: "required", server: "unsupported" } })]),
      /no file/,
    ],
    [
      "without Minecraft",
      () => indexOf([mod("a")], { dependencies: {} }),
      /dependencies\.minecraft is missing/,
    ],
    [
      "with two loaders",
      () => indexOf([mod("a")], { dependencies: { minecraft: "1.21.4", forge: "1", neoforge: "2" } }),
      /at most one of/,
    ],
    [
      "with a loader that nobody knows",
      () => indexOf([mod("a")], { dependencies: { minecraft: "1.21.4", constructor: "1" } }),
      /not constructor/,
    ],
    [
      "for which the operator has no base",
      () => indexOf([mod("a")], { dependencies: { minecraft: "1.21.4", "quilt-loader": "0.26" } }),
      /no base image for quilt on Minecraft 1\.21\.4; the operator has set up fabric 1\.21\.4, fabric \*/,
    ],
    [
      "with a version that would end a line of the Dockerfile",
      () => indexOf([mod("a")], { dependencies: { minecraft: '1.21.4"\nRUN x' } }),
      /dependencies\.minecraft: must be a version/,
    ],
    ["with a path that goes up", () => indexOf([mod("mods/../../x")]), /must not go up/],
    ["with an absolute path", () => indexOf([mod("/etc/passwd")]), /relative path/],
    ["with a drive", () => indexOf([mod("C:\\mods\\x.jar")]), /relative path/],
    ["with backslashes", () => indexOf([mod("mods\\..\\x.jar")]), /relative path/],
    ["with a control character", () => indexOf([mod("mods/a\u001b[2J")]), /control character/],
    ["with a path of the platform", () => indexOf([mod("a/.svc-x")]), /belongs to the platform/],
    ["with a folder as a file", () => indexOf([mod("mods/")]), /has no name/],
    ["with an empty path", () => indexOf([mod(".")]), /has no name/],
    [
      "with a path that is too long",
      () => indexOf([mod("a/".repeat(2_100))]),
      /has no name|longer than 4096/,
    ],
    ["with a name that is too long", () => indexOf([mod("n".repeat(256))]), /longer than 255/],
    [
      "with one path twice",
      () => indexOf([mod("mods/a"), mod("mods//a")]),
      /an entry of that path was there before/,
    ],
    [
      "with a file below a file",
      () => indexOf([mod("mods"), mod("mods/a")]),
      /below an entry that is not a folder/,
    ],
    ["with a file below an override", () => indexOf([mod("mods/a")]), /below an entry/, ["overrides/mods"]],
    ["without SHA-512", () => indexOf([mod("a", { hashes: { sha1: hashes.sha1 } })]), /hashes\.sha512/],
    [
      "with a hash of another length",
      () => indexOf([mod("a", { hashes: { ...hashes, sha512: "ab" } })]),
      /128 hexadecimal digits/,
    ],
    ["with a size below zero", () => indexOf([mod("a", { fileSize: -1 })]), /fileSize/],
    ["with a size that is not a number", () => indexOf([mod("a", { fileSize: "1" })]), /fileSize/],
    ["with a size that is not exact", () => indexOf([mod("a", { fileSize: 2 ** 60 })]), /fileSize/],
    [
      "with more bytes than allowed",
      () => indexOf([mod("a", { fileSize: 2 ** 31 }), mod("b", { fileSize: 1 })]),
      /downloads 2147483649 bytes; at most 2147483648/,
    ],
    ["with more files than allowed", () => indexOf(many), /downloads 100000 files; at most 2000/],
    ["without an address", () => indexOf([mod("a", { downloads: [] })]), /downloads/],
    [
      "from a host that is not allowed",
      () => indexOf([mod("a", { downloads: ["https://edge.forgecdn.net/files/1/2/a"] })]),
      /"a" comes from https:\/\/edge\.forgecdn\.net; builds download with https from cdn\.modrinth\.com/,
    ],
    [
      "without TLS",
      () => indexOf([mod("a", { downloads: ["http://cdn.modrinth.com/a"] })]),
      /comes from http:\/\/cdn\.modrinth\.com/,
    ],
    [
      "from another port",
      () => indexOf([mod("a", { downloads: ["https://cdn.modrinth.com:8443/a"] })]),
      /comes from https:\/\/cdn\.modrinth\.com:8443/,
    ],
    [
      "with a password in the address",
      () => indexOf([mod("a", { downloads: ["https://a:b@cdn.modrinth.com/a"] })]),
      /comes from/,
    ],
    ["from no address", () => indexOf([mod("a", { downloads: ["mods/a.jar"] })]), /comes from no address/],
  ];
  for (const [fact, index, message, packed] of refused)
    test(`${fact} is refused`, () => {
      assert.throws(
        () => plan(index(), packed),
        (error: Error) => {
          assert.ok(isFault(error) && error.fault === "bad_request", String(error));
          assert.match(error.message, message);
          assert.ok(error.message.length < 1_000, error.message);
          return true;
        },
      );
    });
});

describe("a pack of CurseForge", () => {
  const manifest = (more: Record<string, unknown> = {}) => ({
    minecraft: { version: "1.20.1", modLoaders: [{ id: "forge-47.2.0", primary: true }] },
    ...{ manifestType: "minecraftModpack", manifestVersion: 1, name: "Create", version: "1.2", author: "x" },
    ...{ files: [], overrides: "overrides" },
    ...more,
  });
  const read = (index: unknown, paths = ["overrides/mods/create.jar"]) =>
    planPack(given(index, paths, "curseforge"), settingsOf());

  test("that brings its files becomes the operator's Dockerfile", () => {
    const { plan: planned, files } = read(manifest());
    assert.deepEqual(files, [{ path: "server/mods/create.jar", from: "overrides/mods/create.jar" }]);
    assert.deepEqual(
      [planned.loader, planned.loader_version, planned.base_image, planned.downloads],
      ["forge", "47.2.0", "ghcr.io/example/forge:1.20.1", []],
    );
  });
  test("that names files by their ids is refused with those that it must bring", () => {
    const files = Array.from({ length: 12 }, (_, at) => ({ projectID: 238_222, fileID: at, required: true }));
    assert.throws(() => read(manifest({ files })), {
      message:
        /names 12 files .* project 238222 file 0, .* and 2 more\. Put them into overrides\/mods of the zip .*\.mrpack/,
    });
    assert.equal(read(manifest({ files: [{ ...files[0], required: false }] })).files.length, 1);
  });
  test("with a loader that nobody knows, or of another kind, is refused", () => {
    const minecraft = { version: "1.20.1", modLoaders: [{ id: "liteloader-1", primary: true }] };
    assert.throws(() => read(manifest({ minecraft })), { message: /"liteloader-1" is not a LOADER-VERSION/ });
    assert.throws(() => read(manifest({ manifestType: "resourcepack" })), { message: /manifestType/ });
  });
});

test("a zip is known by what is at its root", () => {
  assert.equal(formatOf(new Set(["modrinth.index.json", "manifest.json"])), "modrinth");
  assert.equal(formatOf(new Set(["manifest.json"])), "curseforge");
  assert.throws(() => formatOf(new Set(["pack/manifest.json"])), { message: /modrinth\.index\.json/ });
  assert.throws(() => formatOf(new Set(["Dockerfile", "modrinth.index.json"])), { message: /\.tar\.gz/ });
});

test("a template keeps the variables of a Dockerfile", () => {
  assert.equal(
    renderTemplate(["FROM {base}\nENV A=$", "{B} C={minecraft}"].join(""), { base: "x", minecraft: "1" }),
    ["FROM x\nENV A=$", "{B} C=1"].join(""),
  );
  settingsOf(["builds.pack_template=FROM {base}\nWORKDIR $", "{HOME}"].join(""));
  assert.throws(() => settingsOf("builds.pack_template=FROM {base}\n{name}"), /placeholders/);
  assert.throws(() => settingsOf("builds.pack_template=FROM scratch"), /FROM \{base\}/);
  assert.throws(() => settingsOf('builds.pack_bases=["fabric=x"]'), /LOADER\/MINECRAFT=IMAGE/);
});
