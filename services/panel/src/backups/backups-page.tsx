import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { Needs } from "../access/needs.tsx";
import { allRights } from "../access/presets.ts";
import { useAccess } from "../access/use-access.ts";
import { poll, useOperation } from "../api/query.ts";
import { useMe } from "../api/session.ts";
import { useJobs } from "../jobs/use-jobs.ts";
import { heldWords, useWorldWork } from "../server/held.ts";
import { isAtRest } from "../server/row.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { pageOf } from "../ui/page-number.ts";
import { Pager } from "../ui/pager.tsx";
import { useWords } from "../words/words.ts";
import { useBackupActs } from "./backup-acts.tsx";
import { BackupItem } from "./backup-item.tsx";
import { backupBefore, newestDrill } from "./backup-row.ts";
import { DownloadWorld } from "./download-world.tsx";
import { JobNotice } from "./job-notice.tsx";
import { MakeBackup } from "./make-backup.tsx";

/** Few servers keep more. */
const pageSize = 50;

/** The backups of a server: making, restoring, trying, keeping and downloading them. */
export function Page() {
  const { backups } = useWords();
  return (
    <ServerFrame section={backups.title}>
      {(server) => (server.isManaged ? <Backups {...server} /> : <NotFoundPage title={backups.title} />)}
    </ServerFrame>
  );
}

function Backups({ name, status }: ServerInFrame) {
  const words = useWords();
  const { backups, reasons, users } = words;
  const isStaff = useMe().data?.is_admin ?? false;
  const jobs = useJobs(name);
  const held = heldWords(words, useWorldWork(name));
  const navigate = useNavigate();
  const page = pageOf((useSearch({ strict: false }) as { page?: unknown }).page);
  const offset = (page - 1) * pageSize;
  const wanted = { server: name, limit: pageSize, offset };
  const list = useOperation("backups.list", wanted, { every: poll.list, keepsPrevious: true });
  const drills = useOperation(
    "drills.list",
    { name },
    { every: (data) => (data?.drills.some(({ finished_at }) => !finished_at) ? poll.busy : poll.list) },
  );
  const isAsleep = isAtRest(status.phase);
  const { may, limits } = useAccess();
  const lacks = useMemo(() => allRights.filter((right) => !may(right)), [may]);
  const [readsSome, writesSome] = [limits?.read_paths !== undefined, limits?.write_paths !== undefined];
  const whyNot = held ?? (isAsleep ? undefined : reasons.awake);
  const rights = { isStaff, isAsleep, isBusy: held !== undefined, lacks, readsSome, writesSome };
  const { act, dialog } = useBackupActs(name, whyNot);
  const { backups: found = [], total = 0 } = list.data ?? {};
  const before = may("backups.restore") && !writesSome ? backupBefore(found, jobs[0]) : undefined;
  const show = (to: number) =>
    void navigate({ to: `/servers/${name}/backups`, search: to > 1 ? { page: to } : {}, replace: true });
  return (
    <Stack>
      <JobNotice
        jobs={jobs}
        back={
          before && (
            <Button whyNot={whyNot} onPress={() => act("restore", before)}>
              {backups.wayBack}
            </Button>
          )
        }
      />
      <Row>
        <Needs rights={isAsleep ? ["backups.make"] : ["backups.make", "power"]} otherwise="nothing">
          <MakeBackup name={name} phase={status.phase} jobs={jobs} held={held} />
        </Needs>
        {!readsSome && (
          <Needs rights={["backups.download"]} otherwise="nothing">
            <DownloadWorld name={name} whyNot={whyNot} />
          </Needs>
        )}
      </Row>
      <Needs rights={["backups.make", "backups.restore", "backups.download", "backups.delete"]}>{null}</Needs>
      {((readsSome && may("backups.download")) || (writesSome && may("backups.restore"))) && (
        <Muted>{backups.somePaths}</Muted>
      )}
      {!isAsleep && (may("backups.restore") || may("backups.download")) && <Muted>{backups.awake}</Muted>}
      {!list.data &&
        (list.error ? <Failure error={list.error} retry={() => void list.refetch()} /> : <Loading />)}
      {list.data && found.length === 0 && <Empty title={backups.none}>{backups.noneHelp}</Empty>}
      {found.length > 0 && (
        <Card>
          <List label={backups.title}>
            {found.map((backup) => (
              <BackupItem
                key={backup.id}
                backup={backup}
                drill={newestDrill(drills.data?.drills ?? [], backup.id)}
                onAct={act}
                whyNot={whyNot}
                {...rights}
              />
            ))}
          </List>
        </Card>
      )}
      {dialog}
      {total > pageSize && (
        <Pager
          text={`${offset + 1}–${offset + found.length} / ${total}`}
          back={{ word: users.previous, run: page > 1 ? () => show(page - 1) : undefined }}
          on={{ word: users.next, run: offset + pageSize < total ? () => show(page + 1) : undefined }}
        />
      )}
    </Stack>
  );
}
