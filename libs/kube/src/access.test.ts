import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { stringify } from "yaml";
import { openAccess } from "./access.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-access-"));
after(() => rmSync(folder, { recursive: true }));

function kubeconfig(cluster: object, user: object): string {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.yaml`);
  const context = { cluster: "c", user: "u" };
  writeFileSync(
    file,
    stringify({
      "current-context": "x",
      clusters: [{ name: "c", cluster: { server: "https://cluster.example:6443", ...cluster } }],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context }],
    }),
  );
  return file;
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

test("a token stands in the file or in one beside it, which is read anew each time", async () => {
  const inline = openAccess(kubeconfig({}, { token: "abc" }), {});
  assert.equal(inline.server.href, "https://cluster.example:6443/");
  assert.deepEqual((await inline.read()).headers, bearer("abc"));
  writeFileSync(join(folder, "token"), "first\n");
  const rotated = openAccess(kubeconfig({}, { tokenFile: "token" }), {});
  assert.deepEqual((await rotated.read()).headers, bearer("first"));
  writeFileSync(join(folder, "token"), "second\n");
  assert.deepEqual((await rotated.read()).headers, bearer("second"));
});

test("certificates come from the file or beside it, and a name and password become Basic", async () => {
  writeFileSync(join(folder, "ca.crt"), "CA");
  const data = Buffer.from("CERT").toString("base64");
  const access = openAccess(
    kubeconfig(
      { "certificate-authority": "ca.crt", "tls-server-name": "kubernetes" },
      { "client-certificate-data": data, "client-key-data": data, username: "u", password: "p" },
    ),
    {},
  );
  const { headers, tls } = await access.read();
  assert.deepEqual(headers, { Authorization: `Basic ${Buffer.from("u:p").toString("base64")}` });
  assert.deepEqual([String(tls.ca), String(tls.cert), String(tls.key)], ["CA", "CERT", "CERT"]);
  assert.equal(tls.servername, "kubernetes");
});

test("a helper program is asked for the token by the library", async () => {
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: "made" },
  };
  const exec = {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/bin/sh",
    args: ["-c", `echo '${JSON.stringify(credential)}'`],
    interactiveMode: "Never",
  };
  const { headers } = await openAccess(kubeconfig({}, { exec }), {}).read();
  assert.deepEqual(headers, bearer("made"));
});

const refusals: [string, () => unknown, RegExp][] = [
  ["a file that is not there", () => openAccess(join(folder, "nowhere"), {}), /cannot be used: ENOENT/],
  ["no file outside of a pod", () => openAccess(undefined, {}), /not running in a pod; set SVC_KUBECONFIG/],
  [
    "plain http to another machine",
    () => openAccess(kubeconfig({ server: "http://10.0.0.1:8080" }, {}), {}),
    /plain HTTP is only allowed on loopback/,
  ],
];

for (const [what, open, message] of refusals) {
  test(`${what} is refused in one sentence`, () => {
    assert.throws(open, message);
  });
}
