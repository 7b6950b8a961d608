// Which folders may import which: no circle at any level of a package, no arrow from a library to a service.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { describe, test } from "node:test";
import { readMigrations } from "../../libs/store/src/migrations.ts";

type Import = { from: string; to: string };
/** The files and folders of one folder, and for each pair an import that leads from the first to the second. */
type Graph = Map<string, Map<string, Import>>;

const root = resolve(import.meta.dirname, "../..");
const sources = [
  "proto/src/**/*.ts",
  "libs/*/{src,tools}/**/*.ts",
  "services/*/src/**/*.{ts,tsx}",
  "services/panel/build/**/*.ts",
];
/** Of values and of types, at the start and while the program runs. */
const anyImport = /\b(?:from|import)\s*\(?\s*"(\.[^"]+|@svc\/[^"]+)"/g;
const testFile = /\.test\.tsx?$/;
const testOrFixture = /\.test\.tsx?$|\/testing\/|\/test-[^/]*$/;

/** The folder of a package: `proto`, `libs/mesh`, `services/storage`. */
const packageOf = (file: string) => /^(?:proto|[^/]+\/[^/]+)(?=\/)/.exec(file)?.[0] ?? file;

/** Every import of a file of ours or a package of ours; `to` is a path from the root or `@svc/…`. */
function readImports(): Import[] {
  return globSync(sources, { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(anyImport)].map(([, to = ""]) => ({
      from: file,
      to: to.startsWith(".") ? normalize(join(dirname(file), to)) : to,
    })),
  );
}

/** The folders of every package, its own included. */
function foldersOf(imports: readonly Import[]): string[] {
  const folders = new Set<string>();
  for (const { from } of imports)
    for (let folder = dirname(from); folder.length >= packageOf(from).length; folder = dirname(folder))
      folders.add(folder);
  return [...folders].sort();
}

function graphOf(folder: string, imports: readonly Import[]): Graph {
  const child = (file: string) =>
    file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : undefined;
  const graph: Graph = new Map();
  for (const { from, to } of imports) {
    const [importer, imported] = [child(from), child(to)];
    if (importer === undefined || imported === undefined || importer === imported) continue;
    const arrows = graph.get(importer) ?? new Map<string, Import>();
    if (!arrows.has(imported)) arrows.set(imported, { from, to });
    graph.set(importer, arrows);
  }
  return graph;
}

/** The imports of one circle, in order, or undefined when there is none. */
function findCircle(graph: Graph): Import[] | undefined {
  const done = new Set<string>();
  const walk = (node: string, path: readonly string[]): Import[] | undefined => {
    if (path.includes(node)) {
      const circle = [...path.slice(path.indexOf(node)), node];
      return circle.slice(1).map((to, at) => graph.get(circle[at] as string)?.get(to) as Import);
    }
    if (done.has(node)) return undefined;
    for (const next of graph.get(node)?.keys() ?? []) {
      const circle = walk(next, [...path, node]);
      if (circle) return circle;
    }
    done.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const circle = walk(node, []);
    if (circle) return circle;
  }
  return undefined;
}

const describeCircle = (circle: readonly Import[]) =>
  circle.map(({ from, to }) => `  ${from} imports ${to}`).join("\n");

/** What an import breaks: libraries and contracts know no service, and a package is used by its name only. */
function wrongArrowOf({ from, to }: Import, services: ReadonlySet<string>): string | undefined {
  const own = packageOf(from);
  const isFolder = !to.startsWith("@svc/");
  const name = isFolder ? packageOf(to) : (to.split("/")[1] ?? "");
  if (isFolder) return name === own ? undefined : `${from} imports ${to} by its path`;
  if (own === name || own.endsWith(`/${name}`)) return undefined;
  return own === "proto" || services.has(name) ? `${from} imports ${to}` : undefined;
}

describe("the import graph", () => {
  const imports = readImports();

  test("no folder takes part in a circle", () => {
    const ofPrograms = imports.filter(({ from }) => !testFile.test(from));
    const found = foldersOf(ofPrograms).flatMap((folder) => {
      const circle = findCircle(graphOf(folder, ofPrograms));
      return circle ? [`${folder}:\n${describeCircle(circle)}`] : [];
    });
    assert.deepEqual(found, [], found.join("\n"));
  });

  test("every package takes part, and imports while the program runs count", () => {
    const packages = globSync(["proto", "libs/*", "services/*"], { cwd: root });
    const found = new Set(imports.map(({ from }) => packageOf(from)));
    assert.deepEqual(packages.filter((name) => !found.has(name)).sort(), []);
    const isLazy = ({ from, to }: Import) =>
      from === "services/panel/src/app/pages.ts" && to.endsWith("/dashboard-page.tsx");
    assert.ok(imports.some(isLazy));
  });

  test("a circle of two folders is found and names both files", () => {
    const circle = findCircle(
      graphOf("services/a/src", [
        { from: "services/a/src/x/one.ts", to: "services/a/src/y/two.ts" },
        { from: "services/a/src/y/three.ts", to: "services/a/src/x/four.ts" },
        { from: "services/a/src/main.ts", to: "services/a/src/x/one.ts" },
      ]),
    );
    assert.deepEqual(
      circle?.map(({ from }) => from),
      ["services/a/src/x/one.ts", "services/a/src/y/three.ts"],
    );
  });

  test("imports lead from services to libraries to contracts, never back and never to another service", () => {
    const services = new Set(globSync("services/*", { cwd: root }).map((path) => path.split("/")[1] ?? ""));
    const ofPrograms = imports.filter(({ from }) => !testOrFixture.test(from));
    assert.deepEqual(
      ofPrograms.flatMap((one) => wrongArrowOf(one, services) ?? []),
      [],
    );
  });

  test("an arrow that leads back is found and names both files", () => {
    const services = new Set(["a", "b"]);
    const cases: [from: string, to: string, isWrong: boolean][] = [
      ["libs/x/src/one.ts", "@svc/a", true],
      ["libs/x/src/one.ts", "services/a/src/two.ts", true],
      ["services/a/src/one.ts", "@svc/b/testing", true],
      ["services/a/src/one.ts", "services/b/src/two.ts", true],
      ["services/a/src/one.ts", "libs/x/src/two.ts", true],
      ["proto/src/one.ts", "@svc/x", true],
      ["services/a/src/one.ts", "@svc/x", false],
      ["libs/x/src/one.ts", "libs/x/src/y/two.ts", false],
      ["libs/x/src/one.ts", "@svc/proto", false],
    ];
    for (const [from, to, isWrong] of cases) {
      const found = wrongArrowOf({ from, to }, services);
      assert.equal(found !== undefined, isWrong, `${from} ${to}`);
      if (isWrong) assert.ok(found?.includes(from) && found.includes(to));
    }
  });
});

test("no process that stays imports node:http, which would load a WebSocket client with it", () => {
  const importing = globSync(["libs/*/src/**/*.ts", "services/*/src/**/*.ts"], { cwd: root })
    .filter((file) => !/\.test\.ts$|\/(testing|conformance)\/|^services\/(cli|demo-server)\//.test(file))
    .filter((file) =>
      /^import (?!type )[^;]*from "node:http";/m.test(readFileSync(join(root, file), "utf8")),
    );
  assert.deepEqual(importing, [], "use process.getBuiltinModule instead");
});

test("no two migrations of a service have one number, and none is missing", () => {
  const folders = globSync("services/*/migrations", { cwd: root });
  assert.ok(folders.length > 0);
  for (const folder of folders) readMigrations(join(root, folder));
});
