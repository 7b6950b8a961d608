// Downloads the files that the plan of a pack names into its context, each checked while it arrives: no file is there before its
// size and its hashes are right (docs/reference/builds.md#downloads).

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import * as buildJobs from "@svc/proto/build-job";
import {
  type Getting,
  guardedGet,
  type Judged,
  SourceRefused,
  SourceUnavailable,
  type TestNetwork,
} from "@svc/service/guarded-get";
import { type Mismatch, verified } from "@svc/service/verified";
import { createFileWriter, type Folder, parsePath } from "@svc/world";
import { StepFailure } from "../failure.ts";
import type { StepContext } from "../step.ts";

type Allowed = NonNullable<buildJobs.BuildTask["downloads"]>;
type Wanted = buildJobs.PackDownload;

const { packFiles, PackPlan } = buildJobs;
const atOnce = 4;
const firstPauseMs = 250;
const longestPauseMs = 10_000;
const mostRedirects = 5;
const mostPlanBytes = 64 << 20;

type Downloading = Pick<StepContext, "say" | "signal"> & {
  limits: Pick<StepContext["limits"], "stallMs" | "retryMs">;
  network?: TestNetwork;
};

/** Returns a line about what was downloaded. Throws `StepFailure` with the file and the reason. */
export async function downloadAll(root: Folder, allowed: Allowed, context: Downloading): Promise<string> {
  const { downloads } = await readPlan(root);
  assertWithin(downloads, allowed);
  const names = downloads.map(({ path }) => [packFiles.server, ...parsePath(path)]);
  // One after the other, so that two files of one new folder do not both make it.
  for (const one of [[packFiles.server, ""], ...names]) await makeFolders(root, one.slice(0, -1));
  const stopping = new AbortController();
  const signal = AbortSignal.any([context.signal, stopping.signal]);
  const left = downloads.entries();
  const work = async () => {
    for (const [index, file] of left) {
      const place = names[index] ?? [];
      await downloadOne({ root, place, file }, allowed.hosts, { ...context, signal });
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error: unknown) => {
      stopping.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  context.signal.throwIfAborted();
  if (stopping.signal.aborted) throw stopping.signal.reason;
  return `downloaded ${downloads.length} files, ${bytesOf(downloads)} bytes`;
}

async function readPlan(root: Folder): Promise<buildJobs.PackPlan> {
  try {
    await using file = await root.openFile(packFiles.plan);
    const { size } = await file.stat();
    if (size > mostPlanBytes) throw new Error(`it has ${size} bytes`);
    return PackPlan.parse(JSON.parse(await file.readFile("utf8")));
  } catch (error) {
    throw new StepFailure(`${packFiles.plan} of the context can't be read: ${(error as Error).message}`);
  }
}

const bytesOf = (files: readonly Wanted[]) => files.reduce((sum, { size }) => sum + size, 0);

/** The operator may have changed the limits since the pack was reviewed. */
function assertWithin(files: readonly Wanted[], { files: mostFiles, bytes: mostBytes }: Allowed): void {
  if (files.length > mostFiles)
    throw new StepFailure(`the pack downloads ${files.length} files, more than builds.pack_downloads allows`);
  if (bytesOf(files) > mostBytes)
    throw new StepFailure(`the pack downloads ${bytesOf(files)} bytes, more than builds.pack_download_bytes`);
  const unproven = files.find(({ sha512, sha1 }) => sha512 === undefined && sha1 === undefined);
  if (unproven) throw new StepFailure(`${unproven.path} has no hash`);
}

async function makeFolders(root: Folder, names: readonly string[]): Promise<void> {
  let folder = await root.duplicate();
  try {
    for (const name of names) {
      if (!(await folder.find(name))) await folder.makeFolder(name);
      const inner = await folder.enter(name);
      await folder.close();
      folder = inner;
    }
  } finally {
    await folder.close();
  }
}

type Target = { root: Folder; place: readonly string[]; file: Wanted };

/** Tries each address, again while none can be reached. */
async function downloadOne(target: Target, hosts: readonly string[], context: Downloading): Promise<void> {
  const { path, size, urls } = target.file;
  const { signal, limits, say, network } = context;
  const judge = (address: string) => judgeAddress(address, hosts);
  const about = { userAgent: "svc-build-agent", mostRedirects, stallMs: limits.stallMs };
  const getting: Getting = { ...about, judge, signal, network };
  const endAt = performance.now() + limits.retryMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    let [unavailable, refused]: (Error | undefined)[] = [];
    for (const url of urls) {
      try {
        await store(target, readSource(url, getting));
        say(`downloaded ${path}, ${size} bytes from ${new URL(url).host}`);
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SourceUnavailable) unavailable = error;
        else if (error instanceof StepFailure || error instanceof SourceRefused) refused = error;
        else throw error;
      }
    }
    if (!unavailable) throw new StepFailure(`${path} can't be downloaded: ${refused?.message}`);
    if (performance.now() + pauseMs > endAt)
      throw new StepFailure(`${path} is unavailable; retry the build later. ${unavailable.message}`);
    say(`${path} is unavailable; retrying. ${unavailable.message}`);
    await delay(pauseMs, undefined, { signal });
  }
}

function judgeAddress(address: string, hosts: readonly string[]): Judged {
  if (!URL.canParse(address)) return { problem: "The address is incomplete." };
  const url = new URL(address);
  const { protocol, host, username, password } = url;
  if (protocol === "https:" && username === "" && password === "" && hosts.includes(host))
    return { url, isInside: false };
  return { problem: `${protocol}//${host} is not allowed; builds.pack_hosts has ${hosts.join(", ")}.` };
}

async function* readSource(url: string, getting: Getting): AsyncGenerator<Buffer> {
  const got = await guardedGet(url, getting);
  try {
    if (got.status !== 200) throw new SourceUnavailable(`${new URL(url).host} answered ${got.status}.`);
    yield* got.body;
  } finally {
    got.close();
  }
}

/** Under a hidden name until its bytes are proven. */
async function store({ root, place, file }: Target, bytes: AsyncIterable<Buffer>): Promise<void> {
  await using folder = await root.descend(place.slice(0, -1));
  const name = place.at(-1) ?? "";
  const partial = `.svc-download-${createHash("sha1").update(name).digest("hex")}`;
  const handle = await folder.createFile(partial);
  let isProven = false;
  try {
    const writer = createFileWriter(handle);
    for await (const chunk of verified(bytes, file, asFailure))
      if (!writer.write(chunk)) await writer.flush();
    await writer.finish();
    isProven = true;
  } finally {
    await handle.close();
    if (!isProven) await folder.removeFile(partial);
  }
  await folder.moveToFree(partial, { name });
}

function asFailure({ problem }: Mismatch): StepFailure {
  return new StepFailure(`it is not the file that the pack names; ${problem}`);
}
