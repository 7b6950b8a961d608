import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseRoute } from "./route.ts";

const digest = `sha256:${"a".repeat(64)}`;

describe("requests of the registry's protocol are recognised", () => {
  const table: [string, string, string][] = [
    ["/v2/", "base", ""],
    ["/v2", "base", ""],
    ["/v2/_catalog?n=5&last=a/b", "catalog", ""],
    ["/v2/a/b/tags/list", "tags", "a/b"],
    ["/v2/a/manifests/1.0_x-y", "manifest", "a"],
    [`/v2/a/manifests/${digest}`, "manifest", "a"],
    [`/v2/a/blobs/${digest}`, "blob", "a"],
    [`/v2/a/referrers/${digest}`, "referrers", "a"],
    ["/v2/a/blobs/uploads/", "upload-start", "a"],
    ["/v2/a/blobs/uploads/5ad9-f0?_state=abc%3D", "upload", "a"],
    ["/v2/blobs/uploads/blobs/uploads/", "upload-start", "blobs/uploads"],
    ["/v2/svc/manifests/x/manifests/1", "manifest", "svc/manifests/x"],
  ];
  for (const [url, kind, repository] of table) {
    test(url, () => {
      const route = parseRoute(url);
      assert.deepEqual([route?.kind, route?.repository], [kind, repository]);
    });
  }
});

describe("what could be read in two ways is not a request", () => {
  const table = [
    "/",
    "/v1/a",
    "//v2/",
    "/v2//a/manifests/1",
    "/v2/a/../svc/x/manifests/1",
    "/v2/a/./b/manifests/1",
    "/v2/a/%2e%2e/svc/manifests/1",
    "/v2/svc%2Fx/manifests/1",
    "/v2/a/manifests/1%00",
    "/v2/a\\b/manifests/1",
    "/v2/A/manifests/1",
    "/v2/a/manifests/1/",
    "/v2/a/manifests/..",
    "/v2/a/manifests/1#x",
    "/v2/a;b/manifests/1",
    "http://other/v2/a/manifests/1",
    "/v2/a/blobs/uploads",
    "/v2/a/blobs/uploads/x/y",
    "/v2/a/blobs/uploads/?mount=x",
    `/v2/a/blobs/uploads/?mount=${digest}&from=../svc`,
    `/v2/a/blobs/uploads/?mount=${digest}&from=a&from=svc/x`,
    "/v2/a/blobs/uploads/x?_state=a&_state=b",
    "/v2/a/tags/list?n=-1",
    "/v2/_catalog/x",
    `/v2/${"a/".repeat(128)}b/manifests/1`,
    `/v2/a/manifests/${"1".repeat(5_000)}`,
  ];
  for (const url of table) test(url.slice(0, 80), () => assert.equal(parseRoute(url), undefined));
});

test("the forwarded target is written from the parts, and parameters of no meaning are dropped", () => {
  assert.equal(parseRoute("/v2/a/manifests/1?ns=docker.io")?.target, "/v2/a/manifests/1");
  const mounted = parseRoute(`/v2/a/blobs/uploads/?x=1&from=b&mount=${digest}`);
  assert.equal(mounted?.target, `/v2/a/blobs/uploads/?mount=sha256%3A${"a".repeat(64)}&from=b`);
  assert.equal(mounted?.mountFrom, "b");
});
