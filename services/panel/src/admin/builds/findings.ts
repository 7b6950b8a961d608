// The findings of a scan: why each blocks or does not, and what differs between two scans (docs/reference/builds.md#policy).
// Pure.

import type { Output } from "../../api/operations.ts";

export type ScanSummary = Output<"scans.readScan">["summary"];
export type Finding = ScanSummary["findings"][number];
type Severity = Finding["severity"];

/** The worst first. */
export const severities = [
  "CRITICAL",
  "HIGH",
  "MEDIUM",
  "LOW",
  "UNKNOWN",
] as const satisfies readonly Severity[];

type FindingReason = "secret" | "fixExists" | "unfixedToo" | "accepted" | "notSevere" | "noFix";

/** Why a finding blocks the image, or why it does not. */
export function reasonOf(finding: Finding, policy: ScanSummary["policy"]): FindingReason {
  if (finding.blocking) {
    if (finding.kind === "secret") return "secret";
    return finding.fixed === undefined ? "unfixedToo" : "fixExists";
  }
  if (finding.accepted) return "accepted";
  return policy.fail_on.includes(finding.severity) ? "noFix" : "notSevere";
}

export type Acceptance = Output<"acceptances.listAcceptances">["acceptances"][number];

/** What an acceptance names beside the id: the package, of a secret its file. */
export function packageOf({ package: name, target }: Finding): string {
  return name ?? target;
}

/** The longest name that can be accepted, in bytes: longer ones are cut in a summary. */
const mostPackageBytes = 199;

export function canAccept(finding: Finding): boolean {
  return finding.blocking && new TextEncoder().encode(packageOf(finding)).length <= mostPackageBytes;
}

/** The acceptance under which the next build of an image lets a finding through. */
export function acceptanceNow(
  finding: Finding,
  { acceptances, repository, now }: { acceptances: readonly Acceptance[]; repository: string; now: number },
): Acceptance | undefined {
  return acceptances.find(
    (one) =>
      one.finding_id === finding.id &&
      one.package === packageOf(finding) &&
      (one.repository === undefined || one.repository === repository) &&
      Date.parse(one.expires_at) > now,
  );
}

/** An image's name without tag and digest, as acceptances name it. */
export function repositoryOf(imageRef: string): string {
  const [named = ""] = imageRef.split("@");
  return named.replace(/:[^:/]*$/, "");
}

/** Midnight at the start of a day that somebody chose; undefined unless it is later than today and within a year. */
export function expiryOf(day: string, now: number): string | undefined {
  const at = new Date(`${day}T00:00:00`).getTime();
  return at > now && at <= now + 365 * 86_400_000 ? new Date(at).toISOString() : undefined;
}

export const findingSorts = ["severity", "package", "id"] as const;
export const findingFilters = ["all", "blocking", "fixable", "accepted"] as const;

export type FindingsView = {
  search: string;
  severity: Severity | "all";
  only: (typeof findingFilters)[number];
  sort: (typeof findingSorts)[number];
};

export const everyFinding: FindingsView = { search: "", severity: "all", only: "all", sort: "severity" };

const rankOf = (severity: Severity) => severities.indexOf(severity);
const compareText = (a = "", b = "") => (a < b ? -1 : a > b ? 1 : 0);

/** The findings of a view in its order; blocking ones first among equals. */
export function selectFindings(findings: readonly Finding[], view: FindingsView): Finding[] {
  const wanted = view.search.trim().toLowerCase();
  const matches = (finding: Finding) =>
    [finding.id, finding.package, finding.target, finding.title].some((text) =>
      text?.toLowerCase().includes(wanted),
    );
  const isOf: Record<FindingsView["only"], (finding: Finding) => boolean> = {
    all: () => true,
    blocking: ({ blocking }) => blocking,
    fixable: ({ fixed }) => fixed !== undefined,
    accepted: ({ accepted }) => accepted === true,
  };
  const worst = (a: Finding, b: Finding) =>
    Number(b.blocking) - Number(a.blocking) || rankOf(a.severity) - rankOf(b.severity);
  const orders: Record<FindingsView["sort"], (a: Finding, b: Finding) => number> = {
    severity: worst,
    package: (a, b) => compareText(a.package ?? a.target, b.package ?? b.target) || worst(a, b),
    id: (a, b) => compareText(a.id, b.id) || worst(a, b),
  };
  return findings
    .filter(
      (finding) =>
        (view.severity === "all" || finding.severity === view.severity) &&
        isOf[view.only](finding) &&
        (wanted === "" || matches(finding)),
    )
    .sort(orders[view.sort]);
}

/** What makes two findings of two scans the same one. */
export function keyOfFinding({ id, kind, package: name, target }: Finding): string {
  return JSON.stringify([kind, id, name ?? target]);
}

/** Findings of all severities; the summary names only the worst hundred. */
export function totalOf(counts: ScanSummary["counts"]): number {
  return severities.reduce((sum, severity) => sum + (counts[severity] ?? 0), 0);
}

/** Findings that only one of two scans has. */
export function compareFindings(
  earlier: readonly Finding[],
  later: readonly Finding[],
): { added: Finding[]; gone: Finding[] } {
  const [before, after] = [earlier, later].map((all) => new Set(all.map(keyOfFinding)));
  return {
    added: later.filter((finding) => !before?.has(keyOfFinding(finding))),
    gone: earlier.filter((finding) => !after?.has(keyOfFinding(finding))),
  };
}
