// Runs steps of a build in folders of their own, as a Job does but for the process.

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as buildJobs from "@svc/proto/build-job";
import { limits, readSettings, type Settings } from "../config.ts";
import type { StepContext } from "../step.ts";

type Step = (settings: Settings, context: StepContext) => Promise<string | undefined>;

export type TestBuild = AsyncDisposable & {
  at: (...names: string[]) => string;
  task: buildJobs.BuildTask;
  env: Record<string, string>;
  /** The build's log. */
  lines: string[];
  put: (files: Record<string, string | Buffer>) => Promise<void>;
  /** Over those of the tests. */
  limits: { -readonly [Name in keyof StepContext["limits"]]?: number };
  /** Stops the step that runs. */
  stop: (reason: Error) => void;
  run: (step: Step) => Promise<string | undefined>;
  text: (...names: string[]) => Promise<string>;
};

const quick = { stallMs: 1_000, registryMs: 20_000, registryRetryMs: 0, retryMs: 0, documentsMs: 1_000 };

export async function testBuild(task: Partial<buildJobs.BuildTask> = {}): Promise<TestBuild> {
  const base = await mkdtemp(join(tmpdir(), "svc-build-"));
  const names = Object.keys(buildJobs.buildFolders);
  for (const name of names) await mkdir(join(base, name));
  const at = (...parts: string[]) => join(base, ...parts);
  const stopping = new AbortController();
  const build: TestBuild = {
    at,
    env: { PATH: pathOf() },
    limits: {},
    stop: (reason) => stopping.abort(reason),
    lines: [],
    task: {
      build_id: "b".repeat(32),
      context_url: "http://127.0.0.1:1/context",
      limits: { context_bytes: 1 << 30, context_entries: 1_000 },
      registry: { host: "127.0.0.1:1", plain_http: true },
      image_ref: "127.0.0.1:1/user-uploads/one:latest",
      policy: { fail_on: ["CRITICAL", "HIGH"], fail_unfixed: false },
      database: { need: "optional", max_age_ms: 7 * 86_400_000 },
      documents_url: "http://127.0.0.1:1/documents",
      ...task,
    },
    put: async (files) => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(at(path)), { recursive: true });
        await writeFile(at(path), content);
      }
    },
    text: (...parts) => readFile(at(...parts), "utf8"),
    run: (step) => {
      const args = names.map((name) => `--${name}=${at(name)}`);
      const env = { ...build.env, SVC_BUILD_TASK: JSON.stringify(build.task) };
      return step(readSettings(["step", ...args], env), {
        say: (line) => void build.lines.push(line),
        signal: stopping.signal,
        limits: { ...limits, ...quick, ...build.limits },
      });
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
  return build;
}

function pathOf(): string {
  // biome-ignore lint/style/noProcessEnv: peers are found on PATH
  return process.env["PATH"] ?? "";
}

type Served = AsyncDisposable & { url: string };

export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void,
): Promise<Served> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answer(request, response, Buffer.concat(chunks));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/documents`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
