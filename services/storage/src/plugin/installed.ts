// What became of what is recorded (docs/reference/plugins.md#installed). Pure.

import type { plugins } from "@svc/proto";
import type { TaskDone } from "@svc/proto/world-task";

export type Listed = NonNullable<TaskDone["plugins"]>;

export function describeInstalled({ records, files }: Listed): plugins.PluginFile[] {
  const recorded = new Map(records.plugins.map((record) => [record.path, record]));
  const there = files.map(({ path, size, sha256 }): plugins.PluginFile => {
    const record = recorded.get(path);
    if (!record) return { path, size, sha256, state: "by_hand" };
    return { path, size, sha256, state: record.sha256 === sha256 ? "as_installed" : "changed", record };
  });
  const paths = new Set(files.map(({ path }) => path));
  const gone = records.plugins
    .filter(({ path }) => !paths.has(path))
    .map(
      (record): plugins.PluginFile => ({
        path: record.path,
        size: 0,
        sha256: null,
        state: "missing",
        record,
      }),
    );
  return [...there, ...gone].sort((one, other) => (one.path < other.path ? -1 : 1));
}
