import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startTestRegistry } from "@svc/registry/testing";
import { testBuild } from "../testing/step.ts";
import { basesIn, readBases } from "./bases.ts";
import { buildImage } from "./build.ts";

const host = "registry.test:5000";
describe("bases of a Dockerfile", () => {
  const cases: Record<string, [dockerfile: string, bases: string[]]> = {
    "are its images of the registry": [`FROM ${host}/a:1\nCOPY . /\n`, [`${host}/a:1`]],
    "are those of every stage, each once": [
      `FROM --platform=linux/amd64 ${host}/a:1 AS one\nfrom ${host}/b\nFROM ${host}/a:1\n`,
      [`${host}/a:1`, `${host}/b`],
    ],
    "are not those of other registries": ["FROM docker.io/a:1\nFROM debian\nFROM scratch\n", []],
    "are not stages and variables": [`FROM one\nFROM ${host}/a:$TAG\n`, []],
    "are not named in comments and other instructions": [
      `# FROM ${host}/a:1\nRUN echo FROM ${host}/a:1\n`,
      [],
    ],
    "are at most eight": [
      Array.from({ length: 20 }, (_, index) => `FROM ${host}/a:${index}`).join("\n"),
      Array.from({ length: 8 }, (_, index) => `${host}/a:${index}`),
    ],
  };
  for (const [fact, [dockerfile, bases]] of Object.entries(cases))
    test(fact, () => assert.deepEqual(basesIn(dockerfile, host), bases));
});

test("a build leaves what its bases name now; one that the registry lacks is left out", async () => {
  const registry = await startTestRegistry();
  try {
    const digest = await registry.push("bases/one", "1");
    await using build = await testBuild({
      registry: { host: registry.host, plain_http: true },
      image_ref: `${registry.host}/packs/a:1`,
    });
    const [known, missing] = [`${registry.host}/bases/one:1`, `${registry.host}/bases/gone:1`];
    await build.put({ "context/Dockerfile": `FROM ${known}\nFROM ${missing}\n` });
    let found: unknown;
    await build.run(async (...args) => {
      found = await readBases(...args);
      return undefined;
    });
    assert.deepEqual(found, [{ image_ref: known, digest }]);
    await build.put({ "context/Dockerfile": "FROM scratch\nENV A=1\n" });
    build.env["SVC_VERSION"] = "1.2.3";
    const result = { bases: [], builder: { name: "assemble", version: "1.2.3" } };
    assert.deepEqual(JSON.parse((await build.run(buildImage)) ?? ""), result);
  } finally {
    await registry.stop();
  }
});
