import { X } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import { ApiError, offlineError } from "../api/error.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Row } from "../ui/layout.tsx";
import { useIsNarrow } from "../ui/media.ts";
import { Menu } from "../ui/menu.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";
import { type BulkAct, isOver, type PlainAct, plainActs } from "./bulk.ts";
import { readBulkRun, startBulkRun, subscribeBulkRun } from "./bulk-runs.ts";
import { BulkTagDialog } from "./bulk-tag-dialog.tsx";
import styles from "./fleet.module.css";

type Asked = PlainAct | "tags";

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
  const [asked, setAsked] = useState<Asked>();
  const [isReading, setReading] = useState(false);
  const isNarrow = useIsNarrow();
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
      <strong role="status">{(isNarrow ? fleet.selectedShort : fleet.selected)(count)}</strong>
      <Acts isNarrow={isNarrow} whyNot={whyNot} onAsk={setAsked} onClear={onDone} />
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

type ActsProps = {
  isNarrow: boolean;
  /** Why none of them can be taken now. */
  whyNot: string | undefined;
  onAsk: (asked: Asked) => void;
  onClear: () => void;
};

/** Side by side where there is room; a phone has them in a menu, so that the list keeps its screen. */
function Acts({ isNarrow, whyNot, onAsk, onClear }: ActsProps) {
  const { fleet } = useWords();
  const acts = [
    ...plainActs.map((act) => ({ word: fleet.acts[act], run: () => onAsk(act) })),
    { word: fleet.tags, run: () => onAsk("tags") },
  ];
  if (isNarrow)
    return (
      <div className={styles.acts}>
        <Menu label={fleet.act} word={fleet.act} actions={acts} whyNot={whyNot} />
        <Button kind="quiet" label={fleet.clear} onPress={onClear}>
          <X size={18} aria-hidden />
        </Button>
      </div>
    );
  return (
    <Row>
      {acts.map(({ word, run }) => (
        <Button key={word} whyNot={whyNot} onPress={run}>
          {word}
        </Button>
      ))}
      <Button kind="quiet" onPress={onClear}>
        {fleet.clear}
      </Button>
    </Row>
  );
}
