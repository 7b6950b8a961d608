import { CircleAlert, Sun, Users } from "lucide-react";
import { PhaseStatus } from "../server/phase-status.tsx";
import { needsAttention, type ServerRow } from "../server/row.ts";
import { StartNote } from "../server/start-card.tsx";
import { WakeOrStop } from "../server/wake-stop.tsx";
import { Columns, Figure, Figures, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { useLanguage, useWords } from "../words/words.ts";
import { AwakeCard } from "./awake-card.tsx";

/** More than these are on the list. */
export const shownAtOnce = 12;

type GlanceFigures = {
  awake: number;
  servers: number;
  players: number;
  /** Servers with players. */
  busy: number;
  /** There are more players and servers with players than were counted. */
  isMore?: boolean;
  needing: number;
};

/** The three questions that somebody comes with. */
export function Glance({ awake, servers, players, busy, isMore = false, needing }: GlanceFigures) {
  const { dashboard } = useWords();
  const { language } = useLanguage();
  const number = (value: number) => new Intl.NumberFormat(language).format(value);
  const playersHint = isMore ? dashboard.onMoreServers(busy) : dashboard.onServers(busy);
  return (
    <Figures>
      <Figure
        icon={<Sun size={16} aria-hidden />}
        name={dashboard.serversAwake}
        value={number(awake)}
        hint={awake === 0 && servers > 0 ? dashboard.noneAwake : dashboard.ofServers(servers)}
        {...(awake > 0 && { look: "good" })}
      />
      <Figure
        icon={<Users size={16} aria-hidden />}
        name={dashboard.playersOnline}
        value={isMore ? `${number(players)}+` : number(players)}
        hint={players === 0 ? dashboard.nobody : playersHint}
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

/** What wants a hand, the worst first. */
export function NeedsYou({ rows }: { rows: readonly ServerRow[] }) {
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

/** The servers that are awake, each as a card. */
export function Awake({
  rows,
  isManaged,
}: {
  rows: readonly ServerRow[];
  isManaged: (row: ServerRow) => boolean;
}) {
  const { dashboard } = useWords();
  if (rows.length === 0) return null;
  return (
    <Stack isTight>
      <h2>{dashboard.awake}</h2>
      <Columns>
        {rows.slice(0, shownAtOnce).map((row) => (
          <AwakeCard key={row.name} row={row} isManaged={isManaged(row)} />
        ))}
      </Columns>
    </Stack>
  );
}
