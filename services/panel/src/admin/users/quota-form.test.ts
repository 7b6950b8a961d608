import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formOf, parseForm } from "./quota-form.ts";

const none = { max_servers: null, max_cpu_milli: null, max_memory_mb: null, max_storage_gb: null };
const empty = { max_servers: "", max_cpu_milli: "", max_memory_mb: "", max_storage_gb: "" };

describe("limits as a person types them", () => {
  const cases = [
    ["nothing means no limit", empty, { limits: none }],
    ["0 grants none", { ...empty, max_servers: "0" }, { limits: { ...none, max_servers: 0 } }],
    [
      "cores in thousandths",
      { ...empty, max_cpu_milli: " 1.5 " },
      { limits: { ...none, max_cpu_milli: 1_500 } },
    ],
    ["a comma is a point", { ...empty, max_memory_mb: "0,5" }, { limits: { ...none, max_memory_mb: 512 } }],
    ["half a server is none", { ...empty, max_servers: "1.5" }, { faulty: new Set(["max_servers"]) }],
    [
      "each field that is not a limit is named",
      { max_servers: "-1", max_cpu_milli: "many", max_memory_mb: "8", max_storage_gb: "2147483648" },
      { faulty: new Set(["max_servers", "max_cpu_milli", "max_storage_gb"]) },
    ],
  ] as const;
  for (const [name, form, expected] of cases) test(name, () => assert.deepEqual(parseForm(form), expected));
});

test("every limit of the service survives the form", () => {
  for (const value of [0, 1, 7, 250, 1_001, 1_536, 2_147_483_647]) {
    const limits = { max_servers: value, max_cpu_milli: value, max_memory_mb: value, max_storage_gb: value };
    assert.deepEqual(parseForm(formOf(limits)), { limits });
  }
  assert.deepEqual(formOf(none), empty);
});
