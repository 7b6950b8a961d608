import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { lineOf, StepFailure } from "./failure.ts";
import { countTree, killTree } from "./kill-tree.ts";
import type { StepContext } from "./step.ts";

type Program = { command: string; args: string[]; env: Record<string, string>; cwd: string };

/** How long output may come after the program's end, from what it left behind. */
const outputMs = 2_000;

/**
 * Runs a program whose lines are the build's log; its last line is the reason when it fails. What is beyond the bounds of a
 * log is read and counted.
 */
export async function runLogged(
  { command, args, env, cwd }: Program,
  { say, signal, limits }: Pick<StepContext, "say" | "signal" | "limits">,
): Promise<void> {
  signal.throwIfAborted();
  const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => void (child.pid !== undefined && killTree(child.pid));
  signal.addEventListener("abort", kill, { once: true });
  let refused: StepFailure | undefined;
  const checking = setInterval(() => {
    if (refused || child.pid === undefined || countTree(child.pid) <= limits.processes) return;
    refused = new StepFailure(`the build runs more than ${limits.processes} processes at once`);
    kill();
  }, limits.diskCheckMs);
  const log = boundedLog(say, limits);
  const streams = [child.stdout, child.stderr];
  const read = Promise.all(streams.map((stream) => readLines(stream, limits.logLine, log.add)));
  try {
    const code = await endOf(child).catch((cause: Error) => {
      throw new StepFailure(`${command} does not run: ${cause.message}`, { cause });
    });
    const late = setTimeout(() => {
      for (const stream of streams) stream.destroy();
    }, outputMs);
    await read.finally(() => clearTimeout(late));
    signal.throwIfAborted();
    log.end();
    if (refused) throw refused;
    if (code !== 0) throw new StepFailure(lineOf(log.last()) || `${command} ended with ${code}`);
  } finally {
    clearInterval(checking);
    signal.removeEventListener("abort", kill);
  }
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
}

type LogLimits = Pick<StepContext["limits"], "logBytes" | "logLine">;

function boundedLog(say: (line: string) => void, { logBytes }: LogLimits) {
  let [bytes, omitted, last] = [0, 0, ""];
  return {
    add: (line: string) => {
      if (line.trim() !== "") last = line;
      bytes += line.length + 1;
      if (bytes <= logBytes) return say(line);
      if (omitted === 0) say(`(the log is cut here: it has more than ${logBytes} bytes)`);
      omitted += 1;
    },
    end: () => {
      if (omitted === 0) return;
      say(`(${omitted} lines are omitted; the last one follows)`);
      say(last);
    },
    last: () => last,
  };
}

/** Lines without their ends; of a longer one than `most` the rest is dropped. */
async function readLines(stream: Readable, most: number, add: (line: string) => void): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let line = "";
  const take = (text: string) => {
    if (line.length < most) line += text.slice(0, most - line.length);
  };
  try {
    for await (const chunk of stream) {
      const [first = "", ...more] = decoder.write(chunk as Buffer).split("\n");
      take(first);
      for (const next of more) {
        add(line.replace(/\r$/, ""));
        line = "";
        take(next);
      }
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
  }
  if (line !== "") add(line);
}
