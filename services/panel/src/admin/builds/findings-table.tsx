import { type ReactNode, useMemo, useState } from "react";
import { useOperation } from "../../api/query.ts";
import { Empty } from "../../ui/empty.tsx";
import { Field } from "../../ui/field.tsx";
import { Filters } from "../../ui/filters.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Select } from "../../ui/select.tsx";
import { Severity } from "../../ui/severity.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { AcceptFinding, CurrentVerdict } from "./accept-finding.tsx";
import {
  acceptanceNow,
  everyFinding,
  type Finding,
  type FindingsView,
  findingFilters,
  findingSorts,
  keyOfFinding,
  reasonOf,
  repositoryOf,
  type ScanSummary,
  selectFindings,
  severities,
  totalOf,
} from "./findings.ts";

/** The findings that the summary names, to filter and to sort. */
export function FindingsTable({ summary, imageRef }: { summary: ScanSummary; imageRef: string }) {
  const { scan: words } = usePackWords();
  const repository = repositoryOf(imageRef);
  const { data } = useOperation("acceptances.listAcceptances", { repository, limit: 100, offset: 0 });
  const [accepting, setAccepting] = useState<Finding>();
  const [view, setView] = useState<FindingsView>(everyFinding);
  const shown = useMemo(() => selectFindings(summary.findings, view), [summary.findings, view]);
  const total = totalOf(summary.counts);
  const show = (change: Partial<FindingsView>) => setView({ ...view, ...change });
  if (summary.findings.length === 0) return null;
  return (
    <Card title={words.findings}>
      <Filters label={words.filters}>
        <Field
          label={words.search}
          name="search-findings"
          type="search"
          inputMode="search"
          value={view.search}
          onChange={(search) => show({ search })}
        />
        <Select
          label={words.severity}
          value={view.severity}
          onChange={(severity) => show({ severity })}
          options={[
            ["all", words.anySeverity],
            ...severities.map((severity) => [severity, words.severities[severity]] as const),
          ]}
        />
        <Select
          label={words.show}
          value={view.only}
          onChange={(only) => show({ only })}
          options={findingFilters.map((name) => [name, words.filterNames[name]])}
        />
        <Select
          label={words.sort}
          value={view.sort}
          onChange={(sort) => show({ sort })}
          options={findingSorts.map((name) => [name, words.sorts[name]])}
        />
      </Filters>
      {shown.length === 0 ? (
        <Empty title={words.noMatch} />
      ) : (
        <Findings
          label={words.findings}
          findings={shown}
          policy={summary.policy}
          verdict={(finding) =>
            finding.blocking && (
              <CurrentVerdict
                finding={finding}
                acceptance={acceptanceNow(finding, {
                  acceptances: data?.acceptances ?? [],
                  repository,
                  now: Date.now(),
                })}
                onAccept={() => setAccepting(finding)}
              />
            )
          }
        />
      )}
      {accepting && (
        <AcceptFinding finding={accepting} repository={repository} onClose={() => setAccepting(undefined)} />
      )}
      <Muted>
        <span role="status">{words.shown(shown.length, total)}</span>
        {total > summary.findings.length && ` ${words.moreInReport(summary.findings.length)}`}
      </Muted>
    </Card>
  );
}

type FindingsProps = {
  label: string;
  findings: readonly Finding[];
  policy: ScanSummary["policy"];
  /** What stands below the verdict. */
  verdict?: (finding: Finding) => ReactNode;
};

/** Findings as rows; `policy` is the one that judged them. */
export function Findings({ label, findings, policy, verdict }: FindingsProps) {
  const { scan: words } = usePackWords();
  return (
    <Table
      label={label}
      rows={findings}
      keyOf={keyOfFinding}
      columns={[
        {
          key: "severity",
          title: words.severity,
          cell: ({ severity }) => <Severity severity={severity} word={words.severities[severity]} />,
        },
        {
          key: "finding",
          title: words.finding,
          cell: ({ id, title }) => (
            <>
              <strong>{visible(id)}</strong>
              {title !== undefined && <div>{visible(title)}</div>}
            </>
          ),
        },
        {
          key: "package",
          title: words.package,
          cell: ({ package: name, target }) => <bdi title={visible(target)}>{visible(name ?? target)}</bdi>,
        },
        { key: "installed", title: words.installed, cell: ({ installed }) => visible(installed ?? "–") },
        { key: "fixed", title: words.fixed, cell: ({ fixed }) => visible(fixed ?? "–") },
        {
          key: "verdict",
          title: words.verdict,
          cell: (finding) => (
            <>
              {words.reasons[reasonOf(finding, policy)]}
              {finding.acceptance && (
                <div>
                  {words.acceptedBy(isolate(visible(finding.acceptance.by)))}{" "}
                  <Time at={finding.acceptance.until} />
                </div>
              )}
              {verdict?.(finding)}
            </>
          ),
        },
      ]}
    />
  );
}
