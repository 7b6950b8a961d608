// Images that others make are named by digest: the same sources give the same image, whoever moves a tag.

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { readValues } from "../../services/cli/src/manifests/values/read.ts";
import { readCompose } from "../containers/compose-file.ts";

const root = resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const isPinned = (image: string) => /^[a-z0-9./-]+(:[\w.-]+)?@sha256:[0-9a-f]{64}$/.test(image);
/** Stages of deploy/images/Dockerfile. */
const isOurs = (image: string) => /^svc(-[a-z]+)?:/.test(image);

/** Images of others that a Dockerfile takes without a digest: in FROM, and in COPY and RUN that name one. */
function unpinned(text: string): string[] {
  const lines = text.replaceAll(/\\\n/g, " ").split("\n");
  const args = new Map<string, string>();
  const stages = new Set<string>();
  const found: string[] = [];
  const take = (image: string) => {
    const name = image.replace(/\$\{?(\w+)\}?/g, (_, arg: string) => args.get(arg) ?? "");
    if (name !== "scratch" && !stages.has(name) && !/^\d+$/.test(name) && !isPinned(name)) found.push(name);
  };
  for (const line of lines) {
    const [, arg = "", value = ""] = /^\s*ARG\s+(\w+)(?:=(\S*))?/i.exec(line) ?? [];
    if (arg && stages.size === 0) args.set(arg, value);
    const [, from, stage] = /^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/i.exec(line) ?? [];
    if (from) take(from);
    if (stage) stages.add(stage);
    for (const [, image = ""] of line.matchAll(/(?:^\s*COPY\s.*--from=|--mount=\S*\bfrom=)([^\s,]+)/gi))
      take(image);
  }
  return found;
}

describe("an image is refused that a Dockerfile takes", () => {
  const digest = `@sha256:${"0".repeat(64)}`;
  const table: Record<string, [text: string, refused: string[]]> = {
    "by tag": ["FROM node:24", ["node:24"]],
    "without anything": ["FROM debian AS base\nFROM base", ["debian"]],
    "by an argument without a digest": [
      ["ARG BASE=node:24\nFROM --platform=linux/amd64 $", "{BASE} AS x"].join(""),
      ["node:24"],
    ],
    "by an argument without a default": ["ARG BASE\nFROM $BASE", [""]],
    "in a COPY": ["FROM scratch\nCOPY --chown=1:1 --from=busybox:1 /bin/sh /", ["busybox:1"]],
    "in a RUN over lines": [
      "FROM scratch\nRUN --mount=type=bind,from=busybox,target=/b \\\n  true",
      ["busybox"],
    ],
    "by half a digest": ["FROM node:24@sha256:0123", ["node:24@sha256:0123"]],
    "but not by digest, from a stage or from nothing": [
      `ARG A=a/b:1${digest}\nFROM $A AS one\nFROM one AS two\nFROM scratch\nCOPY --from=two / /\nCOPY --from=0 / /\nCOPY --from=c${digest} / /`,
      [],
    ],
  };
  for (const [fact, [text, refused]] of Object.entries(table))
    test(fact, () => assert.deepEqual(unpinned(text), refused));
});

test("every Dockerfile of the repository takes its images by digest", () => {
  const files = globSync("**/{Dockerfile,*.Dockerfile,Dockerfile.*,Containerfile}", {
    cwd: root,
    exclude: (name) => /(^|\/)(node_modules|\.svc|\.cache|\.git)$/.test(name),
  });
  assert.ok(files.includes("deploy/images/Dockerfile"));
  for (const file of files) assert.deepEqual(unpinned(read(file)), [], file);
});

test("compose.yaml names by digest what it does not build", () => {
  const { services } = readCompose<{ image: string; build?: object }>();
  for (const [name, { image, build }] of Object.entries(services))
    assert.ok(build ? isOurs(image) : isPinned(image), `${name}: ${image}`);
});

test("an installation on a cluster names by digest what is not ours", () => {
  const { pullPolicy: _, pullSecrets: __, ...images } = readValues().images;
  for (const [name, image] of Object.entries(images)) assert.ok(isOurs(image) || isPinned(image), name);
  for (const file of globSync("deploy/kubernetes/**/*.yaml", { cwd: root }))
    for (const image of parseAllDocuments(read(file)).flatMap((document) => imagesIn(document.toJS())))
      assert.ok(isOurs(image) || isPinned(image), `${file}: ${image}`);
});

/** Values of `image` of containers, however deep. */
function imagesIn(value: unknown): string[] {
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, one]) =>
    key === "image" && typeof one === "string" ? [one] : imagesIn(one),
  );
}
