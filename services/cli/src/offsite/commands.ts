// `svc offsite …` (docs/reference/off-site.md#commands).

import { operatorNatsUrl } from "../config.ts";
import { countsText } from "../database/bundles.ts";
import { databaseVariables } from "../database/environment.ts";
import { askWatchdog } from "../database/watchdog.ts";
import { type Outcome, planned, sizeText, table } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { showProgress } from "./progress.ts";
import { exitCodeOf, type Status, statusText, type WorldCounts, worldsLines } from "./status-text.ts";

type Options = { data: string; json?: boolean };

/** Storage is asked for archives as the operator; commands on the bucket alone work without it. */
function variables(data: string): NodeJS.ProcessEnv {
  const env = databaseVariables(data);
  const url = operatorNatsUrl() ?? stackNatsUrl(data);
  return { ...env, ...(url !== undefined && { SVC_OPERATOR_NATS_URL: url }) };
}

function stackNatsUrl(data: string): string | undefined {
  try {
    return readStackFile(data).nats_url;
  } catch {
    return undefined;
  }
}

type Pass = {
  state: NonNullable<Status["last"]>["state"];
  report: Omit<NonNullable<Status["last"]>, "state">;
};

export async function sync({ data, json }: Options): Promise<Outcome> {
  const bar = showProgress(json ? undefined : process.stderr);
  const { state, report } = await askWatchdog<Pass>(
    { ...variables(data), SVC_PROGRESS: "1" },
    { do: "offsite-sync" },
    bar.onLine,
  ).finally(bar.end);
  const lines = [
    ...(state === "completed" || state === "incomplete"
      ? [`Sent ${report.sent} objects (${sizeText(report.sent_bytes)}), deleted ${report.deleted}.`]
      : []),
    ...(report.error === undefined ? [] : [`${report.error.replace(/\.$/, "")}.`]),
    ...report.failures.map(({ key, error }) => `failed: ${key}: ${error}`),
  ];
  const exitCode = state === "completed" ? 0 : state === "wrong_key" ? 3 : 1;
  return { json: { state, ...report }, text: lines.join("\n"), exitCode };
}

export async function status({ data }: Options): Promise<Outcome> {
  const found = await askWatchdog<Status>(variables(data), { do: "offsite-status" });
  return { json: found, text: statusText(found), exitCode: exitCodeOf(found) };
}

type Listed = {
  bucket: string;
  objects: { key: string; size_bytes: number; at?: string }[];
  worlds: WorldCounts;
};

export async function list({ data }: Options): Promise<Outcome> {
  const listed = await askWatchdog<Listed>(variables(data), { do: "offsite-list" });
  const rows = listed.objects.map(({ key, size_bytes, at = "" }) => [key, sizeText(size_bytes), at]);
  const text =
    rows.length > 0
      ? [table([["OBJECT", "SIZE", "STORED"], ...rows]), ...worldsLines("Worlds", listed.worlds)].join("\n")
      : `The bucket ${listed.bucket} is empty.`;
  return { json: listed, text };
}

type Verified = {
  checked: string[];
  damaged: { key: string; problem: string; repaired: boolean }[];
  unread: { key: string; problem: string }[];
  worlds: WorldCounts;
  wrong_key?: string;
};

export async function verify({ data, sample }: Options & { sample?: number }): Promise<Outcome> {
  const about = sample === undefined ? {} : { sample };
  const verified = await askWatchdog<Verified>(variables(data), { do: "offsite-verify", ...about });
  const { checked, damaged, unread, worlds, wrong_key } = verified;
  if (wrong_key !== undefined) return { json: verified, text: `${wrong_key}.`, exitCode: 3 };
  const lines = [
    ...damaged.map(
      ({ key, problem, repaired }) => `BAD  ${key}: ${problem}${repaired ? "; it was sent again" : ""}`,
    ),
    ...unread.map(({ key, problem }) => `NOT READ  ${key}: ${problem}`),
    `${checked.length - damaged.length} of ${checked.length} objects are intact.`,
    ...worldsLines("Opened of worlds", worlds),
  ];
  return {
    json: verified,
    text: lines.join("\n"),
    exitCode: damaged.length + unread.length === 0 ? 0 : 1,
  };
}

type TakeOver = {
  host: { id: string; name: string };
  writer?: { host_id: string; name: string; last_run_at: string };
  is_writer: boolean;
  done: boolean;
};

export async function takeOver({ data, yes }: Options & { yes?: boolean }): Promise<Outcome> {
  const plan = await askWatchdog<TakeOver>(variables(data), { do: "offsite-take-over", apply: yes ?? false });
  if (plan.is_writer) return { json: plan, text: "This host is the writer already." };
  const before = plan.writer
    ? `The writer is ${plan.writer.name} (host ${plan.writer.host_id}), last at ${plan.writer.last_run_at}.`
    : "The bucket has no writer.";
  const text = `${before}\nThis host, ${plan.host.name} (${plan.host.id}), takes its place; the other one then stands by.`;
  if (plan.done) return { json: plan, text: `${before}\nThis host is the writer now.` };
  return { ...planned(plan, text), exitCode: 4 };
}

