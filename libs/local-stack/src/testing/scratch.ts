import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { patience } from "./patience.ts";

/** A temporary folder that other accounts may enter, removed at the end of the scope. */
export function scratchDir(): { path: string; [Symbol.dispose]: () => void } {
  const path = mkdtempSync(join(tmpdir(), "svc-stack-test-"));
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Waits until `probe` gives something; throws after `withinMs`. */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false,
  withinMs = 10_000,
): Promise<T> {
  const end = Date.now() + withinMs * patience;
  for (;;) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`${what} did not happen within ${withinMs} ms`);
    await sleep(10);
  }
}
