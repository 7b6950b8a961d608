// Which test files run at the same time.

/** What a file needs of the machine. */
export type Kind = "stack" | "plain" | "alone";

/** Files that start a whole stack wait most of their time; one measures what a caller notices, undisturbed. */
export function kindOf(file: string): Kind {
  if (file === "tests/fault/replicas.sampled.test.ts") return "alone";
  return /^tests\/(browser|fault|flow)\//.test(file) ? "stack" : "plain";
}

/** Files that share the real API server of the kube lane: what one makes of its controllers, the others wait for. */
const usesCluster = (file: string) => file.startsWith("tests/kube/");

/** How many files run at once, and how many of them with a whole stack. */
export type Places = { all: number; stacks: number };

/** The file to start next: a stack when there is a place for it, otherwise the next plain one. */
export function chooseNext(
  waiting: readonly string[],
  running: readonly string[],
  places: Places,
): string | undefined {
  if (running.length >= places.all || running.some((file) => kindOf(file) === "alone")) return undefined;
  const stacks = running.filter((file) => kindOf(file) === "stack").length;
  const isClusterTaken = running.some(usesCluster);
  const find = (kind: Kind) =>
    waiting.find((file) => kindOf(file) === kind && !(isClusterTaken && usesCluster(file)));
  const next = (stacks < places.stacks ? find("stack") : undefined) ?? find("plain");
  if (next !== undefined) return next;
  return running.length === 0 ? waiting.find((file) => kindOf(file) === "alone") : undefined;
}

const folders = ["tests", "services", "libs", "proto"];

/** Files in the order in which they start: those that take longest, across services, come first. */
export function inOrder(files: readonly string[]): string[] {
  const rank = (file: string) => folders.indexOf(file.split("/")[0] ?? "");
  return files.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