type FetchedBundle = {
  name: string;
  path: string;
  counts: { accounts: number; servers: number; rows: number };
  was_in_place: boolean;
};

export async function fetchDb(
  bundle: string,
  { data, force }: Options & { force?: boolean },
): Promise<Outcome> {
  const env = variables(data);
  const fetched = await askWatchdog<FetchedBundle>(env, {
    do: "offsite-fetch-db",
    bundle,
    force: force ?? false,
  });
  const { name, path, counts, was_in_place } = fetched;
  return {
    json: fetched,
    text: [
      `${path}: ${countsText(counts)}${was_in_place ? ", was in place" : ""}.`,
      `Next: svc db restore ${name}`,
    ].join("\n"),
  };
}

type FetchedWal = {
  dir: string;
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  failures: { key: string; error: string }[];
  runs: { name: string; from: string; until: string }[];
};

export async function fetchWal({ data, at }: Options & { at?: Date }): Promise<Outcome> {
  const command = { do: "offsite-fetch-wal", ...(at && { at: at.toISOString() }) };
  const done = await askWatchdog<FetchedWal>(variables(data), command);
  const next = at?.toISOString() ?? "TIME";
  const lines = [
    `Fetched ${done.fetched} parts (${sizeText(done.fetched_bytes)}) to ${done.dir}; ${done.in_place} were in place.`,
    ...done.runs.map(({ name, from, until }) => `${name} covers ${from} until ${until}`),
    ...done.failures.map(({ key, error }) => `failed: ${key}: ${error}`),
    ...(done.runs.length > 0 ? [`Next: svc db at ${next}, or svc db restore --to ${next}`] : []),
  ];
  const isGood = done.failures.length === 0 && done.runs.length > 0;
  return { json: done, text: lines.join("\n"), exitCode: isGood ? 0 : 1 };
}

type FetchedWorlds = {
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  missing: { id: string; server: string; archive: string }[];
  failures: { key: string; error: string }[];
};

export async function fetchWorlds({ data }: Options): Promise<Outcome> {
  const done = await askWatchdog<FetchedWorlds>(variables(data), { do: "offsite-fetch-worlds" });
  const lines = [
    `Fetched ${done.fetched} archives (${sizeText(done.fetched_bytes)}); ${done.in_place} were in place.`,
    ...done.missing.map(({ id, server, archive }) => `missing: backup ${id} of ${server} (${archive})`),
    ...done.failures.map(({ key, error }) => `failed: ${key}: ${error}`),
  ];
  const isGood = done.missing.length + done.failures.length === 0;
  return { json: done, text: lines.join("\n"), exitCode: isGood ? 0 : 1 };
}

type FetchedIndexed = {
  list?: string;
  in_place: number;
  fetched: number;
  fetched_bytes: number;
  missing: string[];
  failures: { key: string; error: string }[];
};
type Fetching = Options & { at?: Date };

const whenOf = ({ at }: Fetching) => (at === undefined ? {} : { at: at.toISOString() });

export async function fetchImages(options: Fetching): Promise<Outcome> {
  const command = { do: "offsite-fetch-images", ...whenOf(options) };
  const done = await askWatchdog<FetchedIndexed & { images: number; kept_tags: string[] }>(
    variables(options.data),
    command,
  );
  if (done.list === undefined) return { json: done, text: "The bucket has no images." };
  return fetchedOutcome(done, [
    `List ${done.list}: ${done.images} images. Fetched ${done.fetched} parts of them (${sizeText(done.fetched_bytes)}); ${done.in_place} were in place.`,
    ...done.kept_tags.map((tag) => `kept: ${tag} names another image here`),
  ]);
}

export async function fetchUploads(options: Fetching): Promise<Outcome> {
  const command = { do: "offsite-fetch-uploads", ...whenOf(options) };
  const done = await askWatchdog<FetchedIndexed>(variables(options.data), command);
  return fetchedOutcome(done, [
    `Fetched ${done.fetched} contexts (${sizeText(done.fetched_bytes)}); ${done.in_place} were in place.`,
  ]);
}

function fetchedOutcome(done: FetchedIndexed, first: readonly string[]): Outcome {
  const lines = [
    ...first,
    ...done.missing.map((key) => `missing: ${key}`),
    ...done.failures.map(({ key, error }) => `failed: ${key}: ${error}`),
  ];
  const isGood = done.missing.length + done.failures.length === 0;
  return { json: done, text: lines.join("\n"), exitCode: isGood ? 0 : 1 };
}
