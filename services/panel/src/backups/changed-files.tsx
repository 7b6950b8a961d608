import { Muted } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import styles from "./backups.module.css";
import { type Change, type Counts, sortChanges, totalOf } from "./file-changes.ts";

type ChangedFilesProps<File extends Change> = {
  label: string;
  /** All that differ, or the first of them. */
  found: Counts & { files: readonly File[]; truncated: boolean };
  /** What became, or will become, of one. */
  say: (file: File) => string;
};

/** Files of a world that differ, what is lost first; a long list scrolls by itself. */
export function ChangedFiles<File extends Change>({ label, found, say }: ChangedFilesProps<File>) {
  const { backups } = useWords();
  const { files, truncated } = found;
  if (files.length === 0) return null;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <div className={styles.entries} tabIndex={0} role="region" aria-label={label}>
        <List label={label}>
          {sortChanges(files).map((file) => (
            <ListItem
              key={`${file.change} ${file.path}`}
              title={<bdi>{visible(file.path)}</bdi>}
              details={say(file)}
            />
          ))}
        </List>
      </div>
      {truncated && <Muted>{backups.firstOf(files.length, totalOf(found))}</Muted>}
    </>
  );
}
