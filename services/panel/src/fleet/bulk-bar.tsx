import { useState, useSyncExternalStore } from "react";
import { ApiError, offlineError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Row } from "../ui/layout.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";
import { type BulkAct, isOver, type PlainAct, plainActs } from "./bulk.ts";
import { readBulkRun, startBulkRun, subscribeBulkRun } from "./bulk-runs.ts";
import { BulkTagDialog } from "./bulk-tag-dialog.tsx";
import styles from "./fleet.module.css";

type BulkBarProps = {
  count: number;
  /** The names that are chosen. */
  readNames: () => Promise<readonly string[]>;
  /** Another search is being read: nobody knows yet how many are chosen. */
  isOld?: boolean;
  onDone: () => void;
};

/** What can be done to the servers that are chosen; it stays in sight while the list scrolls. */
export function BulkBar({ count, readNames, isOld = false, onDone }: BulkBarProps) {
  const words = useWords();
  const { fleet } = words;
  const toast = useToast();
  const run = useSyncExternalStore(subscribeBulkRun, readBulkRun);
  const [asked, setAsked] = useState<PlainAct | "tags">();
  const [isReading, setReading] = useState(false);
  if (count === 0) return null;
  const begin = (act: BulkAct) => {
    setAsked(undefined);
    setReading(true);
    readNames()
      .then(
        (names) => {
          startBulkRun(act, names);
          onDone();
        },
        (thrown: unknown) => {
          const error = thrown instanceof ApiError ? thrown : offlineError();
          toast(failedToast(words, error));
        },
      )
      .finally(() => setReading(false));
  };
  const isBusy = run !== undefined && !isOver(run);
  const whyNot = isBusy ? words.reasons.otherBulk : isReading || isOld ? words.reasons.searching : undefined;
  return (
    <section className={styles.bar} aria-label={fleet.bulk}>
      <Row isSpread>
        <strong role="status">{fleet.selected(count)}</strong>
        <Row>
          {plainActs.map((act) => (
            <Button key={act} whyNot={whyNot} onPress={() => setAsked(act)}>
              {fleet.acts[act]}
            </Button>
          ))}
          <Button whyNot={whyNot} onPress={() => setAsked("tags")}>
            {fleet.tags}
          </Button>
          <Button kind="quiet" onPress={onDone}>
            {fleet.clear}
          </Button>
        </Row>
      </Row>
      {asked === "tags" && !isOld && (
        <BulkTagDialog count={count} onClose={() => setAsked(undefined)} onSubmit={begin} />
      )}
      {asked && asked !== "tags" && !isOld && (
        <Confirm
          isOpen
          title={fleet.confirm[asked](count)}
          action={fleet.actions[asked](count)}
          onClose={() => setAsked(undefined)}
          onConfirm={() => begin({ kind: asked })}
        >
          <p>{fleet.help[asked]}</p>
          <p>{fleet.keepOpen}</p>
        </Confirm>
      )}
    </section>
  );
}
