// Which findings of a report block an image (docs/reference/builds.md#policy). A pure function of report and policy.

import type * as scans from "@svc/proto/scan";
import type { Report } from "./report.ts";

const severities: readonly scans.Severity[] = ["CRITICAL", "HIGH", "MEDIUM", "LOW", "UNKNOWN"];
/** Findings that a summary names; the counts count all. */
const mostFindings = 100;
/** Builds reads a verdict of at most 1 MiB. */
const longestText = 200;

type Judgement = Omit<scans.ScanSummary, "omitted" | "database_at">;

export function decideVerdict(report: Report, policy: scans.ScanPolicy, now: Date): Judgement {
  const findings = findingsOf(report).map((finding) => withVerdict(finding, policy, now));
  const blocking = findings.filter((finding) => finding.blocking);
  return {
    policy,
    blocked: blocking.length > 0,
    packages: report.Results.reduce((sum, { Packages }) => sum + Packages.length, 0),
    counts: countsOf(findings),
    blocking_counts: countsOf(blocking),
    findings: findings.sort(byWeight).slice(0, mostFindings),
  };
}

type Finding = Omit<scans.ScanFinding, "blocking" | "accepted" | "acceptance">;

function findingsOf({ Results }: Report): Finding[] {
  return Results.flatMap(({ Target, Vulnerabilities, Secrets }) => [
    ...Vulnerabilities.map(
      (found): Finding => ({
        id: short(found.VulnerabilityID),
        kind: "vulnerability",
        severity: found.Severity,
        target: short(Target),
        ...text("package", found.PkgName),
        ...text("installed", found.InstalledVersion),
        ...text("fixed", found.FixedVersion),
        ...text("title", found.Title),
      }),
    ),
    // What was matched stays in the report: a summary must not spread the secret.
    ...Secrets.map(
      (found): Finding => ({
        id: short(found.RuleID),
        kind: "secret",
        severity: found.Severity,
        target: short(Target),
        ...text("title", found.Title),
      }),
    ),
  ]);
}

function withVerdict(finding: Finding, policy: scans.ScanPolicy, now: Date): scans.ScanFinding {
  const acceptance = acceptanceOf(finding, policy, now);
  const isAccepted = acceptance !== undefined || (policy.accept?.includes(finding.id) ?? false);
  const isActionable = finding.kind === "secret" || finding.fixed !== undefined || policy.fail_unfixed;
  const blocking = policy.fail_on.includes(finding.severity) && isActionable && !isAccepted;
  return { ...finding, blocking, ...(isAccepted && { accepted: true }), ...(acceptance && { acceptance }) };
}

/** A name that was shortened is longer than any that can be accepted. */
function acceptanceOf(
  { id, package: name, target }: Finding,
  { accepted = [] }: scans.ScanPolicy,
  now: Date,
): scans.ScanFinding["acceptance"] {
  const found = accepted.find(
    (one) =>
      one.finding_id === id && one.package === (name ?? target) && Date.parse(one.until) > now.getTime(),
  );
  return found && { id: found.id, by: found.by, until: found.until };
}

function countsOf(findings: readonly scans.ScanFinding[]): scans.ScanSummary["counts"] {
  const counts: scans.ScanSummary["counts"] = {};
  for (const { severity } of findings) counts[severity] = (counts[severity] ?? 0) + 1;
  return counts;
}

function byWeight(one: scans.ScanFinding, other: scans.ScanFinding): number {
  return (
    Number(other.blocking) - Number(one.blocking) ||
    severities.indexOf(one.severity) - severities.indexOf(other.severity) ||
    compare(one.id, other.id) ||
    compare(one.target, other.target) ||
    compare(one.package ?? "", other.package ?? "")
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function text<Name extends string>(name: Name, value: string): { [Key in Name]?: string } {
  return value === "" ? {} : ({ [name]: short(value) } as { [Key in Name]: string });
}

function short(value: string): string {
  return value.replaceAll(/\p{Cc}+/gu, " ").slice(0, longestText);
}
