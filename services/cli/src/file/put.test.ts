import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "@svc/client";
import { RefusedError } from "../account/refusal.ts";
import { withWayOut } from "./put.ts";

const refused = (code: string, message: string) =>
  new RefusedError(
    `${message} (${code}, request r)`,
    new ApiError(message, { status: 409, code, requestId: "r" }),
  );
const said = (error: unknown, target: string) =>
  (withWayOut(error, { name: "survival", target }) as Error).message;

test("an upload that is refused says which option or command gets around it", () => {
  assert.match(
    said(refused("file_exists", "a.yml already exists."), "a.yml"),
    /request r\); replace it with --overwrite$/,
  );
  assert.match(
    said(refused("not_found", "plugins does not exist."), "plugins/X/a.yml"),
    /; make folders with: `svc files mkdir survival plugins`$/,
  );
  const gone = refused("not_found", "The server does not exist.");
  assert.equal(withWayOut(gone, { name: "survival", target: "a.yml" }), gone);
  const running = refused("not_stopped", "Stop the server first.");
  assert.equal(withWayOut(running, { name: "survival", target: "plugins/a.yml" }), running);
});
