import { useState } from "react";
import type { Input } from "../../api/operations.ts";
import { useOperations } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { usePackWords } from "../../words/pack-words.ts";
import { changes, sortEntries } from "./context-tree.ts";
import { EntryRow } from "./entry-row.tsx";
import type { EntryListProps } from "./folder-entries.tsx";

const pageSize = 100;

/** Entries of all folders that are not as they were. */
export function ChangedEntries(list: EntryListProps) {
  return <FlatEntries {...list} wanted={changes.map((change) => ({ change }))} />;
}

/** Entries of all folders whose path has the searched text in it. */
export function FoundEntries({ search, ...list }: EntryListProps & { search: string }) {
  return <FlatEntries key={search} {...list} wanted={[{ query: search }]} />;
}

type Wanted = Pick<Input<"submissions.listContextEntries">, "change" | "query">;

function FlatEntries({
  id,
  file,
  isCompared,
  onChoose,
  wanted,
}: EntryListProps & { wanted: readonly Wanted[] }) {
  const { review } = usePackWords();
  const [pages, setPages] = useState(1);
  const inputs = wanted.flatMap((part) =>
    Array.from({ length: pages }, (_, page) => ({ id, ...part, limit: pageSize, offset: page * pageSize })),
  );
  const reads = useOperations("submissions.listContextEntries", inputs, {
    isCostly: true,
    keepsPrevious: true,
  });
  const failed = reads.find(({ error }) => error !== null);
  if (failed?.error) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (reads.some(({ data }, at) => data === undefined && at % pages === 0)) return <Loading />;
  const firsts = wanted.map((_, at) => reads[at * pages]?.data?.total ?? 0);
  const left = firsts.reduce((sum, total) => sum + Math.max(0, total - pages * pageSize), 0);
  const entries = sortEntries(reads.flatMap(({ data }) => data?.entries ?? []));
  if (entries.length === 0) return <Muted>{review.noFiles}</Muted>;
  return (
    <>
      <ul>
        {entries.map((entry) => (
          <li key={entry.path}>
            <EntryRow
              entry={entry}
              isFlat
              isCompared={isCompared}
              isCurrent={entry.path === file}
              onPress={() => onChoose(entry.path)}
            />
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button kind="quiet" onPress={() => setPages(pages + 1)}>
          {review.more(left)}
        </Button>
      )}
    </>
  );
}
