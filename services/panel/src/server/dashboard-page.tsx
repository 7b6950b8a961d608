import { useMe } from "../api/session.ts";
import { Failure } from "../ui/failure.tsx";
import { Card, Columns, Figure, Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useLanguage, useWords } from "../words/words.ts";
import { Claim } from "./claim.tsx";
import { PhaseStatus } from "./phase-status.tsx";
import { isAwake, needsAttention, type ServerRow } from "./row.ts";
import { useServers } from "./use-servers.ts";
import { WakeOrStop } from "./wake-stop.tsx";

/** More than these are on the list. */
const shownAtOnce = 12;

/** What is awake, who is on and what needs the person, in one glance. */
export function DashboardPage() {
  const { dashboard } = useWords();
  const me = useMe().data;
  const { rows, isStaff, error, refetch } = useServers();
  if (!rows) return error ? <Failure error={error} retry={refetch} /> : <Loading />;
  const awake = rows.filter(isAwake);
  const needing = rows.filter(needsAttention);
  const mine = rows.filter((row) => row.isMine && !isAwake(row));
  const claimable = isStaff ? [] : rows.filter((row) => row.claimable);
  return (
    <Page
      title={dashboard.title}
      aside={me && <Muted>{dashboard.hello(isolate(me.email || me.username))}</Muted>}
    >
      {isStaff && <PlatformFigures rows={rows} />}
      <Card title={dashboard.needs}>
        {needing.length === 0 ? (
          <Muted>{dashboard.allWell}</Muted>
        ) : (
          needing.slice(0, shownAtOnce).map((row) => (
            <Notice
              key={row.name}
              kind={needsAttention(row) === "failed" ? "failed" : "waiting"}
              actions={<WakeOrStop server={row} />}
            >
              <Link to={`/servers/${row.name}`}>
                <bdi>{row.displayName}</bdi>
              </Link>{" "}
              <PhaseStatus server={row} />
            </Notice>
          ))
        )}
      </Card>
      <Stack isTight>
        <h2>{dashboard.awake}</h2>
        {awake.length === 0 ? <Muted>{dashboard.noneAwake}</Muted> : <Cards rows={awake} isStaff={isStaff} />}
      </Stack>
      {mine.length > 0 && (
        <Stack isTight>
          <h2>{dashboard.asleep}</h2>
          <Cards rows={mine} isStaff={isStaff} />
        </Stack>
      )}
      {claimable.length > 0 && (
        <Card title={dashboard.claimable}>
          {claimable.slice(0, shownAtOnce).map((row) => (
            <Row key={row.name} isSpread>
              <Link to={`/servers/${row.name}`}>
                <bdi>{row.displayName}</bdi>
              </Link>
              <Claim name={row.name} />
            </Row>
          ))}
        </Card>
      )}
      <Row>
        <Link to="/servers" looks="button">
          {dashboard.all}
        </Link>
      </Row>
    </Page>
  );
}

function PlatformFigures({ rows }: { rows: readonly ServerRow[] }) {
  const { dashboard } = useWords();
  const { language } = useLanguage();
  const players = rows.reduce((sum, row) => sum + row.playersOnline, 0);
  const figures = [
    [dashboard.playersOnline, players],
    [dashboard.serversAwake, rows.filter(isAwake).length],
    [dashboard.serversFailed, rows.filter((row) => needsAttention(row) === "failed").length],
  ] as const;
  return (
    <Columns>
      {figures.map(([name, value]) => (
        <Figure key={name} name={name} value={new Intl.NumberFormat(language).format(value)} />
      ))}
    </Columns>
  );
}

function Cards({ rows, isStaff }: { rows: readonly ServerRow[]; isStaff: boolean }) {
  const { server } = useWords();
  return (
    <Columns>
      {rows.slice(0, shownAtOnce).map((row) => (
        <Card
          key={row.name}
          title={
            <Link to={`/servers/${row.name}`}>
              <bdi>{row.displayName}</bdi>
            </Link>
          }
        >
          <Row isSpread>
            <PhaseStatus server={row} />
            {row.phase === "Running" && <span>{server.players(row.playersOnline, row.playersMax)}</span>}
          </Row>
          {(row.isMine || isStaff) && !row.system && (
            <Row>
              <WakeOrStop server={row} />
            </Row>
          )}
        </Card>
      ))}
    </Columns>
  );
}
