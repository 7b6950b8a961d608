import assert from "node:assert/strict";
import { test } from "node:test";
import { owners } from "@svc/proto";
import { allStreams } from "./catalog.ts";
import { streamsNeededBy } from "./names.ts";

test("every stream of the catalog is needed by exactly one owner", () => {
  const needed = owners.flatMap(streamsNeededBy);
  assert.deepEqual(
    needed.toSorted(),
    allStreams()
      .map(({ name }) => name)
      .toSorted(),
  );
});
