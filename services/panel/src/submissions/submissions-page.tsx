import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { poll, useOperation } from "../api/query.ts";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Split, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { pageOf } from "../ui/page-number.ts";
import { Pager } from "../ui/pager.tsx";
import { usePackWords } from "../words/pack-words.ts";
import { NewPack } from "./new-pack.tsx";
import { PackHelp } from "./pack-help.tsx";
import { PackItem } from "./pack-item.tsx";
import { markSeen } from "./pack-news.ts";
import { isMoving, stageOf } from "./pack-stage.ts";
import styles from "./submissions.module.css";

const pageSize = 20;

/** The packs of the person who is signed in. */
export function Page() {
  const { submissions } = usePackWords();
  const navigate = useNavigate();
  const page = pageOf((useSearch({ strict: false }) as { page?: unknown }).page);
  const offset = (page - 1) * pageSize;
  const { data, error, refetch } = useOperation(
    "submissions.listOwn",
    { limit: pageSize, offset },
    {
      keepsPrevious: true,
      every: (list) =>
        list?.submissions.some((one) => isMoving(stageOf(one, false))) ? poll.busy : poll.list,
    },
  );
  useEffect(() => markSeen(data?.submissions ?? []), [data]);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const show = (to: number) =>
    void navigate({ to: "/submissions", search: to > 1 ? { page: to } : {}, replace: true });
  return (
    <PageFrame title={submissions.title}>
      <p>{submissions.intro}</p>
      <Split aside={<PackHelp />}>
        <Stack>
          <NewPack pending={data.counts.pending_review} />
          {error && <Failure error={error} retry={() => void refetch()} />}
          {data.total === 0 ? (
            <Empty title={submissions.none}>{submissions.noneHelp}</Empty>
          ) : (
            <Card title={submissions.list}>
              <ul className={styles.packs} aria-label={submissions.list}>
                {data.submissions.map((one) => (
                  <PackItem key={one.id} submission={one} />
                ))}
              </ul>
            </Card>
          )}
          {data.total > pageSize && (
            <Pager
              text={submissions.shown(data.submissions.length, data.total)}
              back={{ word: submissions.previous, run: page > 1 ? () => show(page - 1) : undefined }}
              on={{
                word: submissions.nextPage,
                run: offset + pageSize < data.total ? () => show(page + 1) : undefined,
              }}
            />
          )}
        </Stack>
      </Split>
    </PageFrame>
  );
}
