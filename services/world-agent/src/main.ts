// The world agent as a Job runs it: `node main.ts --world=/world --archive=/archive --tmp=/tmp` with SVC_TASK, and
// `--secret=DIR` with the files token and content. Exit code 0 with one result line, also for faults of the caller; anything else is our own failure,
// told on stderr. SIGTERM aborts: what was not finished leaves nothing behind.

import { limits, readSettings } from "./config.ts";
import { createProgress, reportResult } from "./report.ts";
import { runTask } from "./run.ts";

const write = (line: string) => void process.stdout.write(line);
const say = (text: string) => void process.stderr.write(`${text.replaceAll(/\p{Cc}/gu, " ")}\n`);
const aborting = new AbortController();
process.once("SIGTERM", () => aborting.abort(new Error("the Job was stopped")));

try {
  const settings = readSettings(process.argv.slice(2), process.env);
  const onProgress = createProgress(write, limits.progressEveryMs);
  const { token, content, parts, tmp, traceparent } = settings;
  reportResult(
    write,
    await runTask(settings, {
      token,
      content,
      parts,
      tmp,
      onProgress,
      say,
      traceparent,
      signal: aborting.signal,
    }),
  );
} catch (error) {
  const reason = aborting.signal.aborted ? aborting.signal.reason : error;
  say(reason instanceof Error ? reason.message : String(reason));
  process.exitCode = aborting.signal.aborted ? 143 : 1;
}
