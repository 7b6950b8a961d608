// Builds an image without executing anything: a base, layers of copied files, and a configuration.

import { mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import { type Descriptor, isRegistryError, mediaTypes, openRegistry, type Registry } from "@svc/registry";
import type { ContextLimits } from "@svc/world";
import { limitsOf, type Settings } from "../config.ts";
import { StepFailure } from "../failure.ts";
import { type LayerCache, openLayerCache } from "../layer-cache/cache.ts";
import { readBounded } from "../read-bounded.ts";
import type { StepContext } from "../step.ts";
import { type Base, fetchLayer, openBase, scratch } from "./base.ts";
import { parseDockerfile } from "./dockerfile.ts";
import { FileTree } from "./file-tree.ts";
import { parseIgnore } from "./ignore.ts";
import { makeLayer } from "./make-layer.ts";
import { type LayerEntry, planFolder, planLayer } from "./plan-layer.ts";
import { type Recipe, readRecipe } from "./recipe.ts";
import { writeImageArchive } from "./write-archive.ts";

const textBytes = 1 << 20;
/** Every COPY writes its files again. */
const imageFactor = 2;
const epoch = "1970-01-01T00:00:00Z";

export async function assemble(settings: Settings, context: StepContext): Promise<undefined> {
  const { task, folder } = settings;
  const registry = openRegistry({
    host: task.registry.host,
    plainHttp: task.registry.plain_http,
    timeoutMs: context.limits.registryMs,
    retryForMs: context.limits.retryMs,
  });
  const work = join(folder("tmp"), "assemble");
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  try {
    const root = folder("context");
    const limits = limitsOf(task);
    const { recipe, base } = await read(root, registry, context);
    const cache = openLayerCache(settings, context);
    const built = await build({ root, recipe, base, registry, cache, work, limits }, context);
    const archive = join(folder("image"), buildJobs.buildFiles.imageTar);
    context.say(`built ${await writeImageArchive(built, archive, context.signal)}`);
  } catch (error) {
    context.signal.throwIfAborted();
    throw failureOf(error as Error);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function failureOf(error: Error): StepFailure {
  const isUnavailable = isRegistryError(error, "unavailable") || isRegistryError(error.cause, "unavailable");
  const advice = isUnavailable ? "the registry is unavailable; retry the build later. " : "";
  return new StepFailure(`${advice}${error.message}`, { cause: error });
}

async function read(
  root: string,
  registry: Registry,
  { signal, limits }: StepContext,
): Promise<{ recipe: Recipe; base: Base }> {
  const text = await readText(join(root, "Dockerfile"));
  if (text === undefined) throw new Error("the context has no Dockerfile");
  let base: Base = scratch;
  const recipe = await readRecipe(parseDockerfile(text), async (name) => {
    base = await openBase(name, registry, { signal, retryMs: limits.retryMs });
    return base.config;
  });
  return { recipe, base };
}

/** Undefined when there is no such file. */
async function readText(path: string): Promise<string | undefined> {
  const bytes = await readBounded(path, textBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new Error(`${basename(path)}: ${error.message}`, { cause: error });
  });
  return bytes?.toString("utf8");
}

type Building = {
  root: string;
  recipe: Recipe;
  base: Base;
  registry: Registry;
  cache: LayerCache | undefined;
  work: string;
  limits: ContextLimits;
};

async function build({ root, recipe, base, registry, cache, work, limits }: Building, context: StepContext) {
  const { say, signal } = context;
  const reading = { folder: work, signal, retryMs: context.limits.retryMs };
  const tree = new FileTree();
  const layers: { descriptor: Descriptor; file: string; diffId: string }[] = [];
  const history = [...base.history];
  for (const { descriptor, diffId } of base.layers) {
    const file = await fetchLayer({ path: base.path, descriptor }, registry, { ...reading, tree });
    layers.push({ descriptor, file, diffId });
    say(`fetched ${descriptor.digest} of ${recipe.base}`);
  }
  const addLayer = async (entries: LayerEntry[], text: string) => {
    if (entries.length === 0) return;
    const file = join(work, `layer-${layers.length}`);
    const { digest, size, diffId, isReused } = await makeLayer(entries, file, { cache, signal });
    layers.push({ descriptor: { mediaType: mediaTypes.layerGzip, digest, size }, file, diffId });
    history.push({ created: epoch, created_by: text });
    say(`${text} (${entries.length} entries, ${size} bytes${isReused ? ", reused" : ""})`);
  };
  const ignore = parseIgnore((await readText(join(root, ".dockerignore"))) ?? "");
  const unpacking = { work, limits, bytes: 0, entries: 0 };
  let left = limits.plainBytes * imageFactor;
  for (const copy of recipe.copies) {
    const entries = await planLayer(copy, { root, ignore, unpacking }, tree).catch((error: Error) => {
      throw new Error(`Dockerfile line ${copy.line}: ${copy.text.split(" ", 1)[0]}: ${error.message}`);
    });
    left -= entries.reduce((sum, { size }) => sum + size, 0);
    if (left < 0)
      throw new Error(
        `Dockerfile line ${copy.line}: the image has more than ${imageFactor} times the bytes a context may have`,
      );
    await addLayer(entries, copy.text);
  }
  const { WorkingDir: workdir } = recipe.config;
  if (workdir) await addLayer(planFolder(workdir, tree), `WORKDIR ${workdir}`);
  const kept = Object.entries(recipe.config).filter(([, value]) => value !== null && value !== undefined);
  const config = {
    created: epoch,
    ...base.platform,
    config: Object.fromEntries(kept),
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history,
  };
  return { config, layers };
}
