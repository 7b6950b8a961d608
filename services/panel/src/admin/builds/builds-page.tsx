import { useNavigate, useSearch } from "@tanstack/react-router";
import { poll, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Filters } from "../../ui/filters.tsx";
import { Link } from "../../ui/link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { useNow } from "../../ui/now.ts";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Pager } from "../../ui/pager.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Select } from "../../ui/select.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { type Column, VirtualTable } from "../../ui/virtual-table.tsx";
import { formatClock } from "../../words/format.ts";
import { type PackWords, usePackWords } from "../../words/pack-words.ts";
import { visible } from "../../words/visible.ts";
import type { Query } from "../address.ts";
import { AcceptedFindings } from "./accepted-findings.tsx";
import { durationMs } from "./build-log.ts";
import {
  addressOf,
  type Build,
  type BuildsView,
  buildsViewOf,
  isActive,
  lookOfStatus,
  nameInRegistry,
  pageSize,
  requestOf,
  statusFilters,
} from "./builds-view.ts";

/** All builds, the newest first; read often while one runs. */
export function Page() {
  const words = usePackWords();
  const { builds } = words;
  const navigate = useNavigate();
  const view = buildsViewOf(useSearch({ strict: false }) as Query);
  const { data, error, refetch } = useOperation("builds.listBuilds", requestOf(view), {
    keepsPrevious: true,
    every: (list) => (list?.builds.some(({ status }) => isActive(status)) ? poll.busy : poll.list),
  });
  const now = useNow(1_000);
  const show = (change: Partial<BuildsView>) =>
    void navigate({ to: "/admin/builds", search: addressOf({ ...view, page: 1, ...change }), replace: true });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const from = (view.page - 1) * pageSize;
  const isFiltered = view.search !== "" || view.status !== "all";
  return (
    <PageFrame title={builds.title}>
      <Filters label={builds.filters}>
        <SearchField
          label={builds.search}
          value={view.search}
          onChange={(search) => show({ search, status: "all" })}
          maxLength={256}
        />
        <Select
          label={builds.status}
          value={view.status}
          onChange={(status) => show({ status, search: "" })}
          options={statusFilters.map((name) => [name, builds.statusFilters[name]])}
        />
      </Filters>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data.builds.length === 0 ? (
        <Empty
          title={isFiltered ? builds.noMatch : builds.none}
          action={
            isFiltered && <Button onPress={() => show({ search: "", status: "all" })}>{builds.clear}</Button>
          }
        >
          {isFiltered ? undefined : builds.noneHelp}
        </Empty>
      ) : (
        <VirtualTable
          label={builds.title}
          columns={columnsOf(words, now)}
          rows={data.builds}
          keyOf={(build) => build.id}
        />
      )}
      <Pager
        text={builds.shown(data.builds.length, data.total)}
        back={{
          word: builds.previous,
          run: view.page > 1 ? () => show({ page: view.page - 1 }) : undefined,
        }}
        on={{
          word: builds.next,
          run: from + pageSize < data.total ? () => show({ page: view.page + 1 }) : undefined,
        }}
      />
      <AcceptedFindings />
    </PageFrame>
  );
}

function columnsOf({ builds }: PackWords, now: number): Column<Build>[] {
  return [
    {
      key: "image",
      title: builds.image,
      width: "minmax(0, 2fr)",
      cell: ({ id, image_ref }) => (
        <Link to={`/admin/builds/${id}`}>
          <bdi title={image_ref}>{visible(nameInRegistry(image_ref))}</bdi>
        </Link>
      ),
    },
    {
      key: "status",
      title: builds.status,
      width: "130px",
      cell: ({ status }) => <Status look={lookOfStatus[status]} word={builds.statuses[status]} />,
    },
    {
      key: "by",
      title: builds.requestedBy,
      width: "minmax(0, 1fr)",
      cell: ({ requested_by }) => <bdi>{visible(requested_by)}</bdi>,
    },
    {
      key: "at",
      title: builds.createdAt,
      width: "180px",
      cell: ({ created_at }) => <Time at={created_at} />,
    },
    {
      key: "took",
      title: builds.took,
      width: "80px",
      cell: ({ created_at, finished_at }) => {
        const ms = durationMs({ startedAt: created_at, finishedAt: finished_at }, now) ?? 0;
        return <span>{formatClock(ms / 1_000)}</span>;
      },
    },
  ];
}
