import { ChevronDown, ChevronRight, CornerUpRight, File, Folder } from "lucide-react";
import { classes } from "../../ui/css.ts";
import { formatBytes, isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import styles from "../packs.module.css";
import { type ContextEntry, leadsOut, nameOf } from "./context-tree.ts";

type EntryRowProps = {
  entry: ContextEntry;
  /** The whole path, where the entry stands in no tree. */
  isFlat?: boolean;
  isCompared: boolean;
  isCurrent: boolean;
  /** Set for a folder of a tree. */
  isOpen?: boolean;
  onPress: () => void;
};

/** One entry of a context: what it is, how large, and what became of it. */
export function EntryRow({ entry, isFlat = false, isCompared, isCurrent, isOpen, onPress }: EntryRowProps) {
  const { review } = usePackWords();
  const { language } = useLanguage();
  const { path, kind, size, target, change } = entry;
  const Icon = kind === "folder" ? Folder : kind === "link" ? CornerUpRight : File;
  const about = (
    <>
      {kind === "folder" &&
        !isFlat &&
        (isOpen ? <ChevronDown size={14} aria-hidden /> : <ChevronRight size={14} aria-hidden />)}
      <Icon size={16} aria-hidden />
      <span className={styles.entryName}>
        <bdi>{visible(isFlat ? path : nameOf(path))}</bdi>
        {kind === "link" && ` ${review.linkTo(isolate(target ?? ""))}`}
        {kind === "link" && leadsOut(target ?? "") && <strong> {review.leadsOut}</strong>}
      </span>
      {isCompared && change !== "same" && (
        <span className={classes(styles.change, styles[change])}>{review.changes[change]}</span>
      )}
      {kind === "file" && <span className={styles.entryAbout}>{formatBytes(size, language)}</span>}
    </>
  );
  const canOpen = kind === "file" || (kind === "folder" && !isFlat);
  if (!canOpen)
    return (
      <div className={styles.entry} data-still>
        {about}
      </div>
    );
  return (
    <button
      type="button"
      className={styles.entry}
      onClick={onPress}
      {...(isCurrent && { "aria-current": true })}
      {...(kind === "folder" && { "aria-expanded": isOpen === true })}
    >
      {about}
    </button>
  );
}
