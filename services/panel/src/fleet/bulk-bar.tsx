import { useState, useSyncExternalStore } from "react";
import { ApiError, offlineError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Row } from "../ui/layout.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";
import { type BulkAct, bulkActs, isOver } from "./bulk.ts";
import { readBulkRun, startBulkRun, subscribeBulkRun } from "./bulk-runs.ts";
import styles from "./fleet.module.css";
import type { FleetView } from "./fleet-view.ts";
import type { Selection } from "./selection.ts";
import { readSelected } from "./use-fleet.ts";

type BulkBarProps = {
  view: FleetView;
  selection: Selection;
  count: number;
  /** Another search is being read: nobody knows yet how many are chosen. */
  isOld: boolean;
  onDone: () => void;
};

/** What can be done to the servers that are chosen; it stays in sight while the list scrolls. */
export function BulkBar({ view, selection, count, isOld, onDone }: BulkBarProps) {
  const words = useWords();
  const { fleet } = words;
  const toast = useToast();
  const run = useSyncExternalStore(subscribeBulkRun, readBulkRun);
  const [asked, setAsked] = useState<BulkAct>();
  const [isReading, setReading] = useState(false);
  if (count === 0) return null;
  const begin = (act: BulkAct) => {
    setReading(true);
    readSelected(view, selection)
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
          {bulkActs.map((act) => (
            <Button key={act} whyNot={whyNot} onPress={() => setAsked(act)}>
              {fleet.acts[act]}
            </Button>
          ))}
          <Button kind="quiet" onPress={onDone}>
            {fleet.clear}
          </Button>
        </Row>
      </Row>
      {asked && !isOld && (
        <Confirm
          isOpen
          title={fleet.confirm[asked](count)}
          action={fleet.actions[asked](count)}
          onClose={() => setAsked(undefined)}
          onConfirm={() => begin(asked)}
        >
          <p>{fleet.help[asked]}</p>
        </Confirm>
      )}
    </section>
  );
}
