// Preloaded into every Node process of the stack. V8 collects when it needs room, which an idle process never does: what
// a start or a load left behind would stay for good, 15 to 20 MB a process.

import { flushCompileCache } from "node:module";
import { getHeapStatistics } from "node:v8";

const lookEveryMs = 15_000;
const idleUtilization = 0.02;
// The room of the young objects alone changes by half of it; a collection costs as much as a minute of idling.
const worthwhileBytes = 6 * 1024 * 1024;
// As `--bytecode-old-age` of the stack's flags: V8 compiles what is called again from its source.
const codeKeptForCollections = 2;

let usage = performance.eventLoopUtilization();
let keptBytes = 0;

setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, usage);
  usage = now;
  const grownBytes = getHeapStatistics().total_heap_size - keptBytes;
  if (utilization > idleUtilization || grownBytes < worthwhileBytes) return;
  // Code that is gone by the end of the process would be missing from the cache of the next start.
  flushCompileCache();
  // The flavor that also returns empty pages to the system; code that has not run since the collection before goes too.
  for (let collection = 0; collection <= codeKeptForCollections; collection += 1)
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  keptBytes = getHeapStatistics().total_heap_size;
}, lookEveryMs).unref();
