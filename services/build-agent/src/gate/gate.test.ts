import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { Verdict, verdictMark } from "@svc/proto/build-job";
import { ScanPolicy } from "@svc/proto/scan";
import { limits } from "../config.ts";
import { openImageArchive } from "../image/archive.ts";
import { buildImage } from "../image/build.ts";
import { serve, type TestBuild, testBuild } from "../testing/step.ts";
import { packDocuments } from "./documents.ts";
import { decideVerdict } from "./policy.ts";
import { Report } from "./report.ts";
import { runScanGate } from "./scan-gate.ts";

const imageId = `sha256:${"0".repeat(64)}`;

type Found = { severity: string; fixed?: string; id?: string; kind?: "secret" };

function reportOf(found: readonly Found[], id = imageId): Report {
  const vulnerability = ({
    severity: Severity,
    fixed: FixedVersion,
    id: VulnerabilityID = "CVE-1",
  }: Found) => ({
    VulnerabilityID,
    PkgName: "lodash",
    InstalledVersion: "4.17.20",
    FixedVersion,
    Severity,
  });
  return Report.parse({
    SchemaVersion: 2,
    ArtifactType: "container_image",
    Metadata: { ImageID: id },
    Results: [
      {
        Target: "app",
        Packages: [{}, {}],
        Vulnerabilities: found.filter(({ kind }) => !kind).map(vulnerability),
      },
      {
        Target: "a.env",
        Secrets: found
          .filter(({ kind }) => kind)
          .map(({ severity: Severity, id: RuleID = "key" }) => ({ RuleID, Severity, Match: "AKIA" })),
      },
    ],
  });
}

const now = new Date("2026-11-23T02:00:00.000Z");
const policy = (more: Partial<ScanPolicy> = {}): ScanPolicy =>
  ScanPolicy.parse({ fail_on: ["CRITICAL", "HIGH"], fail_unfixed: false, ...more });

describe("an image", () => {
  const table: [string, Found, Partial<ScanPolicy>, blocked: boolean][] = [
    ["with a fixable finding of a severity that blocks", { severity: "HIGH", fixed: "2" }, {}, true],
    ["with a finding below", { severity: "MEDIUM", fixed: "2" }, {}, false],
    ["with a finding without a fix", { severity: "CRITICAL" }, {}, false],
    ["with one whose fix is empty", { severity: "CRITICAL", fixed: "" }, {}, false],
    ["without a fix where that blocks", { severity: "CRITICAL" }, { fail_unfixed: true }, true],
    ["with a secret", { severity: "HIGH", kind: "secret" }, {}, true],
    ["with a secret below", { severity: "LOW", kind: "secret" }, {}, false],
    ["with an accepted finding", { severity: "HIGH", fixed: "2" }, { accept: ["CVE-1"] }, false],
    ["with an accepted secret", { severity: "HIGH", kind: "secret" }, { accept: ["key"] }, false],
    ["where another id is accepted", { severity: "HIGH", fixed: "2" }, { accept: ["CVE-10"] }, true],
    ["with an unknown severity", { severity: "odd", fixed: "2" }, { fail_on: ["UNKNOWN"] }, true],
    ["where nothing blocks", { severity: "CRITICAL", fixed: "2" }, { fail_on: [] }, false],
  ];
  for (const [what, found, more, blocked] of table)
    test(`${what} is ${blocked ? "blocked" : "let through"}`, () => {
      const decided = decideVerdict(reportOf([found]), policy(more), now);
      assert.equal(decided.blocked, blocked);
      assert.equal(decided.findings[0]?.blocking, blocked);
      const severity = found.severity === "odd" ? "UNKNOWN" : found.severity;
      assert.deepEqual(decided.counts, { [severity]: 1 });
      assert.deepEqual(decided.blocking_counts, blocked ? { [severity]: 1 } : {});
      assert.equal(
        decided.findings[0]?.accepted,
        more.accept?.includes("CVE-10") ? undefined : more.accept && true,
      );
    });
  describe("with a finding that an operator accepted", () => {
    const accepted = { id: "a1", finding_id: "CVE-1", package: "lodash", by: "amelia" };
    const later = new Date(now.getTime() + 1).toISOString();
    const cases: [string, Partial<typeof accepted & { until: string }>, Found, blocked: boolean][] = [
      ["is let through", {}, { severity: "HIGH", fixed: "2" }, false],
      ["is blocked from its expiry on", { until: now.toISOString() }, { severity: "HIGH", fixed: "2" }, true],
      ["in another package is blocked", { package: "left-pad" }, { severity: "HIGH", fixed: "2" }, true],
      ["of another id is blocked", { finding_id: "CVE-10" }, { severity: "HIGH", fixed: "2" }, true],
      [
        "is let through as a secret of its file",
        { finding_id: "key", package: "a.env" },
        { severity: "HIGH", kind: "secret" },
        false,
      ],
      [
        "is blocked as a secret of another file",
        { finding_id: "key", package: "b.env" },
        { severity: "HIGH", kind: "secret" },
        true,
      ],
    ];
    for (const [what, more, found, blocked] of cases)
      test(what, () => {
        const decided = decideVerdict(
          reportOf([found]),
          policy({ accepted: [{ ...accepted, until: later, ...more }] }),
          now,
        );
        assert.equal(decided.blocked, blocked);
        const acceptance = blocked ? undefined : { id: "a1", by: "amelia", until: later };
        assert.deepEqual(decided.findings[0]?.acceptance, acceptance);
        assert.equal(decided.findings[0]?.accepted, blocked ? undefined : true);
      });
  });
  test("has its blocking findings first, then the most severe, a hundred at most; the counts count all", () => {
    const many = Array.from({ length: 150 }, (_, index) => ({
      severity: "LOW",
      fixed: "2",
      id: `L-${index}`,
    }));
    const report = reportOf([
      ...many,
      { severity: "CRITICAL", id: "C" },
      { severity: "HIGH", fixed: "2", id: "H" },
    ]);
    const { findings, counts, packages } = decideVerdict(report, policy(), now);
    assert.deepEqual(
      findings.slice(0, 3).map(({ id }) => id),
      ["H", "C", "L-0"],
    );
    assert.deepEqual([findings.length, counts["LOW"], packages], [100, 150, 2]);
  });
});

