// What an uploaded zip says of itself, whichever of both formats it has.

import { Fault, packs } from "@svc/proto";
import { z } from "zod";

/** A file that a pack names; its addresses and its path are not judged yet. */
export type WantedFile = Omit<packs.PackDownload, "urls"> & {
  urls: readonly string[];
  side: "server" | "client" | "optional";
};

/** A pack as its index describes it. */
export type PackSource = {
  format: packs.PackFormat;
  name: string;
  version: string;
  loader: packs.PackLoader;
  loader_version?: string;
  minecraft: string;
  files: WantedFile[];
  /** Folders of the zip that are laid over the server, a later one over an earlier one. */
  overlays: string[];
};

/** Index files of the formats, by which a zip is recognised. */
export const indexFiles: Record<packs.PackFormat, string> = {
  modrinth: "modrinth.index.json",
  curseforge: "manifest.json",
};

export function refuse(message: string): Fault {
  return new Fault("bad_request", { message });
}

/** The format of a zip by the paths at its root. Throws `bad_request` for any other zip. */
export function formatOf(paths: ReadonlySet<string>): packs.PackFormat {
  if (paths.has("Dockerfile"))
    throw refuse("A zip with a Dockerfile can't be built; pack the folder as .tar.gz instead.");
  const format = packs.PackFormat.options.find((one) => paths.has(indexFiles[one]));
  if (format) return format;
  throw refuse(
    `A zip must have ${indexFiles.modrinth} (a .mrpack of Modrinth) or ${indexFiles.curseforge} (CurseForge) at its root; pack a folder with a Dockerfile as .tar.gz.`,
  );
}

/** The index as JSON of this shape. Throws `bad_request` with the file and the field. */
export function parseIndex<S extends z.ZodType>(name: string, text: string, shape: S): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw refuse(`${name} is not JSON.`);
  }
  const read = shape.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw refuse(`${name}: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is not valid"}.`);
}

const mostTextChars = 200;

/** Text of the pack for people: one line without control characters. */
export const plainText = z
  .string()
  .max(4_096)
  .transform((text) =>
    text
      .replaceAll(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, mostTextChars),
  );

/** A version that may stand in a Dockerfile. */
export const versionText = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/, "must be a version of letters, digits, dots, _, + and -");

export const hexText = (chars: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9A-Fa-f]{${chars}}$`), `must be ${chars} hexadecimal digits`)
    .transform((text) => text.toLowerCase());

/** Bytes of a file that can be written down exactly. */
export const fileSize = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
