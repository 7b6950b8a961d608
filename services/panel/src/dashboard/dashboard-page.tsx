import type { ReactNode } from "react";
import { useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { CreateLink } from "../create/create-link.tsx";
import { Claim } from "../server/claim.tsx";
import { PhaseStatus } from "../server/phase-status.tsx";
import { isAwake, needsAttention, type ServerRow } from "../server/row.ts";
import { StartNote } from "../server/start-card.tsx";
import { useOwnServers } from "../server/use-servers.ts";
import { WakeOrStop } from "../server/wake-stop.tsx";
import { OffersNotice } from "../sharing/offers-notice.tsx";
import { PackNewsNotices } from "../submissions/pack-news-notices.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { Awake, Glance, NeedsYou, shownAtOnce } from "./overview.tsx";
import { StaffOverview } from "./staff-overview.tsx";
import { TroubleNotices, useTroubles } from "./trouble-notices.tsx";

/** What is awake, who is on and what needs the person, in one glance. */
export function Page() {
  const { dashboard } = useWords();
  const me = useMe().data;
  return (
    <PageFrame
      title={dashboard.title}
      aside={me && <Muted>{dashboard.hello(isolate(me.email || me.username))}</Muted>}
    >
      {me?.is_admin ? <StaffOverview /> : <OwnOverview />}
    </PageFrame>
  );
}

/** The servers that the person owns or may claim. */
function OwnOverview() {
  const { dashboard, servers, sharing } = useWords();
  const { rows, error, refetch } = useOwnServers();
  const links = useOperation("links.listOwn", {});
  const isUnlinked = links.data?.links.length === 0;
  const troubles = useTroubles(rows ?? []);
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const awake = rows.filter(isAwake);
  const asleep = rows.filter((row) => row.isMine && !isAwake(row));
  // What is free to claim is nobody's concern yet.
  const needing = rows.filter((row) => row.isMine && needsAttention(row));
  const shared = rows.filter((row) => row.isShared && !isAwake(row));
  const claimable = rows.filter((row) => row.claimable);
  return (
    <>
      <Glance
        awake={awake.length}
        servers={rows.length}
        players={rows.reduce((sum, row) => sum + row.playersOnline, 0)}
        busy={rows.filter((row) => row.playersOnline > 0).length}
        needing={needing.length + troubles.length + (isUnlinked ? 1 : 0)}
      />
      <OffersNotice />
      <PackNewsNotices />
      {isUnlinked && <LinkFirst />}
      <NeedsYou rows={needing} />
      <TroubleNotices troubles={troubles} />
      <Awake rows={awake} isManaged={(row) => row.isMine && !row.system} />
      {asleep.length > 0 && (
        <Servers title={dashboard.asleep} rows={asleep} action={(row) => <WakeOrStop server={row} />} />
      )}
      {shared.length > 0 && (
        <Servers
          title={sharing.sharedWithYou}
          rows={shared}
          action={(row) => (
            <Link to={`/servers/${row.name}`} looks="button">
              {dashboard.open}
            </Link>
          )}
        />
      )}
      {claimable.length > 0 && (
        <Servers title={dashboard.claimable} rows={claimable} action={(row) => <Claim name={row.name} />} />
      )}
      {rows.length === 0 ? (
        <Empty title={servers.none} action={<CreateLink />}>
          {servers.noneHelp}
        </Empty>
      ) : (
        <Row>
          <Link to="/servers" looks="button">
            {dashboard.all}
          </Link>
        </Row>
      )}
    </>
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