test("the longest verdict is one that builds reads", () => {
  const long = "\u4e00".repeat(10_000);
  const finding = {
    VulnerabilityID: long,
    PkgName: long,
    InstalledVersion: long,
    FixedVersion: long,
    Title: long,
  };
  const report = Report.parse({
    ...reportOf([]),
    Results: [{ Target: long, Vulnerabilities: Array(200).fill({ ...finding, Severity: "HIGH" }) }],
  });
  const accepted = Array.from({ length: 160 }, () => ({
    id: "0".repeat(32),
    finding_id: "x".repeat(128),
    package: "\u4e00".repeat(66),
    by: "\u4e00".repeat(32),
    until: now.toISOString(),
  }));
  const decided = decideVerdict(report, policy({ accepted }), now);
  assert.ok(Buffer.byteLength(JSON.stringify(decided)) < 1_048_576);
  // The policy is in one variable of each container, which may have 128 KiB.
  assert.ok(Buffer.byteLength(JSON.stringify(decided.policy)) < 126_976);
});

test("the SBOM is left out first, then the report", async () => {
  const documents = { report: randomBytes(1_000), sbom: randomBytes(1_000) };
  const names = async (most: number) => (await packDocuments(documents, most)).map(([name]) => name);
  assert.deepEqual(await names(3_000), ["report", "sbom"]);
  assert.deepEqual(await names(1_500), ["report"]);
  assert.deepEqual(await names(500), []);
});

async function scanned(found: readonly Found[] = []): Promise<TestBuild> {
  const build = await testBuild();
  await build.put({
    "context/Dockerfile": "FROM scratch\n",
    "secret/documents": "once",
    "reports/sbom.cdx.json": "{}",
  });
  await build.run(buildImage);
  await using image = await openImageArchive(build.at("image/image.tar"));
  await build.put({ "reports/report.json": JSON.stringify(reportOf(found, image.manifest.config.digest)) });
  return build;
}

function verdictOf({ lines }: TestBuild): Verdict {
  const line = lines.find((text) => text.startsWith(verdictMark)) ?? "";
  return Verdict.parse(JSON.parse(line.slice(verdictMark.length)));
}

