import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Acceptance,
  acceptanceNow,
  canAccept,
  compareFindings,
  everyFinding,
  expiryOf,
  type Finding,
  type FindingsView,
  reasonOf,
  repositoryOf,
  selectFindings,
  totalOf,
} from "./findings.ts";

const base: Finding = {
  id: "CVE-1",
  kind: "vulnerability",
  severity: "HIGH",
  target: "debian",
  blocking: false,
  package: "openssl",
  installed: "1",
};
const policy = { fail_on: ["CRITICAL", "HIGH"], fail_unfixed: false } as const;

describe("a finding", () => {
  const cases: [string, Partial<Finding>, ReturnType<typeof reasonOf>][] = [
    ["blocks as a secret", { kind: "secret", blocking: true }, "secret"],
    ["blocks because there is a fix", { blocking: true, fixed: "2" }, "fixExists"],
    ["blocks without a fix where the policy says so", { blocking: true }, "unfixedToo"],
    ["that is accepted does not block", { accepted: true, fixed: "2" }, "accepted"],
    ["of a low severity does not block", { severity: "LOW", fixed: "2" }, "notSevere"],
    ["without a fix does not block", {}, "noFix"],
  ];
  for (const [name, change, expected] of cases)
    test(name, () =>
      assert.equal(reasonOf({ ...base, ...change }, { ...policy, fail_on: [...policy.fail_on] }), expected),
    );
});

const all: Finding[] = [
  { ...base, id: "CVE-2", severity: "LOW", package: "zlib", accepted: true },
  { ...base, id: "CVE-3", severity: "CRITICAL", package: "bash" },
  { ...base, id: "CVE-1", blocking: true, fixed: "2", title: "Overflow in TLS" },
];

describe("the table of findings", () => {
  const cases: [string, Partial<FindingsView>, string[]][] = [
    ["has blocking ones first, then the worst", {}, ["CVE-1", "CVE-3", "CVE-2"]],
    ["is sorted by package", { sort: "package" }, ["CVE-3", "CVE-1", "CVE-2"]],
    ["is sorted by id", { sort: "id" }, ["CVE-1", "CVE-2", "CVE-3"]],
    ["shows one severity", { severity: "LOW" }, ["CVE-2"]],
    ["shows what blocks", { only: "blocking" }, ["CVE-1"]],
    ["shows what has a fix", { only: "fixable" }, ["CVE-1"]],
    ["shows what is accepted", { only: "accepted" }, ["CVE-2"]],
    ["is searched in titles, whatever the case", { search: " tls " }, ["CVE-1"]],
  ];
  for (const [name, view, expected] of cases)
    test(name, () =>
      assert.deepEqual(
        selectFindings(all, { ...everyFinding, ...view }).map(({ id }) => id),
        expected,
      ),
    );
});

test("all severities count together", () => {
  assert.equal(totalOf({ CRITICAL: 2, LOW: 30 }), 32);
});

test("two scans differ in what only one of them has; another version is the same finding", () => {
  const updated = { ...base, installed: "1.1" };
  const secret: Finding = { ...base, id: "aws-key", kind: "secret", target: "/app/.env" };
  const other: Finding = { ...secret, target: "/app/other.env" };
  const { package: _, ...withoutPackage } = secret;
  const { package: __, ...otherWithout } = other;
  const { added, gone } = compareFindings([base, withoutPackage], [updated, otherWithout]);
  assert.deepEqual(added, [otherWithout]);
  assert.deepEqual(gone, [withoutPackage]);
});

describe("a finding can be accepted", () => {
  const blocking: Finding = { ...base, blocking: true };
  const cases: [string, Finding, boolean][] = [
    ["when it blocks", blocking, true],
    ["not when it does not block", base, false],
    ["not when its name is cut", { ...blocking, package: "x".repeat(200) }, false],
    ["not when its name is cut, by bytes", { ...blocking, package: "\u4e00".repeat(67) }, false],
  ];
  for (const [name, finding, expected] of cases) test(name, () => assert.equal(canAccept(finding), expected));
});

describe("the next build lets a finding through", () => {
  const now = Date.parse("2026-11-23T02:00:00Z");
  const acceptance: Acceptance = {
    id: "a",
    finding_id: "CVE-1",
    package: "openssl",
    reason: "not reachable",
    accepted_by: "amelia",
    accepted_at: "2026-11-22T02:00:00Z",
    expires_at: "2026-11-23T02:00:01Z",
  };
  const cases: [string, Partial<Acceptance>, boolean][] = [
    ["that is accepted in every image", {}, true],
    ["that is accepted in this one", { repository: "host/a" }, true],
    ["not when it is accepted in another image", { repository: "host/b" }, false],
    ["not when another package is accepted", { package: "zlib" }, false],
    ["not when another id is accepted", { finding_id: "CVE-10" }, false],
    ["not from the expiry on", { expires_at: "2026-11-23T02:00:00Z" }, false],
  ];
  for (const [name, change, expected] of cases)
    test(name, () => {
      const about = { acceptances: [{ ...acceptance, ...change }], repository: "host/a", now };
      assert.equal(acceptanceNow(base, about) !== undefined, expected);
    });
});

test("the repository of an image has neither tag nor digest", () => {
  assert.equal(repositoryOf(`registry:5000/packs/a:1@sha256:${"0".repeat(64)}`), "registry:5000/packs/a");
  assert.equal(repositoryOf("registry:5000/packs/a:1"), "registry:5000/packs/a");
  assert.equal(repositoryOf("registry:5000/packs/a"), "registry:5000/packs/a");
});

test("an acceptance ends after today and within a year", () => {
  const now = new Date("2026-11-23T12:00:00").getTime();
  assert.equal(expiryOf("2026-11-24", now), new Date("2026-11-24T00:00:00").toISOString());
  for (const day of ["2026-11-23", "2026-11-22", "2027-11-24", "", "soon"])
    assert.equal(expiryOf(day, now), undefined);
});
