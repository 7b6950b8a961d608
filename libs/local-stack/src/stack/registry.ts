// The registry of images and its gate. Nothing of the stack waits for them while it starts: they come up beside the
// services, and without a docker-registry the rest runs.

import { join } from "node:path";
import { errorText, StackError } from "../error.ts";
import { defaultCacheDirs } from "../fetch/find.ts";
import { programEnv, runProgram, type StackPrograms } from "../program/programs.ts";
import { findDockerRegistry } from "../registry/find.ts";
import { prepareRegistry, registryConfigFile } from "../registry/registry.ts";
import type { ChildSpec } from "../supervisor/child.ts";
import type { Supervisor } from "../supervisor/supervisor.ts";
import type { StackContext } from "./context.ts";
import { isReadyLine, metricsOf } from "./ready-line.ts";

const stopMs = { registry: 2_000, gate: 12_000 };
const collectHours = 24;

type Start = {
  supervisor: Supervisor;
  programs: Promise<StackPrograms>;
  /** Aborted when the stack does not start. */
  signal: AbortSignal;
};

/** Starts registry and gate and fills the registry. True when they run; without a docker-registry it says why not. */
export async function startRegistry(
  context: StackContext,
  { supervisor, programs, signal }: Start,
): Promise<boolean> {
  const { paths, secrets, facts } = context;
  if (facts.registryHost === undefined) return false;
  const binary = await findBinary(context);
  if (binary === undefined) return false;
  const plan = prepareRegistry({
    binary,
    dataDir: paths.registry,
    port: context.ports.registry,
    secret: secrets.registryUploads,
  });
  const bundled = await programs;
  const gate = gateSpec(context, bundled, binary);
  await supervisor.start([{ ...plan, name: "registry", stopTimeoutMs: stopMs.registry }, gate]);
  await fill(context, bundled, signal);
  return true;
}

/** A registry that refuses for now is filled at the next start. */
async function fill(
  { options, secrets, facts, say }: StackContext,
  programs: StackPrograms,
  signal: AbortSignal,
): Promise<void> {
  const { registryHost: host = "" } = facts;
  try {
    await options.fillRegistry?.({ host, password: secrets.registry.platform, signal }, programs);
  } catch (error) {
    if (!signal.aborted) say(`NOTE: the base images were not published: ${errorText(error)}`);
  }
}

async function findBinary({ options, paths, say }: StackContext): Promise<string | undefined> {
  try {
    return await findDockerRegistry({
      env: options.env,
      cacheDirs: [...defaultCacheDirs(options.env, options.repo), join(paths.data, "cache")],
      progress: say,
    });
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    say(`NOTE: there is no registry of images, so none can be built: ${errorText(error)}`);
    return undefined;
  }
}

function gateSpec(context: StackContext, programs: StackPrograms, binary: string): ChildSpec {
  const { paths, ports, nodeEnv, options } = context;
  const kept = Object.entries(nodeEnv).filter(([key]) => !/^SVC_/.test(key));
  return {
    name: "registry-gate",
    command: process.execPath,
    args: runProgram(programs, "registry-gate"),
    cwd: options.repo,
    env: {
      ...Object.fromEntries(kept),
      ...programEnv(programs),
      SVC_HEALTH_PORT: "0",
      SVC_REGISTRY_GATE_PORT: String(ports["registry-gate"]),
      SVC_REGISTRY_GATE_LEASE_PORT: String(ports["registry-lease"]),
      SVC_REGISTRY_GATE_UPSTREAM: `http://127.0.0.1:${ports.registry}`,
      SVC_REGISTRY_GATE_CREDENTIALS_FILE: paths.registryCredentials,
      SVC_REGISTRY_GATE_STATE_DIR: join(paths.registry, "gate"),
      SVC_REGISTRY_GATE_COLLECT_HOURS: String(collectHours),
      SVC_REGISTRY_GATE_PROGRAM: binary,
      SVC_REGISTRY_GATE_PROGRAM_CONFIG: registryConfigFile(paths.registry),
    },
    after: ["registry"],
    ready: { line: isReadyLine },
    metricsOf,
    stopTimeoutMs: stopMs.gate,
  };
}

/** How builds fetches contexts, writes to the registry and deletes from it; the settings name these variables. */
export function registryEnv(
  service: string,
  { facts, paths, secrets }: StackContext,
): Record<string, string> {
  if (service !== "builds" || facts.registryHost === undefined) return {};
  return {
    SVC_BUILD_TOKEN_FILE: join(paths.tokens, "build"),
    SVC_REGISTRY_PUSH_TOKEN: `build:${secrets.registry.build}`,
    SVC_REGISTRY_PRUNE_TOKEN: `prune:${secrets.registry.prune}`,
    SVC_REGISTRY_RESTORE_TOKEN: `platform:${secrets.registry.platform}`,
  };
}
