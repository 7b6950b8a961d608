import { addressOf } from "../../api/address.ts";
import { poll, useOperation } from "../../api/query.ts";
import { DownloadLink } from "../../ui/download-link.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted, Row } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Severity } from "../../ui/severity.tsx";
import { Time } from "../../ui/time.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { type Build, isActive } from "./builds-view.ts";
import { type ScanSummary, severities, totalOf } from "./findings.ts";
import { FindingsTable } from "./findings-table.tsx";
import { Packages } from "./packages.tsx";
import { ScanComparison } from "./scan-comparison.tsx";

/** What the scan of a build found: the verdict first, then why. */
export function Scan({ build }: { build: Build }) {
  const { scan: words } = usePackWords();
  const { id, status } = build;
  const { data, error, refetch } = useOperation(
    "scans.readScan",
    { id },
    { every: (known) => (known === undefined && isActive(status) ? poll.status : 5 * poll.list) },
  );
  const isMissing = error?.code === "scan_not_found";
  if (!data)
    return (
      <Card title={words.title}>
        {isMissing && <Muted>{isActive(status) ? words.notYet : words.none}</Muted>}
        {!isMissing && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      </Card>
    );
  const { summary, has_report, has_sbom, scanned_at } = data;
  return (
    <>
      <Card title={words.title}>
        <Verdict summary={summary} isStored={build.kind === "scan"} />
        <Counts summary={summary} />
        <Muted>
          {words.scannedAt} <Time at={scanned_at} />
          {" · "}
          {summary.database_at === undefined ? (
            words.noDatabase
          ) : (
            <>
              {words.database} <Time at={summary.database_at} />
            </>
          )}
        </Muted>
        <Muted>{policyWords(summary, words)}</Muted>
        <Row>
          {has_report && (
            <DownloadLink href={addressOf("scans.downloadReport", { id })} filename={`${id}-trivy.json`}>
              {words.report}
            </DownloadLink>
          )}
          {has_sbom && (
            <DownloadLink href={addressOf("scans.downloadSbom", { id })} filename={`${id}.cdx.json`}>
              {words.sbom}
            </DownloadLink>
          )}
        </Row>
        {(!has_report || !has_sbom) && <Muted>{words.omitted}</Muted>}
      </Card>
      <FindingsTable summary={summary} imageRef={build.image_ref} />
      {has_sbom && <Packages id={id} />}
      <ScanComparison build={build} scan={data} />
    </>
  );
}

type ScanWords = ReturnType<typeof usePackWords>["scan"];

function policyWords({ policy }: ScanSummary, words: ScanWords): string {
  const named = policy.fail_on.map((severity) => words.severities[severity]).join(", ");
  const text = policy.fail_on.length === 0 ? words.policyNone : words.policy(named);
  return policy.fail_unfixed ? `${text} ${words.policyUnfixed}` : text;
}

function Verdict({ summary, isStored }: { summary: ScanSummary; isStored: boolean }) {
  const { scan: words } = usePackWords();
  if (!summary.blocked) return <Notice kind="done">{words.passed(totalOf(summary.counts))}</Notice>;
  return (
    <Notice kind="failed">
      <strong>{isStored ? words.flagged : words.blocked}</strong>
      <p>{words.blockedBy(totalOf(summary.blocking_counts))}</p>
    </Notice>
  );
}

/** Findings by severity, and how many of them block. */
function Counts({ summary }: { summary: ScanSummary }) {
  const { scan: words } = usePackWords();
  const found = severities.filter((severity) => (summary.counts[severity] ?? 0) > 0);
  return (
    <Row>
      {found.map((severity) => (
        <span key={severity}>
          <Severity severity={severity} word={words.severities[severity]} />{" "}
          {words.count(summary.counts[severity] ?? 0, summary.blocking_counts[severity] ?? 0)}
        </span>
      ))}
      <Muted>{words.packageCount(summary.packages)}</Muted>
    </Row>
  );
}
