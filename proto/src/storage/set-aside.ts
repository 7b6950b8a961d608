// Plugins, mods and configuration that changed since the last good start, set aside for one start
// (docs/reference/crashes.md#safe-start).
// Vocabulary: good start = one after which players could join, without a crash in the ten minutes that follow; set = what
// was set aside at one time, a folder of the world named after it.

import { z } from "zod";
import { operation } from "../contract.ts";
import { ServerNameParam } from "../lifecycle/names.ts";
import { Timestamp } from "../text.ts";
import { heldFaults, worldFaults } from "./file.ts";

const name = { name: ServerNameParam };
const external = { face: "external", tier: "app" } as const;
const spec = "docs/reference/crashes.md#safe-start";
/** Longer than the owner waits for a Job, so that its `files_timeout` is heard. */
const deadlineMs = 92_000;

/** UTC, to the second. */
const SetId = z.string().regex(/^\d{8}T\d{6}Z$/);

export const AsideFile = z.strictObject({
  /** Where the server looks for it. */
  path: z.string(),
  size: z.number().int().min(0),
  mod_time: Timestamp,
});
export type AsideFile = z.output<typeof AsideFile>;

export const AsideSet = z.strictObject({ id: SetId, files: z.array(AsideFile) });
export type AsideSet = z.output<typeof AsideSet>;

export const read = operation({
  subject: "storage.set-aside.read",
  http: { method: "GET", path: "/api/v1/servers/{name}/set-aside", ...external, rights: ["files.read"] },
  params: name,
  output: z.strictObject({
    /** The last good start; absent when there was none, and then nothing is known to have changed. */
    since: Timestamp.optional(),
    /** What a set would have now. */
    changed: z.array(AsideFile),
    /** True when more have changed than a set may have, or there are too many files to look at. */
    truncated: z.boolean(),
    /** The newest first. */
    sets: z.array(AsideSet),
  }),
  faults: [...worldFaults, "files_timeout"],
  deadlineMs,
  summary: "What changed since the last good start of a stopped server, and what is set aside.",
  spec,
});

export const begin = operation({
  subject: "storage.set-aside.begin",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/set-aside",
    ...external,
    rights: ["power", "files.write"],
  },
  params: name,
  output: AsideSet,
  faults: [...heldFaults, "files_timeout", "volume_full", "too_large", "no_good_start", "nothing_changed"],
  deadlineMs,
  summary:
    "Sets aside what changed since the last good start; nothing is deleted. Then the server can be woken.",
  spec,
});

export const putBack = operation({
  subject: "storage.set-aside.put-back",
  http: {
    method: "POST",
    path: "/api/v1/servers/{name}/set-aside/{id}/put-back",
    ...external,
    rights: ["files.write"],
  },
  params: { ...name, id: SetId },
  output: AsideSet,
  faults: [...heldFaults, "files_timeout", "volume_full", "file_exists", "too_large"],
  deadlineMs,
  summary: "Puts a set back where it was; refused as a whole when something else is there by now.",
  spec,
});
