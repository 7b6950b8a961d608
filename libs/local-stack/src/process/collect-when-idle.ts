// Preloaded into every Node process of the stack. V8 collects when it needs room, which an idle process never does: what
// a start or a load left behind would stay for good, 15 to 20 MB a process.

import { getHeapStatistics } from "node:v8";

const lookEveryMs = 15_000;
const idleUtilization = 0.02;
// The room of the young objects alone changes by half of it; a collection costs as much as a minute of idling.
const worthwhileBytes = 6 * 1024 * 1024;

let usage = performance.eventLoopUtilization();
let keptBytes = 0;

setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(now, usage);
  usage = now;
  const grownBytes = getHeapStatistics().total_heap_size - keptBytes;
  if (utilization > idleUtilization || grownBytes < worthwhileBytes) return;
  // The flavor that also returns empty pages to the system.
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
  keptBytes = getHeapStatistics().total_heap_size;
}, lookEveryMs).unref();
