// The sources of the published package: the files that its entries reach, with the contracts as files beside them. Pure, but
// for reading.

import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";

/** Path in the package, from `src/`, and text. */
type Source = { path: string; text: string };

const importPattern = /^(import|export) (type )?(\{[^}]*\}|\*(?: as \w+)?) from "([^"]+)";$/gm;

type Place = { folder: string; of: string };

/** Every file that the entries reach. `root` is that of the repository; entries are paths below `libs/client/src`. */
export function collectSources(root: string, entries: readonly string[]): Source[] {
  const places: Place[] = [
    { folder: "client", of: join(root, "libs/client/src") },
    { folder: "proto", of: join(root, "proto/src") },
  ];
  const exported = readExports(readFileSync(join(root, "proto/src/index.ts"), "utf8"));
  const found = new Map<string, string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    const place = places.find(({ folder }) => path.startsWith(`${folder}/`));
    if (!place) throw new Error(`${path} is outside of the package`);
    const source = readFileSync(join(place.of, path.slice(place.folder.length + 1)), "utf8");
    const text = source.replace(importPattern, (line: string, ...parts: string[]) => {
      const [verb = "", type = "", names = "", from = ""] = parts;
      if (from.startsWith(".") || from === "zod") return line;
      if (from === "@svc/proto" && verb === "import")
        return fromContracts({ path, type: type ?? "", names }, exported);
      throw new Error(`${path} has ${line}, which the package would not have`);
    });
    found.set(path, text);
    for (const [, , , , from = ""] of text.matchAll(importPattern))
      if (from.startsWith(".")) visit(posix.join(dirname(path), from));
  };
  for (const entry of entries) visit(`client/${entry}`);
  return [...found].map(([path, text]) => ({ path, text })).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Where a name of the contracts' index comes from; `isAll` for a whole file under a name. */
type Exported = { file: string; isAll: boolean };

function readExports(index: string): Map<string, Exported> {
  const exported = new Map<string, Exported>();
  for (const [, , , names = "", from = ""] of index.matchAll(importPattern)) {
    const file = from.slice(2);
    const [, all] = /^\* as (\w+)$/.exec(names) ?? [];
    if (all !== undefined) exported.set(all, { file, isAll: true });
    else for (const { name } of namesOf(names)) exported.set(name, { file, isAll: false });
  }
  return exported;
}

type Named = { name: string; as: string; isType: boolean };

function namesOf(list: string): Named[] {
  const words = list
    .slice(1, -1)
    .split(",")
    .map((one) => one.trim());
  return words.filter(Boolean).map((word) => {
    const [, type, name = "", as] = /^(type )?(\w+)(?: as (\w+))?$/.exec(word) ?? [];
    return { name, as: as ?? name, isType: type !== undefined };
  });
}

// Straight from the files that are needed: the index would bring in everything.
function fromContracts(
  { path, type, names }: { path: string; type: string; names: string },
  exported: ReadonlyMap<string, Exported>,
): string {
  const lines = namesOf(names).map(({ name, as, isType }) => {
    const from = exported.get(name);
    if (!from) throw new Error(`${path} imports ${name}, which the contracts do not export`);
    const file = posix.relative(dirname(path), `proto/${from.file}`);
    const what = from.isAll ? `* as ${as}` : name === as ? `{ ${name} }` : `{ ${name} as ${as} }`;
    return `import ${type || isType ? "type " : ""}${what} from "${file}";`;
  });
  return lines.join("\n");
}
