import { useNavigate, useSearch } from "@tanstack/react-router";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Filters } from "../../ui/filters.tsx";
import { Link } from "../../ui/link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { type Column, VirtualTable } from "../../ui/virtual-table.tsx";
import { formatBytes } from "../../words/format.ts";
import type { Language } from "../../words/language.ts";
import { type PackWords, usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import { useLanguage } from "../../words/words.ts";
import type { Query } from "../address.ts";
import { lookOfStatus } from "../builds/builds-view.ts";
import {
  addressOf,
  lookOfSubmission,
  pageSize,
  requestOf,
  type Submission,
  type SubmissionsView,
  submissionStatuses,
  submissionsViewOf,
} from "./submissions-view.ts";

/** Everybody's packs; those that wait for a review come first to hand. */
export function Page() {
  const words = usePackWords();
  const { language } = useLanguage();
  const { review } = words;
  const navigate = useNavigate();
  const view = submissionsViewOf(useSearch({ strict: false }) as Query);
  const { data, error, refetch } = useOperation("submissions.list", requestOf(view), {
    every: poll.list,
    keepsPrevious: true,
  });
  const show = (change: Partial<SubmissionsView>) =>
    void navigate({
      to: "/admin/submissions",
      search: addressOf({ ...view, page: 1, ...change }),
      replace: true,
    });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const from = (view.page - 1) * pageSize;
  const { counts } = data;
  const all = counts.pending_review + counts.approved + counts.rejected;
  return (
    <PageFrame title={review.title}>
      <Filters label={review.filters}>
        <SearchField
          label={review.search}
          value={view.search}
          onChange={(search) => show({ search })}
          maxLength={256}
        />
        <Select
          label={review.state}
          value={view.status}
          onChange={(status) => show({ status })}
          options={[
            ...submissionStatuses.map(
              (name) => [name, review.counted(review.states[name], counts[name])] as const,
            ),
            ["all", review.counted(review.all, all)],
          ]}
        />
      </Filters>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data.submissions.length === 0 ? (
        <Empty
          title={view.search === "" ? review.none[view.status] : review.noMatch}
          action={view.search !== "" && <Button onPress={() => show({ search: "" })}>{review.clear}</Button>}
        />
      ) : (
        <VirtualTable
          label={review.title}
          columns={columnsOf(words, language)}
          rows={data.submissions}
          keyOf={({ id }) => id}
        />
      )}
      <Pager
        text={review.shown(data.submissions.length, data.total)}
        back={{
          word: review.previous,
          run: view.page > 1 ? () => show({ page: view.page - 1 }) : undefined,
        }}
        on={{
          word: review.next,
          run: from + pageSize < data.total ? () => show({ page: view.page + 1 }) : undefined,
        }}
      />
    </PageFrame>
  );
}

function columnsOf({ review, builds }: PackWords, language: Language): Column<Submission>[] {
  return [
    {
      key: "name",
      title: review.name,
      width: "minmax(0, 2fr)",
      cell: ({ id, display_name }) => (
        <Link to={`/admin/submissions/${id}`}>
          <bdi>{visible(display_name)}</bdi>
        </Link>
      ),
    },
    {
      key: "author",
      title: review.author,
      width: "minmax(0, 1.2fr)",
      cell: ({ submitted_by }) => <bdi>{visible(submitted_by)}</bdi>,
    },
    {
      key: "state",
      title: review.state,
      width: "170px",
      cell: ({ status, build_status, context_sha256 }) => {
        if (build_status !== undefined)
          return <Status look={lookOfStatus[build_status]} word={builds.statuses[build_status]} />;
        const isEmpty = status === "pending_review" && context_sha256 === undefined;
        return (
          <Status
            look={isEmpty ? "unknown" : lookOfSubmission[status]}
            word={isEmpty ? review.noContextShort : review.states[status]}
          />
        );
      },
    },
    {
      key: "size",
      title: review.size,
      width: "100px",
      cell: ({ context_bytes }) => (
        <span>{context_bytes === undefined ? "–" : formatBytes(context_bytes, language)}</span>
      ),
    },
    {
      key: "at",
      title: review.createdAt,
      width: "180px",
      cell: ({ created_at }) => <Time at={created_at} />,
    },
  ];
}
