import assert from "node:assert/strict";

/** Everything of `wanted` is in `found`, at the same place; what is false or empty may be left out. */
export function assertHolds(found: unknown, wanted: unknown, path = "spec"): void {
  if (Array.isArray(wanted)) {
    for (const [index, one] of wanted.entries())
      assertHolds((found as unknown[] | undefined)?.[index], one, `${path}[${index}]`);
  } else if (typeof wanted === "object" && wanted !== null) {
    for (const [key, one] of Object.entries(wanted))
      assertHolds((found as Record<string, unknown> | undefined)?.[key], one, `${path}.${key}`);
  } else {
    const isEmpty = found === undefined && (wanted === "" || wanted === false);
    if (!isEmpty) assert.deepEqual(found, wanted, path);
  }
}
