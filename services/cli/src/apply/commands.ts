// `svc apply` and `svc server export` (docs/reference/apply.md).

import { isDeepStrictEqual } from "node:util";
import { apiTokens } from "@svc/proto";
import { connectExternal, type External } from "../account/external.ts";
import { openPrompt } from "../account/prompt.ts";
import { apiToken, callerDir } from "../config.ts";
import { CommandError, explainError, type Outcome } from "../output.ts";
import { act } from "./act.ts";
import type { Caller, Change, Plan, Present, Wanted } from "./change.ts";
import { documentOf, yamlOf } from "./export.ts";
import { observe, readOwned, scopeOf } from "./observe.ts";
import { isDelicate, planChanges } from "./plan.ts";
import { parseSources, readSources } from "./read.ts";
import { lacksToChange, lacksToRead } from "./rights.ts";
import { lineOf, planText } from "./text.ts";

export type ApplyOptions = {
  data: string;
  json?: boolean;
  file: string[];
  plan?: boolean;
  yes?: boolean;
  prune?: boolean;
};

type Session = { external: External; caller: Caller; prune: boolean };

/** Makes servers as the files say. Nothing is changed unless all of it is possible as far as can be seen. */
export async function apply(options: ApplyOptions): Promise<Outcome> {
  const { wanted, problems } = parseSources(await readSources(options.file, callerDir));
  if (problems.length > 0) throw new CommandError(problems.join("\n"));
  const external = connectExternal(options.data);
  const caller = { isOperator: external.panelHost === "admin" };
  const session = { external, caller, prune: options.prune ?? false };
  const grant = apiToken() === undefined ? undefined : await external.call(apiTokens.readOwn, {});
  refuseAll(grant ? lacksToRead(grant, wanted) : []);
  const plan = await planFor(session, wanted);
  refuseAll([...plan.refusals, ...(grant ? lacksToChange(grant, plan.changes) : [])]);
  const text = planText(plan);
  if (plan.changes.length === 0) return { json: { ...toJson(plan), done: true }, text };
  if (options.plan)
    return { json: { ...toJson(plan), done: false }, text: `${text}\nNothing was done (--plan).` };
  if (!(await isAgreed(plan, text, options)))
    return { json: { ...toJson(plan), done: false }, text: `${text}\nNothing was done; add --yes to do it.` };
  return carryOut(session, wanted, { plan, text });
}

function refuseAll(refusals: readonly string[]): void {
  if (refusals.length === 0) return;
  throw new CommandError(`nothing was changed:\n${refusals.map((line) => `  ${line}`).join("\n")}`);
}

async function planFor({ external, caller, prune }: Session, wanted: readonly Wanted[]): Promise<Plan> {
  const owned = await readOwned(external);
  const present = new Map<string, Present>();
  for (const one of wanted)
    if (!present.has(one.name)) present.set(one.name, await observe(external, scopeOf(one), owned));
  return planChanges(wanted, present, { caller, options: { prune } });
}

// Asks only for what hurts; whoever has no terminal gives --yes.
async function isAgreed(
  { changes }: Plan,
  text: string,
  { yes, json, file }: ApplyOptions,
): Promise<boolean> {
  if (yes || !changes.some(isDelicate)) return true;
  if (json || !process.stdin.isTTY || file.includes("-")) return false;
  const prompt = openPrompt("no answer was given; nothing was changed");
  const answer = await prompt.ask(`${text}\nDo it? Type yes: `).finally(prompt.close);
  return answer.toLowerCase() === "yes";
}

/** Server by server; what changed since the plan was made is not overwritten. Stops at the first refusal. */
async function carryOut(
  session: Session,
  wanted: readonly Wanted[],
  { plan, text }: { plan: Plan; text: string },
): Promise<Outcome> {
  const done: Change[] = [];
  for (const one of wanted) {
    const own = plan.changes.filter(({ server }) => server === one.name);
    if (own.length === 0) continue;
    try {
      const now = await planFor(session, [one]);
      if (now.refusals.length > 0 || !isDeepStrictEqual(now.changes, own))
        throw new CommandError(
          `${one.name} was changed by somebody else since the plan was made; run it again`,
        );
      for (const change of own) {
        await act(session.external, change);
        done.push(change);
      }
    } catch (error) {
      const left = plan.changes.slice(done.length);
      return stopped(plan, { done, left, why: explainError(error) });
    }
  }
  return {
    json: { ...toJson(plan), applied: done.length, done: true },
    text: `${text}\nDone: ${done.length} changed.`,
  };
}

type Stopped = { done: readonly Change[]; left: readonly Change[]; why: string };

function stopped(plan: Plan, { done, left, why }: Stopped): Outcome {
  const lines = (changes: readonly Change[]) => changes.map((change) => `  ${lineOf(change)}`);
  const text = [
    ...(done.length > 0 ? ["Done:", ...lines(done)] : ["Nothing was changed."]),
    "Not done:",
    ...lines(left),
    `Stopped: ${why}`,
    "Run it again when that is mended; it continues with what is left.",
  ].join("\n");
  return { json: { ...toJson(plan), applied: done.length, done: false, error: why }, text, exitCode: 1 };
}

function toJson({ changes, kept }: Plan) {
  return { changes, kept };
}

/** Prints the file of a server as it is; what a token may not read is left out. */
export async function exportServer(name: string, { data }: { data: string }): Promise<Outcome> {
  const external = connectExternal(data);
  const grant = apiToken() === undefined ? undefined : await external.call(apiTokens.readOwn, {});
  const may = (right: "schedules" | "players") => grant?.rights.includes(right) ?? true;
  // No token may read who has access.
  const hasMembers = grant === undefined;
  const scope = {
    name,
    hasTasks: may("schedules"),
    hasAllowlist: may("players"),
    hasRestart: true,
    hasMembers,
  };
  const present = await observe(external, scope, await readOwned(external));
  if (present.kind === "absent") throw new CommandError(`there is no server ${name}`);
  if (present.kind === "foreign") throw new CommandError(`${name} is not yours`);
  const document = documentOf(present);
  return { json: document, text: yamlOf(document) };
}
