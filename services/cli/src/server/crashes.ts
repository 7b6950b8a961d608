import { crashes } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { hint } from "../hint.ts";
import { type Outcome, sizeText, table } from "../output.ts";

const causeWords: Record<crashes.CrashCause, string> = {
  memory_limit: "needed more memory than its limit; raise it with `server set --memory`",
  java_heap: "Java's heap was full; raise it with `server set --memory`, or take plugins out",
  eula: "nobody has agreed to the EULA; write eula=true into eula.txt",
  wrong_java: "needs another version of Java; choose another image",
  port_in_use: "could not open its port; leave server-ip and server-port as they were",
  world_in_use: "its world is in use by another process; start it again in a minute",
  disk_full: "its disk is full; delete files, or give it a larger disk",
  corrupt_world: "a part of its world is damaged; restore a backup",
  newer_world: "its world was saved by a newer version of the game; use that one, or restore a backup",
  missing_dependency: "a mod or plugin lacks another one; install it",
  mod_conflict: "mods or plugins do not go together; remove what was changed last",
  tick_stalled: "stood still and ended itself; the lines before show what it was busy with",
  evicted: "its node ran short of memory or disk",
  unresponsive: "was ended from outside, mostly for taking no more connections",
  hung: "its process ran and no longer answered; see `server restart-policy`",
  unknown: "not known; the last lines say most",
};

type Data = { data: string };

/** The crashes that are kept of a server, the newest first. */
export async function listCrashes(name: string, { data }: Data): Promise<Outcome> {
  const answer = await connectExternal(data).call(crashes.list, { name });
  const rows = answer.crashes.map((crash) => [
    crash.id,
    crash.at.slice(0, 19),
    String(crash.exit_code ?? "-"),
    `${crash.ran_seconds} s`,
    crash.cause,
    causeWords[crash.cause],
  ]);
  const [newest] = answer.crashes;
  if (!newest) return { json: answer, text: `${name} has not crashed in the last 30 days.` };
  const head = ["ID", "AT", "EXIT", "RAN", "CAUSE", "WHAT IT MEANS"];
  const next = `Last lines: ${hint(data, `server crashes ${name} ${newest.id}`)}`;
  return { json: answer, text: `${table([head, ...rows])}\n${next}` };
}

/** One crash with the last lines of its log. */
export async function readCrash(name: string, id: string, { data }: Data): Promise<Outcome> {
  const answer = await connectExternal(data).call(crashes.read, { name, id });
  const { memory_bytes: memory, memory_limit_bytes: limit, lines } = answer;
  const facts = [
    `${answer.at}: ${answer.cause}, ${causeWords[answer.cause]}`,
    ...(answer.detail === undefined ? [] : [`The log names: ${answer.detail}`]),
    `Exit: ${answer.exit_code ?? "unknown"} ${answer.exit_reason ?? ""}`.trim(),
    `It had run for ${answer.ran_seconds} s${answer.was_running ? "" : " and never accepted players"}.`,
    ...(memory === undefined
      ? []
      : [`Memory at the end: ${sizeText(memory)}${limit === undefined ? "" : ` of ${sizeText(limit)}`}`]),
  ];
  if (answer.tps !== undefined) facts.push(`Ticks a second before: ${answer.tps}`);
  if (answer.behind_ms !== undefined)
    facts.push(`Its log says that it was up to ${Math.round(answer.behind_ms / 1_000)} s behind.`);
  if (answer.watchdog) facts.push("Its watchdog spoke of a tick that did not end.");
  const log = lines.length === 0 ? "Its log was gone before it could be read." : lines.join("\n");
  return { json: answer, text: `${facts.join("\n")}\n\n${log}` };
}
