// When each manifest was pushed last, which the registry itself does not know. Prune asks for it by `Last-Modified` and
// deletes with `If-Unmodified-Since`, so that what is pushed meanwhile stays.

import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";

const Line = z.union([
  z.strictObject({ since: z.number() }),
  z.strictObject({ manifest: z.string(), at: z.number() }),
]);

export type PushLog = {
  /** Of a manifest, by `repository@digest`. For one that is older than the log: when the log began. */
  pushedAt: (manifest: string) => number;
  /** Before the registry answers: a push that fails only makes a manifest look younger. */
  record: (manifest: string) => void;
};

type Options = { file: string; keptMs: number; now: () => number; warn: (message: string) => void };

const compactAfter = 10_000;

/** A line for each push; the older ones are forgotten after `keptMs`. */
export function createPushLog(options: Options): PushLog {
  const { file, keptMs, now } = options;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  let { since, pushes } = readLog(options);
  let appended = 0;
  const compact = () => {
    const oldest = now() - keptMs;
    pushes = new Map([...pushes].filter(([, at]) => at >= oldest));
    since = Math.max(since, oldest);
    const lines = [...pushes].map(([manifest, at]) => JSON.stringify({ manifest, at }));
    writeFileSync(`${file}.new`, [JSON.stringify({ since }), ...lines, ""].join("\n"), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    appended = 0;
  };
  compact();
  return {
    pushedAt: (manifest) => pushes.get(manifest) ?? since,
    record: (manifest) => {
      const at = now();
      pushes.set(manifest, at);
      appendFileSync(file, `${JSON.stringify({ manifest, at })}\n`, { mode: 0o600 });
      appended += 1;
      if (appended > compactAfter) compact();
    },
  };
}

/** Without a log, or with a damaged one, everything may have been pushed just now. */
function readLog({ file, now, warn }: Options): { since: number; pushes: Map<string, number> } {
  const pushes = new Map<string, number>();
  const unknown = { since: now(), pushes };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return unknown;
    throw error;
  }
  let since: number | undefined;
  // A line that a crash cut is the last one, and its push was never answered.
  for (const line of text.split("\n").slice(0, -1)) {
    const parsed = Line.safeParse(parseJson(line));
    if (!parsed.success) {
      warn(`${file} is damaged; every manifest counts as pushed now`);
      return { since: now(), pushes: new Map() };
    }
    if ("since" in parsed.data) since = parsed.data.since;
    else pushes.set(parsed.data.manifest, parsed.data.at);
  }
  return since === undefined ? unknown : { since, pushes };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
