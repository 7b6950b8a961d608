import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { useOperation } from "../../api/query.ts";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Filters } from "../../ui/filters.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Select } from "../../ui/select.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { isolate } from "../../words/format.ts";
import { usePackWords } from "../../words/pack-words.ts";
import { type Query, textOf } from "../address.ts";
import styles from "../packs.module.css";
import { ChangedEntries, FoundEntries } from "./entry-lists.tsx";
import { FolderEntries } from "./folder-entries.tsx";

const FileView = lazy(() => import("./file-view.tsx").then((module) => ({ default: module.FileView })));

const views = ["tree", "changes"] as const;

/** The files of a context, what became of them since the author's last approved pack, and one of them as text. */
export function Contents({ id }: { id: string }) {
  const { review } = usePackWords();
  const navigate = useNavigate();
  const file = textOf((useSearch({ strict: false }) as Query)["file"]) || "Dockerfile";
  const [view, setView] = useState<(typeof views)[number]>("tree");
  const [typed, setTyped] = useState("");
  const search = useDebounced(typed).trim();
  const head = useOperation(
    "submissions.listContextEntries",
    { id, folder: "", limit: 1, offset: 0 },
    { isCostly: true },
  );
  const choose = (path: string) =>
    void navigate({ to: `/admin/submissions/${id}`, search: { file: path }, replace: true });
  if (!head.data)
    return (
      <Card title={review.contents}>
        {head.error ? <Failure error={head.error} retry={() => void head.refetch()} /> : <Loading />}
      </Card>
    );
  const { counts, compared_with } = head.data;
  const lists = { id, file, isCompared: compared_with !== undefined, onChoose: choose };
  return (
    <Card title={review.contents}>
      <Muted>
        {compared_with === undefined
          ? review.first
          : review.comparedWith(isolate(compared_with.display_name), counts)}
      </Muted>
      <Filters label={review.filterFiles}>
        <Field
          label={review.searchFiles}
          name="search-files"
          type="search"
          inputMode="search"
          value={typed}
          onChange={setTyped}
          maxLength={256}
        />
        {compared_with !== undefined && (
          <Select
            label={review.view}
            value={view}
            onChange={setView}
            options={views.map((name) => [name, review.views[name]])}
          />
        )}
      </Filters>
      <div className={styles.contents}>
        <nav className={styles.tree} aria-label={review.contents}>
          {search !== "" && <FoundEntries {...lists} search={search} />}
          {search === "" && view === "changes" && <ChangedEntries {...lists} />}
          {search === "" && view === "tree" && <FolderEntries {...lists} folder="" />}
        </nav>
        <Suspense fallback={<Loading />}>
          <FileView key={file} id={id} path={file} />
        </Suspense>
      </div>
    </Card>
  );
}
