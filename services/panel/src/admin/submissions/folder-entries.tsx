import { useState } from "react";
import { useOperations } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { type ContextEntry, sortEntries } from "./context-tree.ts";
import { EntryRow } from "./entry-row.tsx";

const pageSize = 100;

export type EntryListProps = {
  id: string;
  /** The file that is shown beside the list. */
  file: string;
  /** There is an earlier context, so that a change says something. */
  isCompared: boolean;
  onChoose: (path: string) => void;
};

/** What is in one folder; folders in it are read once they are opened. */
export function FolderEntries({ folder, ...list }: EntryListProps & { folder: string }) {
  const { review } = usePackWords();
  const [pages, setPages] = useState(1);
  const reads = useOperations(
    "submissions.listContextEntries",
    Array.from({ length: pages }, (_, page) => ({
      id: list.id,
      folder,
      limit: pageSize,
      offset: page * pageSize,
    })),
    { isCostly: true },
  );
  const failed = reads.find(({ error }) => error !== null);
  const total = reads[0]?.data?.total ?? 0;
  const entries = sortEntries(reads.flatMap(({ data }) => data?.entries ?? []));
  if (failed?.error) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (reads[0]?.data === undefined) return <Loading />;
  if (total === 0) return <Muted>{review.emptyFolder}</Muted>;
  return (
    <>
      <ul>
        {entries.map((entry) => (
          <TreeEntry key={entry.path} entry={entry} {...list} />
        ))}
      </ul>
      {pages * pageSize < total && (
        <Button kind="quiet" onPress={() => setPages(pages + 1)}>
          {review.more(total - pages * pageSize)}
        </Button>
      )}
    </>
  );
}

function TreeEntry({ entry, ...list }: EntryListProps & { entry: ContextEntry }) {
  const [isOpen, setOpen] = useState(false);
  const { path, kind } = entry;
  return (
    <li>
      <EntryRow
        entry={entry}
        isCompared={list.isCompared}
        isCurrent={path === list.file}
        isOpen={isOpen}
        onPress={() => (kind === "folder" ? setOpen(!isOpen) : list.onChoose(path))}
      />
      {isOpen && <FolderEntries {...list} folder={path} />}
    </li>
  );
}