describe("the gate", () => {
  test("sends both documents with its token and prints the verdict", async () => {
    await using build = await scanned([{ severity: "LOW" }]);
    const sent = new Map<string, string>();
    await using face = await serve((request, response, body) => {
      assert.equal(request.headers.authorization, "Bearer once");
      assert.match(String(request.headers["content-digest"]), /^sha-256=:/);
      sent.set(`${request.method} ${request.url}`, gunzipSync(body).toString());
      response.writeHead(204).end();
    });
    build.task.documents_url = face.url;
    await build.run(runScanGate);
    assert.deepEqual([...sent.keys()], ["PUT /documents/report", "PUT /documents/sbom"]);
    assert.equal(sent.get("PUT /documents/report"), await build.text("reports", "report.json"));
    const { summary } = verdictOf(build);
    assert.deepEqual([summary.blocked, summary.omitted, summary.counts], [false, undefined, { LOW: 1 }]);
  });
  test("retries, and names in its verdict what did not arrive", async () => {
    await using build = await scanned();
    let failures = 2;
    await using face = await serve((request, response) => {
      if (request.url?.endsWith("sbom")) response.writeHead(413).end();
      else response.writeHead(failures-- > 0 ? 503 : 204).end();
    });
    build.task.documents_url = face.url;
    await build.run(runScanGate);
    assert.deepEqual(verdictOf(build).summary.omitted, ["sbom"]);
  });
  test("decides without anybody to send to", async () => {
    await using build = await scanned([{ severity: "HIGH", fixed: "2", id: "CVE-2024-1" }]);
    await assert.rejects(build.run(runScanGate), {
      name: "StepFailure",
      exitCode: 1,
      message: "the scan blocked the image: 1 HIGH (CVE-2024-1)",
    });
    assert.deepEqual(verdictOf(build).summary.omitted, ["report", "sbom"]);
  });
});

describe("a report that cannot be read ends the gate with 2 and without a verdict", () => {
  const cases: Record<string, [change: (build: TestBuild) => Promise<void>, message: RegExp]> = {
    "one that is missing": [(build) => build.put({ "reports/report.json": "" }), /cut or no JSON/],
    "one that is cut": [
      async (build) =>
        build.put({ "reports/report.json": (await build.text("reports", "report.json")).slice(0, -2) }),
      /cut or no JSON/,
    ],
    "one that is empty JSON": [(build) => build.put({ "reports/report.json": "{}" }), /is invalid/],
    "one whose findings have another shape": [
      async (build) => {
        const report = JSON.parse(await build.text("reports", "report.json"));
        await build.put({
          "reports/report.json": JSON.stringify({ ...report, Results: [{ Vulnerabilities: {} }] }),
        });
      },
      /is invalid/,
    ],
    "one of another image": [
      (build) => build.put({ "reports/report.json": JSON.stringify(reportOf([])) }),
      /of another image: sha256:0000/,
    ],
    "one that is too large": [
      (build) => build.put({ "reports/report.json": Buffer.alloc(limits.reportBytes + 1) }),
      /more than 33554432/,
    ],
    "one of an image that can't be read": [
      (build) => build.put({ "image/image.tar": "x" }),
      /image can't be read/,
    ],
    "one without a database": [
      async (build) => {
        build.task.database.need = "required";
      },
      /no database of vulnerabilities/,
    ],
    "one with an old database": [
      async (build) => {
        build.task.database.need = "required";
        await build.put({ "reports/database.json": '{"updated_at":"2020-01-01T00:00:00Z"}' });
      },
      /database of vulnerabilities is \d+ days old/,
    ],
    "one whose database has an odd date": [
      async (build) => {
        build.task.database.need = "required";
        await build.put({ "reports/database.json": '{"updated_at":"soon"}' });
      },
      /no database of vulnerabilities/,
    ],
  };
  for (const [what, [change, message]] of Object.entries(cases))
    test(what, async () => {
      await using build = await scanned();
      await change(build);
      await assert.rejects(build.run(runScanGate), { name: "StepFailure", exitCode: 2, message });
      assert.equal(
        build.lines.some((line) => line.startsWith(verdictMark)),
        false,
      );
    });
  test("a database of today is named in the verdict", async () => {
    await using build = await scanned();
    build.task.database.need = "required";
    const updated_at = new Date().toISOString();
    await build.put({ "reports/database.json": JSON.stringify({ updated_at }) });
    await build.run(runScanGate);
    assert.equal(verdictOf(build).summary.database_at, updated_at);
  });
});
