import { runCommand } from "../process/run.ts";

/** Names of one processor type in release archives and in packages. */
export type Arch = "amd64" | "arm64";

/** A server that is not written in JavaScript: how to recognise it and where to get it. */
export type FetchedProgram = {
  /** Name of its file. */
  name: string;
  /** Variable that names a file. */
  variable: string;
  /** Arguments that make it print its version. */
  versionArguments: readonly string[];
  isSupported: (version: string) => boolean;
  /** What is supported, in words. */
  supported: string;
  /** What to do without it, for the end of a message. */
  otherwise: string;
  /** Told when the download begins. */
  size: string;
  /** The archive that the maintainers publish; `file` is the path in it. */
  release: Pinned & { url: (arch: Arch) => string; file: (arch: Arch) => string };
  /** The package in the pool of a Debian mirror. */
  pool: Pinned & { path: (arch: Arch) => string };
  /** The package by name; `file` is the path in it. */
  package: { name: string; file: string };
};

/** Digests by processor type. */
type Pinned = { version: string; sha256: Readonly<Record<Arch, string>> };

export function findArch(): Arch | undefined {
  return ({ x64: "amd64", arm64: "arm64" } as const)[process.arch as string];
}

/** Version of a binary; undefined when the file is another program or can't run here. */
export async function readVersion(program: FetchedProgram, binary: string): Promise<string | undefined> {
  const run = await runCommand(binary, [...program.versionArguments]);
  return run.code === 0 ? /\bv?(\d+\.\d+\.\d+)/.exec(run.output)?.[1] : undefined;
}
