// Runs a file of Node in namespaces of its own, so that its networks, mounts and ports meet nothing of the machine's.

import { spawn } from "node:child_process";
import { once } from "node:events";

type Namespaces = {
  /** Those of `unshare` beside the network and the mounts, as its options. */
  more?: readonly string[];
  /** Shell commands that prepare them; the loopback is up. */
  prepare: readonly string[];
  /** Whether the shell stays as the parent of all processes inside, and so collects those whose parent has ended. */
  hasInit?: boolean;
};

/**
 * Runs a file there; `inside` is what `readInside` answers in it. Resolves with its exit code and what it printed on both streams.
 */
export async function runInNamespaces(
  file: string,
  { more = [], prepare, hasInit = false }: Namespaces,
  inside: object,
): Promise<{ code: number; output: string }> {
  const script = ["ip link set lo up", ...prepare, hasInit ? '"$@"' : 'exec "$@"'].join(" && ");
  const words = ["--net", "--mount", ...more, "sh", "-c", script, "sh", process.execPath, file];
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn("unshare", words, {
    env: { ...env, SVC_INSIDE: JSON.stringify(inside) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? 1, output };
}

/** What `runInNamespaces` was given for the file that this process runs. */
export function readInside<T extends object>(): T {
  return JSON.parse(process.env["SVC_INSIDE"] ?? "{}") as T;
}
