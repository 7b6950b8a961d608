// Every secret of this installation that the machine knows, so that none is left in a support bundle.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const largestFile = 64 * 1024;
const secretName = /PASSWORD|TOKEN|SECRET|CREDENTIAL|KEY|DATABASE_URL|NATS_URL|HEARTBEAT|WEBHOOK/i;
/** Below the data folder of a stack: what `svc up` generates and where sessions and keys lie. */
const places = ["secrets", "tokens", "offsite", "stack.json", "cli-session", "setup-url"];
/** Members of stack.json that are not secrets although they lie in that file. */
const publicMembers =
  /_dir$|^dir$|kubeconfig$|_host$|^host$|^page$|_domain$|^name$|^log$|_file$|_base_url$|^metrics$|_user$/i;
/** Words of a line that are long enough to be a token, such as that of a session. */
const shortestToken = 16;

/** Values of secrets from files of the data folder, from files that settings name, and from the environment. */
export function knownSecrets(data: string, env: NodeJS.ProcessEnv): Set<string> {
  const found = new Set<string>();
  const add = (value: string) => {
    for (const text of [value, ...partsOfUrl(value)]) if (text.trim() !== "") found.add(text.trim());
  };
  for (const place of places)
    for (const text of textsBelow(join(data, place))) for (const one of valuesIn(text)) add(one);
  for (const path of filesNamedBy(data, env))
    for (const text of textsBelow(path)) for (const one of valuesIn(text)) add(one);
  const named = new Set(namedIn(settingsOf(data, env), "ref"));
  for (const [name, value = ""] of Object.entries(env))
    if (named.has(name) || (secretName.test(name) && !name.endsWith("_FILE"))) add(value);
  return found;
}

/** Files that a setting or a variable names as the place of a secret. */
function filesNamedBy(data: string, env: NodeJS.ProcessEnv): string[] {
  const settings = settingsOf(data, env);
  const named = namedIn(settings, "ref").map((name) => `${name}_FILE`);
  const variables = Object.entries(env)
    .filter(([name]) => named.includes(name) || (name.startsWith("SVC_") && name.endsWith("_FILE")))
    .map(([, path = ""]) => path);
  return [...namedIn(settings, "file"), ...variables].filter(Boolean);
}

/** Of the file and of the variable that overrides it. */
function settingsOf(data: string, env: NodeJS.ProcessEnv): string {
  const [file = ""] = textsBelow(env["SVC_CONFIG"] || join(data, "svc.toml"));
  return `${file}\n${env["SVC_SET"] ?? ""}`;
}

/** What the settings that end so name, in whatever form they are written. */
function namedIn(settings: string, end: "file" | "ref"): string[] {
  const found = settings.matchAll(
    /\b\w{1,40}_(file|ref)["']?\s{0,20}=\s{0,20}(?:"([^"\n]{1,1000})"|'([^'\n]{1,1000})'|([^\s"',;]{1,1000}))/g,
  );
  return [...found].flatMap(([, ending, ...values]) =>
    ending === end ? values.filter((value) => value !== undefined) : [],
  );
}

function textsBelow(path: string): string[] {
  try {
    const about = statSync(path);
    if (about.isDirectory()) return readdirSync(path).flatMap((name) => textsBelow(join(path, name)));
    return about.isFile() && about.size <= largestFile ? [readFileSync(path, "utf8")] : [];
  } catch {
    return [];
  }
}

function valuesIn(text: string): string[] {
  try {
    return leavesOf(JSON.parse(text) as unknown);
  } catch {
    const lines = text.split("\n");
    // `account:password`, `NAME=value`, `token host`
    return lines.flatMap((line) => [
      line,
      line.slice(line.search(/[:=]/) + 1),
      ...line.split(/\s/).filter((word) => word.length >= shortestToken),
    ]);
  }
}

function leavesOf(value: unknown, key = ""): string[] {
  if (typeof value === "string") return publicMembers.test(key) ? partsOfUrl(value) : [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, name));
}

/** Password and query of a URL. */
function partsOfUrl(text: string): string[] {
  if (!text.includes("://") || !URL.canParse(text)) return [];
  const { password, searchParams } = new URL(text);
  return [password, decodeURIComponent(password), ...searchParams.values()];
}
