import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  decideNotRemoved,
  decideOpen,
  decideRefusal,
  type Found,
  isBusy,
  shownPath,
  worldPath,
} from "./rules.ts";

const paths: [given: string, wanted: string][] = [
  ["", ""],
  [".", ""],
  ["/", ""],
  ["plugins", "plugins"],
  ["/plugins/./a.yml", "plugins/a.yml"],
  ["/plugins//a.yml/", "plugins/a.yml"],
  ["/plugins/../a.yml", "a.yml"],
  ["../../../etc/passwd", "etc/passwd"],
  ["/..", ""],
  ["/plugins/..\\..\\x", "plugins/..\\..\\x"],
  ["/a\u0000b", "a\u0000b"],
];
describe("a path of a client is one of the world, never above it", () => {
  for (const [given, wanted] of paths)
    test(JSON.stringify(given), () => {
      assert.equal(worldPath(given), wanted);
      assert.equal(shownPath(given), `/${wanted}`);
    });
});

const [read, write, append, create, truncate, exclusive] = [1, 2, 4, 8, 16, 32];
const put = write | create | truncate;
const opens: [fact: string, flags: number, found: Found, wanted: string][] = [
  ["a file is read", read, "file", "read"],
  ["a file that may not be seen is read", read, "unknown", "read"],
  ["nothing is not read", read, "nothing", "refuse noSuchFile"],
  ["a folder is not opened", read, "folder", "refuse failure"],
  ["a folder is not replaced", put, "folder", "refuse failure"],
  ["no purpose is refused", 0, "file", "refuse failure"],
  ["a new file is created", put, "nothing", "create"],
  ["a file is replaced", put, "file", "replace"],
  ["a file that may not be seen is replaced", put, "unknown", "replace"],
  ["a file is not made twice", put | exclusive, "file", "refuse failure"],
  ["a new file is made once", put | exclusive, "nothing", "create"],
  ["a file that may not be seen is not replaced by a new one", put | exclusive, "unknown", "create"],
  ["a file is changed in part", read | write, "file", "edit"],
  ["a file is appended to", write | append | create, "file", "edit append"],
  ["what is not there is not changed", write, "nothing", "refuse noSuchFile"],
];
for (const [fact, flags, found, wanted] of opens)
  test(fact, () => {
    const plan = decideOpen(flags, found);
    const said =
      plan.does === "write"
        ? `${plan.mode}${plan.isAppend ? " append" : ""}`
        : plan.does === "refuse"
          ? `refuse ${plan.status}`
          : plan.does;
    assert.equal(said, wanted);
  });

const refusals: [status: number, code: string, wanted: string, ends: boolean][] = [
  [401, "unauthorized", "permissionDenied", true],
  [403, "forbidden", "permissionDenied", false],
  [403, "path_not_shared", "permissionDenied", false],
  [400, "bad_path", "permissionDenied", false],
  [404, "not_found", "noSuchFile", false],
  [409, "not_stopped", "failure", false],
  [409, "folder_not_empty", "failure", false],
  [503, "unavailable", "failure", false],
  [504, "files_timeout", "failure", false],
  [507, "volume_full", "failure", false],
];
for (const [status, code, wanted, ends] of refusals)
  test(`${status} ${code} is answered with ${wanted}`, () => {
    assert.deepEqual(decideRefusal({ status, code }), { status: wanted, ends });
  });

const notRemoved: [
  fact: string,
  only: "file" | "empty_folder",
  isFolder: boolean | undefined,
  wanted: string,
][] = [
  ["a folder is not removed as a file", "file", true, "/a/b is a folder; remove it with rmdir."],
  ["a file is not removed as a folder", "empty_folder", false, "/a/b is not a folder; remove it with rm."],
  ["a file that can't be removed is no folder", "file", false, "undefined"],
  ["a folder that can't be removed is no file", "empty_folder", true, "undefined"],
  ["nothing is said of what nobody may see", "file", undefined, "undefined"],
];
for (const [fact, only, isFolder, wanted] of notRemoved)
  test(fact, () => {
    const found = isFolder === undefined ? undefined : { isFolder };
    assert.equal(String(decideNotRemoved("a/b", only, found)), wanted);
  });

test("what is of a moment is tried again, nothing else", () => {
  assert.equal(isBusy({ status: 429, code: "token_rate_limited" }), true);
  assert.equal(isBusy({ status: 503, code: "unavailable" }), true);
  assert.equal(isBusy({ status: 409, code: "maintenance_in_progress" }), true);
  assert.equal(isBusy({ status: 503, code: "files_unavailable" }), false);
  assert.equal(isBusy({ status: 409, code: "not_stopped" }), false);
});
