import { Button } from "../../ui/button.tsx";
import { faultWords } from "../../words/faults.ts";
import { formatBytes, isolate } from "../../words/format.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage, useWords, type Words } from "../../words/words.ts";
import { nameOf } from "../path.ts";
import { unreadable } from "./act.ts";
import type { UploadItem } from "./item.ts";
import styles from "./upload.module.css";
import { cancelUploads, hasFile, type Uploads } from "./uploads.ts";

/** More would be no list but a page; what is done goes to the end. */
const mostShown = 100;

/** Each file and folder of the queue: what comes next stands first. */
export function UploadList({ uploads }: { uploads: Uploads }) {
  const { uploads: words } = useWords();
  const rank = ({ state }: UploadItem) => (state.is === "failed" ? 0 : state.is === "done" ? 2 : 1);
  const items = [...uploads.queue.items].sort((a, b) => rank(a) - rank(b)).slice(0, mostShown);
  return (
    <ul className={styles.items} aria-label={words.title}>
      {items.map((item) => (
        <Item key={item.id} item={item} isRunning={item.id === uploads.runningId} />
      ))}
    </ul>
  );
}

function Item({ item, isRunning }: { item: UploadItem; isRunning: boolean }) {
  const words = useWords();
  const { language } = useLanguage();
  const canCancel = item.state.is !== "done" && item.op === undefined;
  return (
    <li className={styles.item}>
      <div className={styles.text}>
        <bdi>{visible(item.path)}</bdi>{" "}
        <span className={styles.about}>
          {item.kind === "file" && `${formatBytes(item.size, language)} · `}
          {stateWords(words, item, isRunning)}
        </span>
      </div>
      {canCancel && (
        <Button
          kind="quiet"
          label={words.uploads.cancelOf(isolate(nameOf(item.path)))}
          onPress={() => cancelUploads([item])}
        >
          {words.uploads.cancel}
        </Button>
      )}
    </li>
  );
}

/** Why an upload failed. What is wrong with a context only the service can say. */
function failureWords(
  words: Words,
  submission: string | undefined,
  failure: { code: string; message: string },
): string {
  if (failure.code === unreadable) return words.uploads.unreadable;
  const isContent = submission !== undefined && failure.code === "bad_request" && failure.message !== "";
  return isContent ? visible(failure.message) : faultWords(words, failure);
}

export function stateWords(words: Words, item: UploadItem, isRunning: boolean): string {
  const { uploads } = words;
  const { state, op, id, kind, session, submission, received, size } = item;
  if (state.is === "failed") {
    return `${uploads.states.failed}: ${failureWords(words, item.submission, state)}`;
  }
  if (op !== undefined && state.is !== "done") return uploads.states.writing;
  const isComplete = session !== undefined && received === size;
  if (isRunning)
    return submission !== undefined && isComplete ? uploads.states.checking : uploads.states.sending;
  if (state.is === "open" && kind === "file" && !isComplete && !hasFile(id)) return uploads.states.missing;
  return uploads.states[state.is];
}
