import assert from "node:assert/strict";
import { test } from "node:test";
import { buildEnvironment } from "./build-environment.ts";

const words = (env: NodeJS.ProcessEnv): string[] =>
  JSON.parse(buildEnvironment(env, "/repo")["SVC_TRIVY"] ?? "[]") as string[];

test("the step that fetches the scanner goes through the proxy and trusts the CA of this machine", () => {
  const network = { NODE_EXTRA_CA_CERTS: "/ca.pem", https_proxy: "http://proxy:3128", NO_PROXY: "localhost" };
  const [command, ...rest] = words({ HOME: "/home/me", ...network, NPM_TOKEN: "secret" });
  assert.equal(command, "env");
  assert.deepEqual(rest.slice(0, 3).toSorted(), [
    "NODE_EXTRA_CA_CERTS=/ca.pem",
    "NO_PROXY=localhost",
    "https_proxy=http://proxy:3128",
  ]);
  assert.deepEqual(rest.slice(3, 6), [
    process.execPath,
    "/repo/libs/local-stack/src/trivy/main.ts",
    "/home/me",
  ]);
});

test("a scanner that is named is taken as it is", () => {
  assert.equal(
    buildEnvironment({ SVC_TRIVY: "/opt/trivy", https_proxy: "x" }, "/repo")["SVC_TRIVY"],
    "/opt/trivy",
  );
});
