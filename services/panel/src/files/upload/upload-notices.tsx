import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { FileChooser } from "../../ui/file-chooser.tsx";
import { Row } from "../../ui/layout.tsx";
import { Notice } from "../../ui/notice.tsx";
import { faultWords } from "../../words/faults.ts";
import { useWords } from "../../words/words.ts";
import { filesOfChooser } from "./collect.ts";
import type { QueueSummary, UploadQueue } from "./queue.ts";
import { attachFiles, resumeUploads, retryUploads, settleConflicts } from "./uploads.ts";

type UploadNoticesProps = { queue: UploadQueue; summary: QueueSummary };

/** What keeps uploads from going on: each with what the person can do. */
export function UploadNotices({ queue, summary }: UploadNoticesProps) {
  const words = useWords();
  const { uploads } = words;
  const waiting = queue.items.find(({ state }) => state.is === "retrying" && state.code !== "")?.state;
  return (
    <>
      {queue.isSignedOut && (
        <Notice kind="waiting" actions={<Button onPress={resumeUploads}>{uploads.goOn}</Button>}>
          {uploads.signedOut}
        </Notice>
      )}
      {waiting?.is === "retrying" && (
        <Notice kind="waiting">{faultWords(words, { code: waiting.code, message: "" })}</Notice>
      )}
      {summary.existing > 0 && (
        <Notice
          kind="waiting"
          isAlert
          actions={
            <Row>
              <Button onPress={() => settleConflicts("skip")}>{uploads.skipAll}</Button>
              <Button onPress={() => settleConflicts("replace")}>{uploads.replaceAll}</Button>
            </Row>
          }
        >
          {uploads.exists(summary.existing)}
        </Notice>
      )}
      {summary.missing.length > 0 && <Missing count={summary.missing.length} />}
      {summary.failed > 0 && (
        <Notice kind="failed" actions={<Button onPress={retryUploads}>{uploads.retry}</Button>}>
          {uploads.failed(summary.failed)}
        </Notice>
      )}
    </>
  );
}

function Missing({ count }: { count: number }) {
  const { uploads } = useWords();
  const [isOther, setOther] = useState(false);
  const choose = (files: File[]) => {
    const given = filesOfChooser(files);
    setOther(given.length > 0 && attachFiles(given).length === given.length);
  };
  return (
    <Notice kind="waiting" actions={<FileChooser onChoose={choose}>{uploads.choose}</FileChooser>}>
      {uploads.missing(count)} {isOther && uploads.missingOther}
    </Notice>
  );
}
