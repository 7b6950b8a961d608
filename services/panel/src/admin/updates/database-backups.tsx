import { useState } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Facts, Muted, Row } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Status } from "../../ui/status.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { formatBytes, formatClock } from "../../words/format.ts";
import { type HealthWords, useHealthWords } from "../../words/health-words.ts";
import type { Language } from "../../words/language.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import { type BackupProblem, type BackupStatus, type Bundle, commandOf, problemsOf } from "./bundle-view.ts";

const shownAtFirst = 7;

/** The bundles of the database, and whether one of them would save the day. */
export function DatabaseBackups() {
  const { bundles: words } = useHealthWords();
  const { data, error, refetch } = useOperation("databaseBackups.readStatus", {}, { every: poll.history });
  return (
    <Card title={words.title}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data && (
        <>
          {problemsOf(data).map((problem) => (
            <Problem key={problem} problem={problem} status={data} />
          ))}
          <Newest status={data} />
          <Bundles bundles={data.bundles ?? []} />
        </>
      )}
    </Card>
  );
}

function Problem({ problem, status }: { problem: BackupProblem; status: BackupStatus }) {
  const { bundles: words } = useHealthWords();
  const details: Partial<Record<BackupProblem, string | undefined>> = {
    "rehearsal-failed": status.rehearsal?.error,
    "without-servers": status.last?.servers_error,
  };
  const detail = details[problem];
  return (
    <Notice kind={problem === "none-yet" || problem === "no-daily" ? "waiting" : "failed"}>
      <strong>{words.problems[problem](Math.round(status.max_age_seconds / 3_600))}</strong>
      {detail !== undefined && (
        <p>
          <bdi>{visible(detail)}</bdi>
        </p>
      )}
      <p>{words.help[problem]}</p>
      <Copied text={commandOf[problem]} what={words.command} />
    </Notice>
  );
}

function Newest({ status: { last, rehearsal, point_in_time } }: { status: BackupStatus }) {
  const { bundles: words } = useHealthWords();
  const { language } = useLanguage();
  const number = new Intl.NumberFormat(language);
  if (!last) return null;
  return (
    <Facts
      rows={[
        [words.newest, <Time key="last" at={last.at} />],
        [words.newestDaily, last.daily_at === undefined ? "–" : <Time key="daily" at={last.daily_at} />],
        [
          words.rehearsal,
          rehearsal ? (
            <Row key="rehearsal">
              <Status
                look={rehearsal.succeeded ? "running" : "failed"}
                word={rehearsal.succeeded ? words.rehearsed : words.notRestorable}
              />
              <Time at={rehearsal.at} />
              <span>
                {words.rehearsalTook(number.format(rehearsal.rows), formatClock(rehearsal.duration_seconds))}
              </span>
            </Row>
          ) : (
            words.notRehearsed
          ),
        ],
        ...(point_in_time
          ? [[words.pointInTime, <PointInTime key="point" found={point_in_time} />] as const]
          : []),
        ...(point_in_time?.base_at === undefined
          ? []
          : [[words.baseBackup, <Time key="base" at={point_in_time.base_at} />] as const]),
      ]}
    />
  );
}

function PointInTime({ found }: { found: NonNullable<BackupStatus["point_in_time"]> }) {
  const { bundles: words } = useHealthWords();
  const { covered_from, covered_until, stale } = found;
  const isFresh = stale === undefined;
  return (
    <>
      <Row>
        <Status look={isFresh ? "running" : "failed"} word={isFresh ? words.covered : words.notCovered} />
        {covered_from !== undefined && covered_until !== undefined && (
          <span>
            <Time at={covered_from} /> – <Time at={covered_until} />
          </span>
        )}
      </Row>
      {stale !== undefined && <bdi>{visible(stale)}</bdi>}
    </>
  );
}

function Bundles({ bundles }: { bundles: readonly Bundle[] }) {
  const catalogue = useHealthWords();
  const words = catalogue.bundles;
  const { language } = useLanguage();
  const [isAll, setAll] = useState(false);
  if (bundles.length === 0) return null;
  return (
    <>
      <Table
        label={words.list}
        columns={columnsOf(catalogue, language)}
        rows={isAll ? bundles : bundles.slice(0, shownAtFirst)}
        keyOf={({ name }) => name}
      />
      {!isAll && bundles.length > shownAtFirst && (
        <Row>
          <Button onPress={() => setAll(true)}>{words.showAll(bundles.length)}</Button>
        </Row>
      )}
      <Muted>{words.restoreHelp}</Muted>
    </>
  );
}

function columnsOf({ bundles: words }: HealthWords, language: Language) {
  return [
    { key: "at", title: words.taken, cell: ({ at }: Bundle) => <Time at={at} /> },
    { key: "label", title: words.why, cell: ({ label }: Bundle) => words.labels[label] },
    {
      key: "size",
      title: words.size,
      cell: ({ size_bytes }: Bundle) => formatBytes(size_bytes, language),
    },
    {
      key: "state",
      title: words.state,
      cell: ({ damage }: Bundle) =>
        damage === undefined ? (
          <Status look="running" word={words.whole} />
        ) : (
          <>
            <Status look="failed" word={words.damaged} />
            <div>{visible(damage)}</div>
          </>
        ),
    },
    {
      key: "name",
      title: words.name,
      cell: ({ name }: Bundle) => <Copied text={name} what={words.name} />,
    },
  ];
}
