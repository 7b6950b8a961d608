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
const sources = ["proto/src/**/*.ts", "libs/*/src/**/*.ts", "services/*/src/**/*.{ts,tsx}"];
const relativeImport = /^(?:import|export)\b[^;"]*?(?:from )?"(\.[^"]+)"/gm;
const packageImport = /^(?:import|export)\b[^;"]*?(?:from )?"@svc\/([^/"]+)/gm;

function readImports(): Import[] {
  const files = globSync(sources, { cwd: root });
  return files
    .filter((file) => !/\.test\.tsx?$/.test(file))
    .flatMap((file) =>
      [...readFileSync(join(root, file), "utf8").matchAll(relativeImport)].map(([, to]) => ({
        from: file,
        to: normalize(join(dirname(file), to as string)),
      })),
    );
}

/** The folders of every package's sources, the packages' roots included. */
function foldersOf(imports: readonly Import[]): string[] {
  const folders = new Set<string>();
  for (const { from } of imports) {
    const sources = /^.*?\/src(?=\/)/.exec(from)?.[0] as string;
    for (let folder = dirname(from); folder.length >= sources.length; folder = dirname(folder))
      folders.add(folder);
  }
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

describe("the import graph", () => {
  const imports = readImports();

  test("no folder takes part in a circle", () => {
    const found = foldersOf(imports).flatMap((folder) => {
      const circle = findCircle(graphOf(folder, imports));
      return circle ? [`${folder}:\n${describeCircle(circle)}`] : [];
    });
    assert.deepEqual(found, [], found.join("\n"));
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
    const serviceNames = new Set(globSync("services/*", { cwd: root }).map((path) => path.split("/")[1]));
    const wrong = globSync(sources, { cwd: root })
      .filter((file) => !/\.test\.ts$|\/testing\/|\/test-[^/]*$/.test(file))
      .flatMap((file) =>
        [...readFileSync(join(root, file), "utf8").matchAll(packageImport)].flatMap(([, name]) => {
          const isFromProto = file.startsWith("proto/");
          const isOwn = file.startsWith(`services/${name}/`) || (isFromProto && name === "proto");
          const isAllowed = isOwn || (!serviceNames.has(name) && !isFromProto);
          return isAllowed ? [] : [`${file} imports @svc/${name}`];
        }),
      );
    assert.deepEqual(wrong, []);
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
