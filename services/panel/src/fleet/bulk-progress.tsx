import { useEffect, useSyncExternalStore } from "react";
import { useRefresh } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Progress } from "../ui/progress.tsx";
import { ScrollList } from "../ui/scroll-list.tsx";
import { Status, type StatusLook } from "../ui/status.tsx";
import { useLeaveGuard } from "../ui/use-leave-guard.ts";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords, type Words } from "../words/words.ts";
import { type BulkRow, type BulkRun, countsOf, inOrder, isOver } from "./bulk.ts";
import {
  abortBulkRun,
  closeBulkRun,
  isBulkRunning,
  readBulkRun,
  retryBulkRun,
  subscribeBulkRun,
} from "./bulk-runs.ts";
import styles from "./fleet.module.css";

const looks: Record<BulkRow["state"], StatusLook> = {
  waiting: "unknown",
  running: "starting",
  done: "running",
  failed: "failed",
  skipped: "asleep",
};

/** How far the bulk run of this tab is, with the answer of each server. */
export function BulkProgress() {
  const { fleet, reasons } = useWords();
  const refresh = useRefresh();
  const run = useSyncExternalStore(subscribeBulkRun, readBulkRun);
  const over = run !== undefined && isOver(run);
  useLeaveGuard(run !== undefined && !over, isBulkRunning);
  useEffect(() => {
    if (over) refresh(["servers.fleet", "ownership.listMine"]);
  }, [over, refresh]);
  if (!run) return null;
  const { done, failed, skipped, waiting, running } = countsOf(run);
  const title = titleOf(fleet, run);
  return (
    <Card
      title={title}
      actions={
        <Row>
          {!over && (
            <Button whyNot={run.isAborted ? reasons.aborted : undefined} onPress={abortBulkRun}>
              {fleet.abort}
            </Button>
          )}
          {over && failed + skipped > 0 && (
            <Button kind="primary" onPress={retryBulkRun}>
              {fleet.retry(failed + skipped)}
            </Button>
          )}
          {over && <Button onPress={closeBulkRun}>{fleet.close}</Button>}
        </Row>
      }
    >
      <Progress label={title} value={run.rows.length - waiting - running} max={run.rows.length} />
      <Muted>
        <span role="status">{fleet.progress(done, failed, waiting + running)}</span>
      </Muted>
      {!over && <Muted>{fleet.keepOpen}</Muted>}
      <ScrollList
        label={fleet.results}
        className={styles.results}
        rows={inOrder(run)}
        keyOf={({ name }) => name}
        rowClassName={styles.result}
      >
        {(row) => <Result row={row} />}
      </ScrollList>
    </Card>
  );
}

function titleOf(fleet: Words["fleet"], { act, rows }: BulkRun): string {
  const count = rows.length;
  return "tag" in act
    ? fleet.tagRuns[act.kind](isolate(visible(act.tag.name)), count)
    : fleet.runs[act.kind](count);
}

function Result({ row: { name, state, error } }: { row: BulkRow }) {
  const words = useWords();
  return (
    <>
      <Link to={`/servers/${name}`}>
        <bdi>{name}</bdi>
      </Link>
      <Status look={looks[state]} word={words.fleet.states[state]} />
      <span>{error && faultWords(words, error)}</span>
    </>
  );
}
