import assert from "node:assert/strict";
import { test } from "node:test";
import { probeUserNamespaces } from "./user-namespaces.ts";

test("a pod has a user namespace of its own when its users are others on the node", () => {
  assert.match(probeUserNamespaces("         0    1234567      65536\n"), /of its own/);
  assert.throws(() => probeUserNamespaces("         0          0 4294967295\n"), { name: "StepFailure" });
});
