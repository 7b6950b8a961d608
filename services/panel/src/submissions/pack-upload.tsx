import type { UploadItem } from "../files/upload/item.ts";
import { secondsLeft, speedOf } from "../files/upload/speed.ts";
import { stateWords } from "../files/upload/upload-list.tsx";
import {
  addContext,
  cancelUploads,
  hasFile,
  pauseUploads,
  resumeUploads,
  retryUploads,
  type Uploads,
} from "../files/upload/uploads.ts";
import { Button } from "../ui/button.tsx";
import { FileChooser } from "../ui/file-chooser.tsx";
import { Row } from "../ui/layout.tsx";
import { Progress } from "../ui/progress.tsx";
import { formatBytes, formatClock } from "../words/format.ts";
import { usePackWords } from "../words/pack-words.ts";
import { useLanguage, useWords } from "../words/words.ts";

/** How far the file of a pack is. The upload goes on whatever page is open. */
export function PackUpload({ item, uploads }: { item: UploadItem; uploads: Uploads }) {
  const words = useWords();
  const { submissions } = usePackWords();
  const { language } = useLanguage();
  const { uploads: uploadWords } = words;
  const isRunning = uploads.runningId === item.id;
  const sent = Math.min(item.size, item.received + (isRunning ? uploads.sending : 0));
  const speed = isRunning ? speedOf(uploads.samples) : undefined;
  const left = speed === undefined ? undefined : secondsLeft(item.size - sent, speed);
  const isFailed = item.state.is === "failed";
  const needsFile = !isFailed && !hasFile(item.id) && item.received < item.size;
  const size = (bytes: number) => formatBytes(bytes, language);
  return (
    <>
      <Progress label={submissions.uploading} value={sent} max={item.size} />
      <Row isSpread>
        <span>
          {stateWords(words, item, isRunning)} · {uploadWords.bytes(size(sent), size(item.size))}
          {speed !== undefined && ` · ${uploadWords.speed(size(speed))}`}
          {left !== undefined && ` · ${submissions.left(formatClock(left))}`}
          {uploads.queue.isPaused && ` · ${uploadWords.paused}`}
        </span>
        <Row>
          {needsFile && item.submission !== undefined && (
            <FileChooser
              isSingle
              onChoose={([file]) => {
                if (file && item.submission !== undefined) addContext(item.submission, file);
              }}
            >
              {uploadWords.choose}
            </FileChooser>
          )}
          {isFailed && <Button onPress={retryUploads}>{uploadWords.retry}</Button>}
          {!isFailed &&
            (uploads.queue.isPaused ? (
              <Button onPress={resumeUploads}>{uploadWords.goOn}</Button>
            ) : (
              <Button onPress={pauseUploads}>{uploadWords.pause}</Button>
            ))}
          <Button onPress={() => cancelUploads([item])}>{submissions.cancelUpload}</Button>
        </Row>
      </Row>
    </>
  );
}
