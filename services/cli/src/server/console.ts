// The console of a running server: live log lines and commands.

import { once } from "node:events";
import { createInterface } from "node:readline";
import { readEvents } from "@svc/client";
import { consoles } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { CommandError, type Outcome } from "../output.ts";

type Data = { data: string; json?: boolean };

export async function runCommand(name: string, words: readonly string[], { data }: Data): Promise<Outcome> {
  const answer = await connectExternal(data).call(consoles.command, { name, command: words.join(" ") });
  return { json: answer, text: answer.output.trimEnd() };
}

/** Prints log lines and sends what is typed; a terminal's arrow keys recall earlier input. */
export async function openConsole(name: string, { data, json = false }: Data): Promise<void> {
  const external = connectExternal(data);
  const ending = new AbortController();
  const opened = Promise.withResolvers<void>();
  const isTyped = process.stdin.isTTY;
  const tail = createTail(ending);
  const onLine = (line: string) => {
    process.stdout.write(`${json ? JSON.stringify({ line }) : line}\n`);
    tail.onLine();
  };
  const following = followLines(external, name, { signal: ending.signal, onLine, onOpen: opened.resolve });
  // A command before that would be answered, but its lines in the log might be missed.
  await Promise.race([opened.promise, following]);
  const typing = createInterface({
    input: process.stdin,
    ...(isTyped && { output: process.stderr, historySize: 500, prompt: "" }),
  });
  typing.on("SIGINT", () => typing.close());
  const ended = following.finally(() => typing.close());
  // When the stream ends first, its reason is thrown at the end.
  ended.catch(() => undefined);
  for await (const typed of typing) {
    const command = typed.trim();
    if (command === "") continue;
    const output = await send(external, { name, command });
    if (output !== "") process.stdout.write(`${json ? JSON.stringify({ line: output }) : output}\n`);
  }
  if (isTyped) ending.abort();
  else tail.end();
  await ended;
}

// A command that is refused does not end the console.
async function send(external: External, about: { name: string; command: string }): Promise<string> {
  try {
    return (await external.call(consoles.command, about)).output.trimEnd();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`svc: ${error.message}\n`);
    return "";
  }
}

const quietMs = 700;
const tailMs = 5_000;

/**
 * Ends a log that has been read. The stream does not mark the end of stored lines: they arrive at once, followed by a
 * pause, for which a busy server is not waited.
 */
function createTail(ending: AbortController): { onLine: () => void; end: () => void } {
  let hasLines = false;
  let isEnding = false;
  let quiet: NodeJS.Timeout | undefined;
  const restart = () => {
    clearTimeout(quiet);
    if (hasLines && isEnding) quiet = setTimeout(() => ending.abort(), quietMs);
  };
  const onLine = () => {
    hasLines = true;
    restart();
  };
  const end = () => {
    isEnding = true;
    const limit = setTimeout(() => ending.abort(), tailMs);
    ending.signal.addEventListener("abort", () => clearTimeout(limit));
    restart();
  };
  return { onLine, end };
}

/** Prints stored lines, and with `follow` new ones. */
export async function printLogs(
  name: string,
  { data, json = false, follow = false }: Data & { follow?: boolean },
): Promise<void> {
  const ending = new AbortController();
  const tail = createTail(ending);
  const onLine = (line: string) => {
    process.stdout.write(`${json ? JSON.stringify({ line }) : line}\n`);
    tail.onLine();
  };
  const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  void interrupted.then(() => ending.abort());
  const onOpen = () => {
    if (!follow) tail.end();
  };
  await followLines(connectExternal(data), name, { signal: ending.signal, onLine, onOpen });
  ending.abort();
}

type Following = { signal: AbortSignal; onLine: (line: string) => void; onOpen?: () => void };

async function followLines(external: External, name: string, about: Following): Promise<void> {
  const { signal, onLine, onOpen } = about;
  try {
    const response = await external.open(consoles.watch, { name }, { signal });
    onOpen?.();
    if (!response.body) return;
    for await (const { event, data } of readEvents(response.body)) {
      if (event === "revoked") throw new CommandError("you no longer have access to this server");
      if (event === "") onLine(data);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
