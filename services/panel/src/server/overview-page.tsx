import { Needs } from "../access/needs.tsx";
import { RightList } from "../access/right-list.tsx";
import { useAccess } from "../access/use-access.ts";
import { rootDomain } from "../api/hosts.ts";
import { poll, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { CrashNotice } from "../crashes/crash-notice.tsx";
import { useJobs } from "../jobs/use-jobs.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Card, Facts, Muted, Row, Split } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { Tags } from "../ui/tags.tsx";
import { Time } from "../ui/time.tsx";
import { formatQuantity } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { ConsolePanel } from "./console/console-panel.tsx";
import { KeepAwake } from "./keep-awake.tsx";
import { OriginNotice } from "./origin-notice.tsx";
import { hasConsole } from "./row.ts";
import { SafeStart } from "./safe-start.tsx";
import { ServerFrame, type ServerInFrame } from "./server-frame.tsx";
import { StartCard } from "./start-card.tsx";
import { StopNotice } from "./stop-notice.tsx";
import { type FullStatus, isFull, type ServerStatus } from "./use-server.ts";

/** One server: what it does, who is on, and its console. */
export function Page() {
  return <ServerFrame>{(server) => <Overview {...server} />}</ServerFrame>;
}

function Overview({ name, status, isManaged }: ServerInFrame) {
  const full = isFull(status) ? status : undefined;
  return (
    <>
      {full?.stopsAt !== undefined && <StopNotice name={name} stopsAt={full.stopsAt} />}
      {full && <OriginNotice name={name} isStopped={status.phase === "Stopped"} />}
      {full && <StartCard status={full} />}
      {full && (
        <CrashNotice
          name={name}
          phase={status.phase}
          remedy={<SafeStart name={name} phase={status.phase} />}
        />
      )}
      {full?.image !== undefined && <FlaggedImage image={full.image} />}
      {isManaged ? (
        <Split
          aside={
            <>
              <SharedWithYou name={name} />
              <Address status={status} />
              <Needs rights={["players"]} otherwise="nothing">
                <WhoIsOn name={name} isRunning={status.phase === "Running"} />
              </Needs>
              {full && <KeepAwake status={full} />}
              <LastWork name={name} />
              {full && <Settings status={full} />}
            </>
          }
        >
          <ConsolePanel
            key={name}
            name={name}
            isReadable={hasConsole(status.phase)}
            isRunning={status.phase === "Running"}
          />
        </Split>
      ) : (
        <Address status={status} />
      )}
    </>
  );
}

/** For members: what the server is shared with them for. */
function SharedWithYou({ name }: { name: string }) {
  const { sharing } = useWords();
  const { as } = useAccess();
  const { data } = useOperation("members.readMine", { name });
  if (as !== "member" || !data) return null;
  return (
    <Card title={sharing.sharedWithYou} actions={<Link to={`/servers/${name}/access`}>{sharing.title}</Link>}>
      <RightList grant={data} />
    </Card>
  );
}

/** For staff, who can update the image or accept what was found in it. */
function FlaggedImage({ image }: { image: string }) {
  const { images } = useWords();
  const isStaff = useMe().data?.is_admin ?? false;
  const { data } = useOperation("images.listFlagged", {}, { enabled: isStaff, every: poll.list });
  const found = data?.items.find(({ image_ref }) => image_ref === image);
  if (!found) return null;
  return (
    <Notice kind="failed" actions={<Link to={`/admin/builds/${found.build_id}`}>{images.toScan}</Link>}>
      {images.flaggedServer}
    </Notice>
  );
}

function Address({ status }: { status: ServerStatus }) {
  const { server } = useWords();
  const address = `${status.subdomain}.${rootDomain}`;
  return (
    <Card title={server.address}>
      <Row>
        <code>{address}</code>
        <CopyButton text={address} what={server.address} />
      </Row>
      {status.phase === "Running" && <Muted>{server.players(status.playersOnline, status.playersMax)}</Muted>}
    </Card>
  );
}

function WhoIsOn({ name, isRunning }: { name: string; isRunning: boolean }) {
  const { server } = useWords();
  const query = useOperation("consoles.listPlayers", { name }, { every: poll.status, enabled: isRunning });
  const players = isRunning ? (query.data?.players ?? []) : [];
  return (
    <Card title={server.whoIsOn}>
      {players.length === 0 ? (
        <Muted>{server.nobody}</Muted>
      ) : (
        <ul>
          {players.map((player) => (
            <li key={player}>
              <bdi>{visible(player)}</bdi>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The newest Job of its world once it has ended; one that runs is told of above. */
function LastWork({ name }: { name: string }) {
  const { backups, server } = useWords();
  const [last] = useJobs(name);
  if (!last || last.state === "running") return null;
  const { kind, state, finished_at, then_restore } = last;
  const ended = state === "failed" ? backups.jobFailed[kind] : backups.jobsDone[kind];
  return (
    <Card title={server.lastWork} actions={<Link to={`/servers/${name}/backups`}>{backups.title}</Link>}>
      <p>
        {then_restore === "abandoned" ? backups.abandoned : ended}{" "}
        {finished_at !== undefined && <Time at={finished_at} />}
      </p>
    </Card>
  );
}

function Settings({ status }: { status: FullStatus }) {
  const { server, servers } = useWords();
  const { idleStopSeconds: idle } = status;
  const idleWords =
    idle === 0 ? server.idleNever : idle % 60 === 0 ? server.minutes(idle / 60) : server.seconds(idle);
  const memory = status.memory ?? status.javaMemory;
  const rows: [string, string | undefined][] = [
    [server.policy, status.autostartPolicy && server.policies[status.autostartPolicy]],
    [server.idleStop, idleWords],
    [server.image, status.image],
    [server.memory, memory && formatQuantity(memory)],
    [server.disk, status.storageSize && formatQuantity(status.storageSize)],
    [server.node, status.nodeName],
  ];
  return (
    <Card title={server.settings}>
      {status.tags && <Tags label={servers.tags} of={status.tags} />}
      <Facts rows={rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))} />
    </Card>
  );
}
