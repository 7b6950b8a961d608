import { poll, useOperation } from "../../api/query.ts";
import { Copied } from "../../ui/copied.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Table } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type HealthWords, useHealthWords } from "../../words/health-words.ts";
import { visible } from "../../words/visible.ts";
import {
  commandOf,
  headlineOf,
  inOrder,
  lookOfComponent,
  nameOf,
  noteOf,
  type Report,
} from "./components.ts";
import { DatabaseBackups } from "./database-backups.tsx";
import { WindowCard } from "./window-card.tsx";

const recordCommand = "svc update --record";

/** What has an update, when updates may be applied, and what one would go back to. svc applies none by itself. */
export function Page() {
  const { updates } = useHealthWords();
  return (
    <PageFrame title={updates.title}>
      <NewestReport />
      <WindowCard />
      <DatabaseBackups />
    </PageFrame>
  );
}

function NewestReport() {
  const { updates } = useHealthWords();
  const { data, error, refetch } = useOperation("updates.readReport", {}, { every: poll.history });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { report, stale, max_age_seconds } = data;
  return (
    <>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {stale && (
        <Notice kind="waiting">
          <strong>{report ? updates.stale(Math.round(max_age_seconds / 3_600)) : updates.none}</strong>
          <p>{updates.makeOne}</p>
          <Copied text={recordCommand} what={updates.command} />
        </Notice>
      )}
      {report && <Components report={report} />}
    </>
  );
}

function Components({ report }: { report: Report }) {
  const words = useHealthWords();
  const { updates } = words;
  const { components, checked_at, version } = report;
  return (
    <Card title={headlineOf(components, words)}>
      <Muted>
        {updates.checked} <Time at={checked_at} /> · {updates.byVersion(visible(version))} ·{" "}
        {updates.notApplied}
      </Muted>
      <Table
        label={updates.components}
        columns={columnsOf(words)}
        rows={inOrder(components)}
        keyOf={({ name }) => name}
      />
    </Card>
  );
}

function columnsOf(words: HealthWords) {
  const { updates } = words;
  type Row = Report["components"][number];
  return [
    { key: "name", title: updates.component, cell: (row: Row) => <bdi>{visible(nameOf(row, words))}</bdi> },
    {
      key: "state",
      title: updates.state,
      cell: ({ state }: Row) => <Status look={lookOfComponent[state]} word={updates.states[state]} />,
    },
    { key: "current", title: updates.installed, cell: ({ current }: Row) => visible(current ?? "") },
    { key: "latest", title: updates.newest, cell: ({ latest }: Row) => visible(latest ?? "") },
    {
      key: "note",
      title: updates.note,
      cell: (row: Row) => noteOf(row, words) && <bdi>{visible(noteOf(row, words))}</bdi>,
    },
    {
      key: "apply",
      title: updates.apply,
      cell: (row: Row) => {
        const command = commandOf(row);
        return command !== undefined && <Copied text={command} what={updates.command} />;
      },
    },
  ];
}
