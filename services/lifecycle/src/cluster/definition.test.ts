import assert from "node:assert/strict";
import { test } from "node:test";
import { isFault } from "@svc/proto";
import { assertKept } from "./definition.ts";

test("what the cluster kept passes", () => assertKept(true, "tags"));

test("what an older definition dropped is 503 and says who can help", () => {
  assert.throws(
    () => assertKept(false, "tags"),
    (error) =>
      isFault(error) &&
      error.fault === "unavailable" &&
      error.message === "The cluster does not know tags yet; an operator has to install the new definition.",
  );
});
