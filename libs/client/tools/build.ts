// Makes the published package (docs/reference/client.md#package): JavaScript and types of the client with the contracts it needs.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { manifestOf } from "./manifest.ts";
import { collectSources } from "./sources.ts";

const root = resolve(import.meta.dirname, "../../..");

const compilerOptions = {
  // What Node 20 and browsers of 2023 have.
  target: "es2022",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
  module: "nodenext",
  moduleResolution: "nodenext",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  stripInternal: true,
  rootDir: "src",
  outDir: "dist",
  skipLibCheck: true,
};

/** Writes the unpacked package into a folder, which is made or emptied. Throws when it does not compile. */
function buildPackage(folder: string, repository?: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { path, text } of collectSources(root, ["published/index.ts", "published/core.ts"])) {
    mkdirSync(dirname(join(folder, "src", path)), { recursive: true });
    writeFileSync(join(folder, "src", path), text);
  }
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(readManifest(repository), null, 2)}\n`);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  cpSync(join(root, "libs/client/src/published/README.md"), join(folder, "README.md"));
  compile(folder);
}

function readManifest(repository: string | undefined) {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));
  const { version, license, repository: own } = read("package.json");
  const { zod } = read("libs/client/package.json").dependencies;
  return manifestOf({ version, license, zod, repository: repository ?? own?.url });
}

function compile(folder: string): void {
  // Zod is found from the checkout, whatever the folder.
  const paths = { zod: [join(root, "node_modules/zod/index.d.ts")] };
  const config = { compilerOptions: { ...compilerOptions, paths }, include: ["src"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules/.bin/tsc");
  const done = spawnSync(process.execPath, [tsc, "-p", folder], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`the client does not compile:\n${done.stdout}${done.stderr}`);
  // The compiler changes the endings of imports in JavaScript alone.
  for (const file of globSync("dist/**/*.d.ts", { cwd: folder })) {
    const text = readFileSync(join(folder, file), "utf8");
    writeFileSync(join(folder, file), text.replace(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"'));
  }
}

/** Packs it as `npm pack` does; `repository` is the address of the sources. Answers the path of the tarball. */
export function packInto(folder: string, repository?: string): string {
  const staging = mkdtempSync(join(tmpdir(), "svc-client-"));
  try {
    buildPackage(staging, repository);
    mkdirSync(folder, { recursive: true });
    const packed = npm(["pack", "--json", "--pack-destination", resolve(folder)], staging);
    const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
    return join(resolve(folder), filename);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Runs the npm that runs us, or the one of the machine. Answers what it prints. */
export function npm(args: readonly string[], cwd: string): string {
  // biome-ignore lint/style/noProcessEnv: npm says where it is
  const cli = process.env["npm_execpath"];
  const [command, prefix] = cli === undefined ? ["npm", []] : [process.execPath, [cli]];
  return execFileSync(command, [...prefix, ...args], { cwd, encoding: "utf8" });
}
