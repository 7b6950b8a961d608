// What text files were before a write through svc replaced them (docs/reference/files.md#history).
// Vocabulary: version = the content of a file before one write; undo = an ordinary write of a version over the file as it is.

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Sha256Hex, Timestamp } from "../text.ts";
import { WorldPath } from "./file.ts";

const external = { face: "external", tier: "app" } as const;
const query = { path: WorldPath };
const faults = ["bad_name", "not_found", "bad_path", "path_not_shared"] as const;
const spec = "docs/reference/files.md#history";
const deadlineMs = 20_000;

export const FileVersion = z.strictObject({
  id: z.string(),
  sha256: Sha256Hex,
  /** Bytes. */
  size: z.number().int().min(0),
  /** When it was replaced. */
  replaced_at: Timestamp,
  /** Who replaced it, as far as the reader may know. */
  by: z.enum(["you", "other"]),
});
export type FileVersion = z.output<typeof FileVersion>;

export const list = operation({
  subject: "storage.file-version.list",
  http: { method: "GET", path: "/api/v1/servers/{name}/file/versions", ...external, rights: ["files.read"] },
  params: { name: ServerNameParam },
  query,
  output: z.strictObject({ path: z.string(), versions: z.array(FileVersion).max(20) }),
  faults,
  deadlineMs,
  summary: "The earlier versions of a text file, newest first; the server may be awake.",
  spec,
});

export const read = operation({
  subject: "storage.file-version.read",
  http: {
    method: "GET",
    path: "/api/v1/servers/{name}/file/versions/{id}",
    holdsSecrets: true,
    ...external,
    rights: ["files.read"],
  },
  params: { name: ServerNameParam, id: z.string().regex(/^[0-9a-f]{16}$/) },
  query,
  output: z.strictObject({
    path: z.string(),
    ...FileVersion.shape,
    /** base64, at most 256 KiB decoded. */
    content: z.string(),
  }),
  faults,
  deadlineMs,
  summary:
    "One earlier version of a text file. To undo a write, write it with `expect_sha256` of the file as it is.",
  spec,
});
