import { CircleAlert, Sun, Users } from "lucide-react";
import { lazy, type ReactNode, Suspense } from "react";
import { useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Columns, Figure, Figures, Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { AwakeCard } from "./awake-card.tsx";
import { Claim } from "./claim.tsx";
import { PhaseStatus } from "./phase-status.tsx";
import { isAwake, needsAttention, type ServerRow } from "./row.ts";
import { StartNote } from "./start-card.tsx";
import { useServers } from "./use-servers.ts";
import { WakeOrStop } from "./wake-stop.tsx";

const PlatformHistory = lazy(() =>
  import("../history/platform-history.tsx").then((module) => ({ default: module.PlatformHistory })),
);

/** More than these are on the list. */
const shownAtOnce = 12;

/** What is awake, who is on and what needs the person, in one glance. */
export function Page() {
  const { dashboard, servers } = useWords();
  const me = useMe().data;
  const { rows, isStaff, error, refetch } = useServers();
  const links = useOperation("links.listOwn", {}, { enabled: !isStaff });
  const isUnlinked = links.data?.links.length === 0;
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const awake = rows.filter(isAwake);
  const asleep = rows.filter((row) => row.isMine && !isAwake(row));
  // What is free to claim is nobody's concern yet.
  const needing = rows.filter((row) => (isStaff || row.isMine) && needsAttention(row));
  const claimable = isStaff ? [] : rows.filter((row) => row.claimable);
  return (
    <PageFrame
      title={dashboard.title}
      aside={me && <Muted>{dashboard.hello(isolate(me.email || me.username))}</Muted>}
    >
      <Glance rows={rows} needing={needing.length + (isUnlinked ? 1 : 0)} />
      {isUnlinked && <LinkFirst />}
      <NeedsYou rows={needing} />
      {awake.length > 0 && (
        <Stack isTight>
          <h2>{dashboard.awake}</h2>
          <Columns>
            {awake.slice(0, shownAtOnce).map((row) => (
              <AwakeCard key={row.name} row={row} isManaged={(row.isMine || isStaff) && !row.system} />
            ))}
          </Columns>
        </Stack>
      )}
      {asleep.length > 0 && (
        <Servers title={dashboard.asleep} rows={asleep} action={(row) => <WakeOrStop server={row} />} />
      )}
      {claimable.length > 0 && (
        <Servers title={dashboard.claimable} rows={claimable} action={(row) => <Claim name={row.name} />} />
      )}
      {rows.length === 0 ? (
        <Empty
          title={isStaff ? servers.noneStaff : servers.none}
          action={
            isStaff && (
              <Link to="/servers/new" looks="primary">
                {servers.create}
              </Link>
            )
          }
        >
          {isStaff ? servers.noneStaffHelp : servers.noneHelp}
        </Empty>
      ) : (
        <Row>
          <Link to="/servers" looks="button">
            {dashboard.all}
          </Link>
        </Row>
      )}
      {isStaff && rows.length > 0 && (
        <Suspense fallback={<Loading />}>
          <PlatformHistory />
        </Suspense>
      )}
    </PageFrame>
  );
}

/** The three questions that somebody comes with. */
function Glance({ rows, needing }: { rows: readonly ServerRow[]; needing: number }) {
  const { dashboard } = useWords();
  const { language } = useLanguage();
  const number = (value: number) => new Intl.NumberFormat(language).format(value);
  const awake = rows.filter(isAwake).length;
  const players = rows.reduce((sum, row) => sum + row.playersOnline, 0);
  const busy = rows.filter((row) => row.playersOnline > 0).length;
  return (
    <Figures>
      <Figure
        icon={<Sun size={16} aria-hidden />}
        name={dashboard.serversAwake}
        value={number(awake)}
        hint={awake === 0 ? dashboard.noneAwake : dashboard.ofServers(rows.length)}
        {...(awake > 0 && { look: "good" })}
      />
      <Figure
        icon={<Users size={16} aria-hidden />}
        name={dashboard.playersOnline}
        value={number(players)}
        hint={players === 0 ? dashboard.nobody : dashboard.onServers(busy)}
        {...(players > 0 && { look: "good" })}
      />
      <Figure
        icon={<CircleAlert size={16} aria-hidden />}
        name={dashboard.needs}
        value={number(needing)}
        hint={needing === 0 ? dashboard.allWell : dashboard.seeBelow}
        {...(needing > 0 && { look: "bad" })}
      />
    </Figures>
  );
}

function NeedsYou({ rows }: { rows: readonly ServerRow[] }) {
  if (rows.length === 0) return null;
  return (
    <Stack isTight>
      {rows.slice(0, shownAtOnce).map((row) => (
        <Notice
          key={row.name}
          kind={needsAttention(row) === "failed" ? "failed" : "waiting"}
          actions={<WakeOrStop server={row} />}
        >
          <Row>
            <Link to={`/servers/${row.name}`}>
              <bdi>{row.displayName}</bdi>
            </Link>
            <PhaseStatus server={row} />
            <StartNote server={row} />
          </Row>
        </Notice>
      ))}
    </Stack>
  );
}

/** Without a linked player nothing can be claimed, and the login gate lets nobody in. */
function LinkFirst() {
  const { dashboard, account } = useWords();
  return (
    <Notice
      kind="waiting"
      actions={
        <Link to="/account" looks="button">
          {account.linkAnother}
        </Link>
      }
    >
      {dashboard.linkFirst}
    </Notice>
  );
}

type ServersProps = {
  title: string;
  rows: readonly ServerRow[];
  action: (row: ServerRow) => ReactNode;
};

function Servers({ title, rows, action }: ServersProps) {
  return (
    <Card title={title}>
      <List label={title}>
        {rows.slice(0, shownAtOnce).map((row) => (
          <ListItem
            key={row.name}
            title={
              <Link to={`/servers/${row.name}`}>
                <bdi>{row.displayName}</bdi>
              </Link>
            }
            details={
              <Row>
                <PhaseStatus server={row} />
                <StartNote server={row} />
              </Row>
            }
            actions={action(row)}
          />
        ))}
      </List>
    </Card>
  );
}
