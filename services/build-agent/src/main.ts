// One step of a build as its Job runs it: `node main.ts STEP --FOLDER=PATH …` with SVC_BUILD_TASK
// (docs/reference/builds.md#steps). A step that fails says why in one line, on stderr and as its termination message.

import { writeFileSync } from "node:fs";
import { limits, readSettings, type Settings, terminationLogOf } from "./config.ts";
import { fetchContext } from "./context/fetch.ts";
import { waitForPolicy } from "./context/policy-gate.ts";
import { lineOf, textOf } from "./failure.ts";
import { runScanGate } from "./gate/scan-gate.ts";
import { buildImage } from "./image/build.ts";
import { pullImage } from "./image/pull.ts";
import { pushImage } from "./image/push.ts";
import { convertToSbom } from "./scanner/sbom.ts";
import { scanImage } from "./scanner/scan.ts";
import type { StepContext } from "./step.ts";
import { probeUserNamespaces } from "./user-namespaces.ts";

/** Each returns its termination message, if it has one. */
const steps: Record<string, (settings: Settings, context: StepContext) => Promise<string | undefined>> = {
  "egress-gate": waitForPolicy,
  "context-fetch": fetchContext,
  build: buildImage,
  pull: pullImage,
  scan: scanImage,
  sbom: convertToSbom,
  "scan-gate": runScanGate,
  push: pushImage,
};

const say = (line: string) => void process.stdout.write(`${textOf(line)}\n`);
// Modes of unpacked folders become those in the image.
process.umask(0o022);
const aborting = new AbortController();
process.once("SIGTERM", () => aborting.abort(new Error("the build was stopped")));

try {
  const [name = "", ...args] = process.argv.slice(2);
  if (name === "probe-user-namespaces") leave(probeUserNamespaces());
  else await runStep(name, args);
} catch (error) {
  const reason: unknown = aborting.signal.aborted ? aborting.signal.reason : error;
  const line = lineOf(reason instanceof Error ? reason.message : String(reason));
  process.stderr.write(`${line}\n`);
  leave(line);
  process.exitCode = aborting.signal.aborted ? 143 : ((error as { exitCode?: number }).exitCode ?? 1);
}

async function runStep(name: string, args: string[]): Promise<void> {
  const step = Object.hasOwn(steps, name) ? steps[name] : undefined;
  if (!step) throw new Error(`the step must be one of ${Object.keys(steps).join(", ")}`);
  const settings = readSettings([name, ...args], process.env);
  const message = await step(settings, { say, signal: aborting.signal, limits });
  if (message !== undefined) leave(message);
}

function leave(message: string): void {
  try {
    writeFileSync(terminationLogOf(process.env), message);
  } catch (error) {
    process.stderr.write(`the termination message was not written: ${(error as Error).message}\n`);
  }
}
