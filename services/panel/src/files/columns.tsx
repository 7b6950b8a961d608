import { File, FileArchive, Folder } from "lucide-react";
import { Link } from "../ui/link.tsx";
import { Time } from "../ui/time.tsx";
import type { Column } from "../ui/virtual-table.tsx";
import { formatBytes } from "../words/format.ts";
import type { Language } from "../words/language.ts";
import { visible } from "../words/visible.ts";
import type { Words } from "../words/words.ts";
import { type Entry, isArchive } from "./entry.ts";
import { EntryMenu } from "./entry-menu.tsx";
import styles from "./files.module.css";
import { joinPath, searchOf } from "./path.ts";

type Where = { name: string; folder: string; language: Language; held: string | undefined };

/** The columns of a listing. */
export function columnsOf({ files }: Words, { name, folder, language, held }: Where): Column<Entry>[] {
  return [
    {
      key: "name",
      title: files.name,
      width: "minmax(0, 1fr)",
      cell: (entry) => <EntryName name={name} folder={folder} entry={entry} />,
    },
    {
      key: "size",
      title: files.size,
      width: "110px",
      cell: ({ is_dir, size }) => (is_dir ? null : formatBytes(size, language)),
    },
    {
      key: "changed",
      title: files.changed,
      width: "180px",
      cell: ({ mod_time }) => <Time at={mod_time} />,
    },
    {
      key: "actions",
      title: files.actions,
      width: "110px",
      cell: (entry) => <EntryMenu name={name} folder={folder} entry={entry} held={held} />,
    },
  ];
}

function EntryName({ name, folder, entry }: { name: string; folder: string; entry: Entry }) {
  const path = joinPath(folder, entry.name);
  const Icon = entry.is_dir ? Folder : isArchive(entry) ? FileArchive : File;
  return (
    <Link
      to={`/servers/${name}/files`}
      search={entry.is_dir ? searchOf(path) : { open: path }}
      className={styles.entry}
    >
      <Icon size={16} aria-hidden />
      <bdi className={styles.name}>{visible(entry.name)}</bdi>
    </Link>
  );
}
