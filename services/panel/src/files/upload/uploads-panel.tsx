import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Row } from "../../ui/layout.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveGuard } from "../../ui/use-leave-guard.ts";
import { formatBytes } from "../../words/format.ts";
import { useLanguage, useWords } from "../../words/words.ts";
import { type QueueSummary, summaryOf } from "./queue.ts";
import { speedOf } from "./speed.ts";
import styles from "./upload.module.css";
import { UploadList } from "./upload-list.tsx";
import { UploadNotices } from "./upload-notices.tsx";
import {
  cancelUploads,
  hasFile,
  pauseUploads,
  readUploads,
  resumeUploads,
  startUploads,
  subscribeUploads,
  type Uploads,
} from "./uploads.ts";

/** The uploads of this tab, on whatever page: how far they are, and what the person has to decide. */
export function UploadsPanel({ userId }: { userId: string }) {
  const { uploads: words } = useWords();
  const uploads = useSyncExternalStore(subscribeUploads, readUploads);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => void startUploads(userId), [userId]);
  const { queue, sending } = uploads;
  const summary = summaryOf(queue, { hasFile, sending });
  useEnd(uploads, summary);
  useLeaveGuard(uploads.runningId !== undefined, () => readUploads().runningId !== undefined);
  if (queue.items.length === 0) return null;
  return (
    <section className={styles.panel} aria-label={words.title}>
      <Overview uploads={uploads} summary={summary} isOpen={isOpen} onOpen={setOpen} />
      <UploadNotices queue={queue} summary={summary} />
      {isOpen && <UploadList uploads={uploads} />}
    </section>
  );
}

type OverviewProps = {
  uploads: Uploads;
  summary: QueueSummary;
  isOpen: boolean;
  onOpen: (isOpen: boolean) => void;
};

function Overview({ uploads, summary, isOpen, onOpen }: OverviewProps) {
  const { uploads: words } = useWords();
  const { language } = useLanguage();
  const { queue, samples } = uploads;
  const speed = speedOf(samples);
  const size = (bytes: number) => formatBytes(bytes, language);
  const progress = words.progress(summary.done, summary.files);
  return (
    <>
      <Row isSpread>
        <div className={styles.text}>
          <strong>{progress}</strong>{" "}
          <span className={styles.about}>
            {words.bytes(size(summary.received), size(summary.bytes))}
            {speed !== undefined && ` · ${words.speed(size(speed))}`}
            {queue.isPaused && ` · ${words.paused}`}
          </span>
        </div>
        <Row>
          <Button kind="quiet" onPress={() => onOpen(!isOpen)}>
            {isOpen ? words.hideDetails : words.details}
          </Button>
          {summary.isOver ? (
            <Button onPress={() => cancelUploads(queue.items)}>{words.close}</Button>
          ) : (
            <>
              {queue.isPaused ? (
                <Button onPress={resumeUploads}>{words.goOn}</Button>
              ) : (
                <Button onPress={pauseUploads}>{words.pause}</Button>
              )}
              <CancelAll />
            </>
          )}
        </Row>
      </Row>
      <Progress label={progress} value={summary.received} max={summary.bytes} />
    </>
  );
}

function CancelAll() {
  const { uploads: words } = useWords();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onPress={() => setAsking(true)}>{words.cancelAll}</Button>
      <Confirm
        title={words.cancelTitle}
        action={words.cancelAll}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => cancelUploads(readUploads().queue.items)}
      >
        <p>{words.cancelHelp}</p>
      </Confirm>
    </>
  );
}

/** When nothing runs any more, what is on screen is read again, once; a queue without faults goes away. */
function useEnd({ queue, runningId }: Uploads, { isOver, done, failed }: QueueSummary): void {
  const { uploads: words } = useWords();
  const toast = useToast();
  const client = useQueryClient();
  const finished = queue.items.filter(({ state }) => state.is === "done").length;
  const told = useRef(0);
  const isIdle = runningId === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the end counts
  useEffect(() => {
    if (!isIdle || finished === told.current) return;
    told.current = finished;
    for (const name of finished > 0 ? ["files.list", "submissions.listOwn"] : [])
      void client.invalidateQueries({ queryKey: [name] });
    if (!isOver || failed > 0) return;
    if (done > 0) toast({ kind: "done", text: words.ended(done) });
    told.current = 0;
    cancelUploads(queue.items);
  }, [isIdle, finished, isOver]);
}

/** The browser asks before a page with a running upload is closed. */
