// package.json of the published package. Pure.

/** What the package takes from the repository. */
type Origin = { version: string; license: string; zod: string; repository: string | undefined };

export function manifestOf({ version, license, zod, repository }: Origin) {
  const entry = (name: string) => ({
    types: `./dist/client/published/${name}.d.ts`,
    default: `./dist/client/published/${name}.js`,
  });
  return {
    name: "@svc/client",
    version,
    description: "Client of svc, which lets Minecraft servers sleep until a player joins.",
    license,
    ...(repository !== undefined && {
      repository: { type: "git", url: repository, directory: "libs/client" },
    }),
    keywords: ["minecraft", "svc", "api", "client"],
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    exports: { ".": entry("index"), "./core": entry("core"), "./package.json": "./package.json" },
    // For tools that do not read `exports`.
    types: "./dist/client/published/index.d.ts",
    main: "./dist/client/published/index.js",
    files: ["dist", "README.md", "LICENSE"],
    dependencies: { zod: `^${zod}` },
  };
}
