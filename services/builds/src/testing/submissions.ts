// Authors and reviewers of submissions, as the external gateway calls for them.

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { connectKube } from "@svc/kube";
import { type CallOptions, fetchBytes, sendBytes } from "@svc/mesh";
import { account } from "@svc/mesh/testing";
import { type AnyContract, type InputOf, submissions } from "@svc/proto";
import { type MadeTar, makeTar } from "../../../../libs/world/src/testing.ts";
import { admin, type Fixture, startFixture } from "./fixture.ts";

export const author: CallOptions = account("usr-1");
export const stranger: CallOptions = account("usr-2");

export const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
export const digestOf = (bytes: Uint8Array) =>
  `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;

/** A context with a Dockerfile and these files, or entries that nobody would make on purpose. */
export function contextOf(files: Record<string, string | Buffer>, more: readonly MadeTar[] = []): Buffer {
  const all = { Dockerfile: "FROM scratch\n", ...files };
  const entries = Object.entries(all).map(([path, content]) => ({ path, content }));
  return gzipSync(makeTar([...entries, ...more]));
}

export type SubmissionFixture = Fixture & {
  /** Folder of the contexts. */
  folder: string;
  create: (name?: string, as?: CallOptions) => Promise<submissions.Submission>;
  upload: (id: string, bytes: Buffer, about?: Sending) => Promise<submissions.Submission>;
  putPart: (part: Part, bytes: Buffer, about?: Sending) => Promise<submissions.ContextUploadProgress>;
  progress: (id: string) => Promise<submissions.ContextUploadProgress>;
  complete: (id: string, as?: CallOptions) => Promise<submissions.Submission>;
  /** A new submission with this context. */
  submit: (bytes: Buffer, as?: CallOptions) => Promise<submissions.Submission>;
  approve: (id: string, expected_digest: string) => Promise<submissions.Submission>;
  reject: (id: string, reason?: string) => Promise<submissions.Submission>;
  download: (id: string) => Promise<{ bytes: Buffer; headers: Record<string, string> }>;
  find: (id: string) => Promise<submissions.Submission | undefined>;
};

type Part = { id: string; offset: number };

type Sending = {
  as?: CallOptions;
  digest?: string;
  /** Length that is declared. */
  length?: number;
  body?: AsyncIterable<Uint8Array>;
};

/** Settings without waits and limits of the machine. */
const quick = [
  "registry.url=127.0.0.1:5000",
  "registry.user_uploads_keep_free=0",
  "builds.internal_url=http://127.0.0.1:8081",
  "builds.agent_image=svc.local/build-agent",
  "builds.scanner=svc.local/build-agent",
  "builds.submission_cooldown=0s",
  "builds.upload_cooldown=0s",
  "builds.upload_lease=1s",
  "builds.submissions_pending=1000",
  "builds.notice_interval=50ms",
];

export async function startSubmissionFixture(
  overrides: readonly string[] = [],
  env?: NodeJS.ProcessEnv,
): Promise<SubmissionFixture> {
  const folder = mkdtempSync(join(tmpdir(), "svc-contexts-"));
  const settings = [...quick, `registry.user_uploads_context=${folder}`, ...overrides];
  const kube = connectKube({ kubeconfigFile: writeKubeconfig(folder) });
  const fixture = await startFixture(settings, { kube, ...(env && { env }) });
  const { gateway } = fixture;
  const send = async <C extends AnyContract>(
    contract: C,
    input: Record<string, unknown>,
    { bytes, as = author, digest, length, body }: Sending & { bytes: Buffer },
  ) => {
    const head = { content_length: length ?? bytes.length, content_digest: digest ?? digestOf(bytes) };
    const { byteTransfer } = await gateway.forward(contract, { ...input, ...head } as InputOf<C>, as);
    if (!byteTransfer) throw new Error("no ticket");
    const pieces = async function* () {
      // A byte transfer frees what it has sent.
      for (let at = 0; at < bytes.length; at += 1 << 20)
        yield Buffer.from(bytes.subarray(at, at + (1 << 20)));
    };
    return sendBytes(byteTransfer, body ?? pieces(), { contentLength: head.content_length });
  };
  const create: SubmissionFixture["create"] = (display_name = "My pack", as = author) =>
    gateway.call(submissions.create, { display_name }, as);
  const upload: SubmissionFixture["upload"] = (id, bytes, about = {}) =>
    send(submissions.uploadContext, { id }, { ...about, bytes }) as Promise<submissions.Submission>;
  return {
    ...fixture,
    folder,
    start: (more) => fixture.start([...settings, ...more]),
    create,
    upload,
    putPart: (part, bytes, about = {}) =>
      send(submissions.putContextPart, part, {
        ...about,
        bytes,
      }) as Promise<submissions.ContextUploadProgress>,
    progress: (id) => gateway.call(submissions.readContextUpload, { id }, author),
    complete: (id, as = author) => gateway.call(submissions.completeContextUpload, { id }, as),
    submit: async (bytes, as = author) => upload((await create("My pack", as)).id, bytes, { as }),
    approve: (id, expected_digest) => gateway.call(submissions.approve, { id, expected_digest }, admin),
    reject: (id, reason = "Too large.") => gateway.call(submissions.reject, { id, reason }, admin),
    download: async (id) => {
      const { byteTransfer } = await gateway.forward(submissions.downloadContext, { id }, admin);
      if (!byteTransfer) throw new Error("no ticket");
      const { body, headers } = await fetchBytes(byteTransfer);
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk as Buffer);
      return { bytes: Buffer.concat(chunks), headers };
    },
    find: async (id) => {
      const page = await gateway.call(submissions.list, { query: id, limit: 20, offset: 0 }, admin);
      return page.submissions[0];
    },
    stop: async () => {
      await fixture.stop();
      kube.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Of a cluster that does not answer: builds wait. */
function writeKubeconfig(folder: string): string {
  const file = join(folder, "kubeconfig");
  const cluster = { server: "http://127.0.0.1:1" };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "none",
    clusters: [{ name: "none", cluster }],
    users: [{ name: "none", user: { token: "none" } }],
    contexts: [{ name: "none", context: { cluster: "none", user: "none" } }],
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}
