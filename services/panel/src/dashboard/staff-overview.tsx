import { lazy, Suspense } from "react";
import { poll, useOperation } from "../api/query.ts";
import { rowOfFleet } from "../server/row.ts";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { useWords } from "../words/words.ts";
import { Awake, Glance, NeedsYou, shownAtOnce } from "./overview.tsx";
import { countPlayers } from "./player-count.ts";

const PlatformHistory = lazy(() =>
  import("../history/platform-history.tsx").then((module) => ({ default: module.PlatformHistory })),
);

const HealthLine = lazy(() =>
  import("../admin/health/health-line.tsx").then((module) => ({ default: module.HealthLine })),
);

const every = poll.list;
const busiestFirst = { limit: 100, offset: 0, filter: "awake", sort: "players", order: "desc" } as const;
const worstFirst = { limit: shownAtOnce, offset: 0, filter: "attention", sort: "phase" } as const;
const onlyTotal = { limit: 1, offset: 0 } as const;

/** The platform, of which only what is shown is read: it may have ten thousand servers. */
export function StaffOverview() {
  const { dashboard, servers } = useWords();
  const awake = useOperation("servers.fleet", busiestFirst, { every });
  const attention = useOperation("servers.fleet", worstFirst, { every });
  const all = useOperation("servers.fleet", onlyTotal, { every });
  const reads = [awake, attention, all];
  if (!(awake.data && attention.data && all.data)) {
    const error = reads.find((read) => read.error !== null)?.error;
    const retry = () => {
      for (const read of reads) void read.refetch();
    };
    return error ? <Failure error={error} retry={retry} /> : <Loading />;
  }
  const { total = 0 } = all.data;
  const { total: awakeTotal = 0, items } = awake.data;
  return (
    <>
      <Suspense>
        <HealthLine />
      </Suspense>
      <Glance
        awake={awakeTotal}
        servers={total}
        {...countPlayers(items, awakeTotal)}
        needing={attention.data.total ?? 0}
      />
      <NeedsYou rows={attention.data.items.map(rowOfFleet)} />
      <Awake rows={items.map(rowOfFleet)} isManaged={(row) => !row.system} />
      {total === 0 ? (
        <Empty
          title={servers.noneStaff}
          action={
            <Link to="/servers/new" looks="primary">
              {servers.create}
            </Link>
          }
        >
          {servers.noneStaffHelp}
        </Empty>
      ) : (
        <>
          <Row>
            <Link to="/servers" looks="button">
              {dashboard.all}
            </Link>
          </Row>
          <Suspense fallback={<Loading />}>
            <PlatformHistory />
          </Suspense>
        </>
      )}
    </>
  );
}
