// Bundles the programs of the stack into node_modules/.cache/programs/<digest>/ (docs/adr/0022): a process that loads
// twenty files instead of a thousand starts in half the time and holds 10 MB less.

import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type Plugin, rolldown } from "rolldown";
import { buildsFolder, currentLink } from "./find.ts";
import { describeInputs, digestOf, manifestFile } from "./manifest.ts";

/** Files that decide which file an import means, and how files are bundled. */
const settingFiles = [
  "package-lock.json",
  "{proto,libs/*,services/*}/package.json",
  "libs/local-stack/src/program/*.ts",
];
/** Tools of a build, which are rarely loaded, a part of `pg` that is not installed, and `ssh2`, which tries for such parts. */
const notBundled = ["vite", "@vitejs/plugin-react", "rolldown", "pg-native", "ssh2"];
/** A folder that nobody runs goes after this time. */
const keepMs = 24 * 60 * 60_000;

/** Bundled code reads files beside its source, so each module keeps the place of its source. */
const sourcePlaces: Plugin = {
  name: "svc-source-places",
  transform: {
    filter: { code: /\bimport\.meta\.(url|dirname|filename)\b|\b__(dirname|filename)\b/ },
    handler: (code, path) => {
      const places = {
        "import.meta.url": pathToFileURL(path).href,
        "import.meta.dirname": dirname(path),
        "import.meta.filename": path,
      };
      const moved = Object.entries(places).reduce(
        (text, [name, place]) => text.replaceAll(name, () => JSON.stringify(place)),
        code,
      );
      return commonJsPlaces(code, path) + moved;
    },
  },
};

/** Declarations of the two variables that only CommonJS modules have, on the line of the first statement. */
function commonJsPlaces(code: string, path: string): string {
  const places = { __dirname: dirname(path), __filename: path };
  const used = Object.entries(places).filter(
    ([name]) =>
      new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`\\b(const|let|var)\\s+${name}\\b`).test(code),
  );
  return used.map(([name, place]) => `const ${name} = ${JSON.stringify(place)}; `).join("");
}

type Build = {
  repo: string;
  /** Source files by name of the program, relative to `repo`. */
  sources: Readonly<Record<string, string>>;
  /** As of `buildsFolder`. */
  folderName?: string;
};

/** V8 keeps the text of a file with one other letter in two bytes for each letter; with escapes it takes half of that. */
const asciiOnly: Plugin = {
  name: "svc-ascii-only",
  renderChunk: (code) => escapeLetters(code),
};

/** Writes all letters beyond ASCII as escapes, which mean the same in strings, templates and regular expressions. */
export function escapeLetters(code: string): string {
  return code.replaceAll(/(\\*)([\u0080-\uffff])/g, (_, backslashes: string, letter: string) => {
    // A backslash before such a letter means nothing, but before an escape it would.
    const kept = backslashes.length % 2 === 1 ? backslashes.slice(1) : backslashes;
    return `${kept}\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** Bundles all programs into a folder; returns the files that they were made of, relative to the checkout. */
async function bundleInto(folder: string, { repo, sources }: Build): Promise<string[]> {
  const input = Object.fromEntries(
    Object.entries(sources).map(([name, source]) => [name, join(repo, source)]),
  );
  const build = await rolldown({
    cwd: repo,
    input,
    platform: "node",
    tsconfig: false,
    external: [...notBundled],
    plugins: [sourcePlaces, asciiOnly],
    logLevel: "warn",
  });
  try {
    await build.write({
      dir: folder,
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
      comments: false,
    });
    const modules = await build.watchFiles;
    return [...modules.map((path) => relative(repo, path)), ...globSync(settingFiles, { cwd: repo })];
  } finally {
    await build.close();
  }
}

/** Bundles the programs and points `current` at the result. Another process may do the same at the same time. */
export async function buildPrograms(build: Build): Promise<string> {
  const programs = buildsFolder(build.repo, build.folderName);
  mkdirSync(programs, { recursive: true });
  const beside = join(programs, `.${process.pid}`);
  rmSync(beside, { recursive: true, force: true });
  try {
    const startedAt = Date.now();
    const inputs = await bundleInto(beside, build);
    const manifest = describeInputs(build.repo, inputs, startedAt);
    writeFileSync(join(beside, manifestFile), JSON.stringify(manifest));
    const folder = join(programs, digestOf(manifest));
    moveInPlace(beside, folder);
    pointLink(join(programs, currentLink), folder);
    removeUnused(programs, folder);
    return folder;
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

function moveInPlace(beside: string, folder: string): void {
  try {
    renameSync(beside, folder);
  } catch (error) {
    // Another process has built the same.
    if (!existsSync(join(folder, manifestFile))) throw error;
  }
}

function pointLink(link: string, folder: string): void {
  const beside = `${link}.${process.pid}`;
  rmSync(beside, { force: true });
  symlinkSync(folder, beside);
  renameSync(beside, link);
}

/** Removes earlier builds, except young ones and those that a process runs: it may load further files of them. */
function removeUnused(programs: string, current: string): void {
  const commands = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .join("\n");
  for (const name of readdirSync(programs)) {
    const folder = join(programs, name);
    const isOld = (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < Date.now() - keepMs;
    if (isOld && folder !== current && name !== currentLink && !commands.includes(folder))
      rmSync(folder, { recursive: true, force: true });
  }
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
