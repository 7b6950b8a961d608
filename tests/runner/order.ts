// Which test files share a process, and which run at the same time.

/** Files that run one after the other in one process: loading what they import takes longer than many a test. */
export type Batch = readonly string[];

/** Above it the last batch would keep one core busy while the others have nothing left to do. */
const mostFiles = 8;

/** Files that look at the whole process, or to which a setting of the process matters that others change. */
const needsProcess = new Set([
  "libs/local-cluster/src/node/pod-usage.test.ts",
  "libs/mesh/src/request/undeclared-fault.test.ts",
  "libs/world/src/path/scrub.test.ts",
  "services/proxy/src/load.sampled.test.ts",
]);

/**
 * Files of one package share a process, at most `most` of them; those that start a stack, or need a process of their own,
 * don't.
 */
export function inBatches(files: readonly string[], most = mostFiles): Batch[] {
  const batches: string[][] = [];
  const open = new Map<string, string[]>();
  for (const file of files) {
    const folder = file.split("/").slice(0, 2).join("/");
    const isShared = /^(libs|proto|services)\//.test(file) && !needsProcess.has(file);
    const last = isShared ? open.get(folder) : undefined;
    if (last !== undefined && last.length < most) last.push(file);
    else {
      const batch = [file];
      batches.push(batch);
      if (isShared) open.set(folder, batch);
    }
  }
  return batches;
}

/** What a batch needs of the machine. */
type Kind = "stack" | "plain" | "alone";

/** Files that start a whole stack wait most of their time; one measures what a caller notices, undisturbed. */
function kindOf([file = ""]: Batch): Kind {
  if (file === "tests/fault/replicas.sampled.test.ts") return "alone";
  return /^tests\/(browser|containers|fault|flow|security\/stack)\//.test(file) ? "stack" : "plain";
}

/** Files that share the real API server of the kube lane: what one makes of its controllers, the others wait for. */
const usesCluster = ([file = ""]: Batch) => file.startsWith("tests/kube/");

/** How many batches run at once, and how many of them with a whole stack. */
export type Places = { all: number; stacks: number };

/** The batch to start next: a stack when there is a place for it, otherwise the next plain one. */
export function chooseNext(
  waiting: readonly Batch[],
  running: readonly Batch[],
  places: Places,
): Batch | undefined {
  if (running.length >= places.all || running.some((batch) => kindOf(batch) === "alone")) return undefined;
  const stacks = running.filter((batch) => kindOf(batch) === "stack").length;
  const isClusterTaken = running.some(usesCluster);
  const find = (kind: Kind) =>
    waiting.find((batch) => kindOf(batch) === kind && !(isClusterTaken && usesCluster(batch)));
  const next = (stacks < places.stacks ? find("stack") : undefined) ?? find("plain");
  if (next !== undefined) return next;
  return running.length === 0 ? waiting.find((batch) => kindOf(batch) === "alone") : undefined;
}

const folders = ["tests", "services", "libs", "proto"];

/** Files in the order in which they start: those that take longest, across services, come first. */
export function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => folders.indexOf(file.split("/")[0] ?? "");
  return files.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
