import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { parseRoute } from "../request/route.ts";
import { type Caller, decideAccess } from "./decide.ts";

const digest = `sha256:${"a".repeat(64)}`;

type Row = [string, Caller, string, string, number];
const passed = 0;
const rows: Row[] = [
  ["anybody reads a manifest", "nobody", "GET", "/v2/svc/a/manifests/1", passed],
  ["a wrong password does not hinder reading", "unknown", "HEAD", `/v2/a/blobs/${digest}`, passed],
  ["anybody lists", "nobody", "GET", "/v2/_catalog", passed],
  ["the base asks for a password", "nobody", "GET", "/v2/", 401],
  ["the base refuses a wrong one", "unknown", "GET", "/v2/", 401],
  ["the base answers whoever is known", "prune", "GET", "/v2/", passed],
  ["a push without a password is asked for one", "nobody", "PUT", "/v2/a/manifests/1", 401],
  ["a push with a wrong one too", "unknown", "POST", "/v2/a/blobs/uploads/", 401],
  ["platform pushes everywhere", "platform", "PUT", "/v2/svc/a/manifests/1", passed],
  ["platform deletes", "platform", "DELETE", `/v2/svc/a/manifests/${digest}`, passed],
  ["build pushes packs", "build", "PUT", "/v2/user-uploads/sub-1/manifests/latest", passed],
  ["build uploads parts", "build", "PATCH", "/v2/a/blobs/uploads/x", passed],
  ["build may not write below svc/", "build", "PUT", "/v2/svc/a/manifests/1", 403],
  ["build may not write a repository named svc", "build", "PUT", "/v2/svc/manifests/1", 403],
  ["build may not upload below mirror/", "build", "POST", "/v2/mirror/trivy/blobs/uploads/", 403],
  ["build may not go on with an upload below svc/", "build", "PATCH", "/v2/svc/a/blobs/uploads/x", 403],
  ["svcx is not reserved", "build", "PUT", "/v2/svcx/a/manifests/1", passed],
  ["build deletes nothing of its own", "build", "DELETE", `/v2/a/manifests/${digest}`, 403],
  ["build deletes no upload", "build", "DELETE", "/v2/a/blobs/uploads/x", 403],
  ["prune deletes manifests", "prune", "DELETE", `/v2/svc/a/manifests/${digest}`, passed],
  ["prune deletes blobs", "prune", "DELETE", `/v2/a/blobs/${digest}`, passed],
  ["prune does not push", "prune", "PUT", "/v2/a/manifests/1", 403],
  ["prune starts no upload", "prune", "POST", "/v2/a/blobs/uploads/", 403],
  ["the state of an upload is not public", "nobody", "GET", "/v2/a/blobs/uploads/x", 401],
  ["a method that means nothing is named", "platform", "POST", "/v2/a/manifests/1", 405],
  ["so is one that is unknown", "platform", "TRACE", "/v2/", 405],
];

describe("who may do what", () => {
  for (const [name, caller, method, url, status] of rows) {
    test(name, () => assert.equal(decide(caller, method, url)?.status ?? passed, status));
  }
  test("without passwords nobody writes and everybody reads", () => {
    const without = { hasCredentials: false };
    assert.equal(decide("nobody", "PUT", "/v2/a/manifests/1", without)?.status, 403);
    assert.equal(decide("nobody", "GET", "/v2/a/manifests/1", without), undefined);
  });
  test("during a collection writes are 503 with the seconds, reads go on", () => {
    const collecting = { isReadOnly: true };
    const refusal = decide("platform", "PUT", "/v2/a/manifests/1", collecting);
    assert.deepEqual([refusal?.status, refusal?.retryAfterSeconds], [503, 30]);
    assert.equal(decide("prune", "DELETE", `/v2/a/manifests/${digest}`, collecting)?.status, 503);
    assert.equal(decide("nobody", "GET", "/v2/a/manifests/1", collecting), undefined);
    assert.equal(decide("build", "PUT", "/v2/svc/manifests/1", collecting)?.status, 403);
  });
});

function decide(
  caller: Caller,
  method: string,
  url: string,
  state: { hasCredentials?: boolean; isReadOnly?: boolean } = {},
) {
  const route = parseRoute(url);
  assert.ok(route, url);
  return decideAccess({ caller, method, route, hasCredentials: true, isReadOnly: false, ...state });
}
