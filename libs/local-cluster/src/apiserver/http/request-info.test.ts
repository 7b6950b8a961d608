import assert from "node:assert/strict";
import { test } from "node:test";
import { readRequestInfo } from "./request-info.ts";

const facts: [request: string, expected: object][] = [
  ["GET /api/v1/pods", { verb: "list", group: "", version: "v1", resource: "pods" }],
  ["GET /api/v1/pods?watch=1", { verb: "watch", resource: "pods" }],
  ["GET /api/v1/namespaces/a/pods/b", { verb: "get", namespace: "a", resource: "pods", name: "b" }],
  ["GET /api/v1/namespaces/a/pods/b/log", { verb: "get", name: "b", subresource: "log" }],
  ["GET /api/v1/namespaces/a", { verb: "get", resource: "namespaces", name: "a", namespace: "a" }],
  ["PUT /api/v1/namespaces/a/finalize", { verb: "update", resource: "namespaces", subresource: "finalize" }],
  ["POST /apis/batch/v1/namespaces/a/jobs", { verb: "create", group: "batch", resource: "jobs" }],
  ["PATCH /apis/apps/v1/namespaces/a/statefulsets/b/scale", { verb: "patch", subresource: "scale" }],
  ["DELETE /api/v1/nodes/n", { verb: "delete", resource: "nodes", name: "n" }],
  ["GET /api/v1/namespaces/a/secrets/x%2Fy", { name: "x/y" }],
  ["GET /api/v1/namespaces/a/secrets/%zz", { kind: "path" }],
  ["GET /version", { kind: "path", verb: "get" }],
];
for (const [request, expected] of facts) {
  test(`${request} is parsed as ${JSON.stringify(expected)}`, () => {
    const [method = "", url = ""] = request.split(" ");
    const [path = "", search] = url.split("?");
    assert.partialDeepStrictEqual(readRequestInfo(method, path, new URLSearchParams(search)), expected);
  });
}
