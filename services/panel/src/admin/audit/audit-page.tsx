import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { useWords } from "../../words/words.ts";
import { given, type Query } from "../address.ts";
import styles from "./audit.module.css";
import { AuditEntryItem } from "./audit-entry.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { type AuditView, allEntries, auditViewOf, requestOf } from "./audit-view.ts";

/** Who did what, newest first. A page stands in the address, so it can be sent to somebody. */
export function Page() {
  const { audit } = useWords();
  const navigate = useNavigate();
  const view = auditViewOf(useSearch({ strict: false }) as Query);
  const { data, error, refetch, isPlaceholderData } = useOperation("settings.searchAudit", requestOf(view), {
    keepsPrevious: true,
    ...(view.before === "" && { every: poll.list }),
  });
  // The same function for all entries and keys, so that those that are there are not drawn again.
  const show = useCallback(
    (change: Partial<AuditView>) =>
      void navigate({
        to: "/admin/audit",
        search: (known: Query) => given({ ...auditViewOf(known), before: "", ...change }),
        replace: change.before === undefined,
      }),
    [navigate],
  );
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { entries, next } = data;
  return (
    <PageFrame title={audit.title} isBusy={isPlaceholderData}>
      <AuditFilters view={view} show={show} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {entries.length === 0 ? (
        <Empty title={audit.none} action={<Button onPress={() => show(allEntries)}>{audit.clear}</Button>} />
      ) : (
        <div className={styles.entries}>
          {entries.map((entry) => (
            <AuditEntryItem key={entry.id} entry={entry} show={show} />
          ))}
        </div>
      )}
      <Pager
        text={audit.shown(entries.length)}
        back={{
          word: audit.newest,
          run: view.before === "" ? undefined : () => show({ before: "" }),
        }}
        on={{ word: audit.older, run: next === undefined ? undefined : () => show({ before: next }) }}
      />
    </PageFrame>
  );
}
