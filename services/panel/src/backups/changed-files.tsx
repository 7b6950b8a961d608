import { List, ListItem } from "../ui/list.tsx";
import { visible } from "../words/visible.ts";
import styles from "./backups.module.css";
import { sortChanges } from "./restore-changes.ts";

type Change = { path: string; change: "added" | "changed" | "removed"; size: number };

type ChangedFilesProps<File extends Change> = {
  label: string;
  files: readonly File[];
  /** What became, or will become, of one. */
  say: (file: File) => string;
};

/** Files of a world that differ, what is lost first; a long list scrolls by itself. */
export function ChangedFiles<File extends Change>({ label, files, say }: ChangedFilesProps<File>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
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
  );
}
