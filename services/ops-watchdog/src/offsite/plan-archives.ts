// What a pass does about the copies of archives (docs/reference/off-site.md#order). Pure.
//
// | backup    | its file        | copy in the bucket | recorded | plan                                      |
// |-----------|-----------------|--------------------|----------|-------------------------------------------|
// | present   | any             | whole              | no       | record                                    |
// | present   | any             | whole              | yes      | nothing                                   |
// | present   | whole, intact   | none, or not whole | no       | send                                      |
// | present   | whole, intact   | none, or not whole | yes      | clear the record first, then send         |
// | present   | missing, damaged| none, or not whole | yes      | clear the record; it is named as missing  |
// | expired   | any             | none, or not whole | yes      | clear the record                          |
// | deleted   | -               | none               | yes      | clear the record                          |
//
// A record is cleared before anything else: the reaper may delete a world for it.

import type { offsiteArchives } from "@svc/proto";

export type Archive = offsiteArchives.OffsiteArchive;
/** Whether the bucket has the copy of an archive, and whether it has the size that it must have. */
export type CopyState = "none" | "whole" | "not_whole";

type ArchivePlan = { send: Archive[]; record: Archive[]; clear: Archive[] };

export function planArchives(
  archives: readonly Archive[],
  copyOf: (archive: Archive) => CopyState,
): ArchivePlan {
  const plan: ArchivePlan = { send: [], record: [], clear: [] };
  for (const archive of archives) {
    const copy = copyOf(archive);
    const isRecorded = archive.offsite_at !== undefined;
    if (copy === "whole") {
      if (!isRecorded && archive.status === "present") plan.record.push(archive);
      continue;
    }
    if (isRecorded && (archive.status !== "deleted" || copy === "none")) plan.clear.push(archive);
    if (archive.status === "present" && archive.local === "whole" && !archive.is_corrupt)
      plan.send.push(archive);
  }
  // What was never copied is at risk; the smallest first, so that one huge world does not hold up the others.
  plan.send.sort((a, b) => a.size_bytes - b.size_bytes || (a.id < b.id ? -1 : 1));
  return plan;
}

/** Present backups without a whole copy, by what is wrong. */
export function lackingArchives(
  archives: readonly Archive[],
  copyOf: (archive: Archive) => CopyState,
): { missing: Archive[]; notWhole: Archive[] } {
  const present = archives.filter(({ status }) => status === "present");
  return {
    missing: present.filter((archive) => copyOf(archive) === "none"),
    notWhole: present.filter((archive) => copyOf(archive) === "not_whole"),
  };
}
