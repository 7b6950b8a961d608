import { useEffect, useEffectEvent, useState } from "react";
import { isWithin } from "../access/paths.ts";
import { useAccess } from "../access/use-access.ts";
import type { ApiError } from "../api/error.ts";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { formatClock } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { isAtRest } from "./row.ts";
import { useDesired } from "./use-desired.ts";
import type { ServerStatus } from "./use-server.ts";

type Aside = Output<"setAsides.read">;
type AsideSet = Aside["sets"][number];

/** What a set may have; a member whose access is limited to other paths has no use for one. */
const reach = ["plugins", "mods", "config"];

/** Opens the safe start of a server; nothing for those who may not. */
export function SafeStart({ name, phase }: { name: string; phase: ServerStatus["phase"] }) {
  const { crashes } = useWords();
  const { may, limits } = useAccess();
  const [isOpen, setOpen] = useState(false);
  const covers = (paths: readonly string[] | undefined) => reach.every((path) => isWithin(path, paths));
  const mayAll = (["power", "files.read", "files.write"] as const).every(may);
  if (!mayAll || !covers(limits?.read_paths) || !covers(limits?.write_paths)) return null;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{crashes.safeStart}</Button>
      {isOpen && <SafeStartDialog name={name} phase={phase} onClose={() => setOpen(false)} />}
    </>
  );
}

type DialogProps = { name: string; phase: ServerStatus["phase"]; onClose: () => void };

/** Lists what would be set aside before it is, and what is; the files can be looked at once the server is stopped. */
function SafeStartDialog({ name, phase, onClose }: DialogProps) {
  const { crashes, server, shell } = useWords();
  const isStopped = isAtRest(phase);
  const read = useOperation("setAsides.read", { name }, { enabled: isStopped, isCostly: true });
  const start = useSafeStart(name, onClose);
  const { changed = [], truncated = true } = read.data ?? {};
  return (
    <Dialog
      isOpen
      title={crashes.safeStart}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          {isStopped ? (
            <Button
              kind="primary"
              isPending={start.isPending}
              isDisabled={changed.length === 0 || truncated}
              onPress={start.run}
            >
              {crashes.safeStartAction}
            </Button>
          ) : (
            <StopFirst name={name} />
          )}
        </>
      }
    >
      <p>{crashes.safeStartHelp}</p>
      {start.wait > 0 && <p role="status">{server.cooldown(formatClock(start.wait))}</p>}
      {!isStopped && <p role="status">{crashes.safeStartStopped}</p>}
      {isStopped &&
        !read.data &&
        (read.error ? <Failure error={read.error} retry={() => void read.refetch()} /> : <Loading />)}
      {isStopped && read.data && <Found name={name} found={read.data} />}
    </Dialog>
  );
}

function useSafeStart(name: string, onDone: () => void) {
  const words = useWords();
  const toast = useToast();
  const begin = useAction("setAsides.begin", ["setAsides.read", "files.list"]);
  const wake = useAction("servers.wake");
  const desire = useDesired();
  const [coolUntil, setCoolUntil] = useState(0);
  const wait = useCountdown(coolUntil);
  const onError = (error: ApiError) => toast(failedToast(words, error));
  const start = () =>
    wake.mutate(
      { name },
      {
        onSuccess: () => {
          desire(name, "Running");
          onDone();
        },
        onError: (error) => {
          // A server may crash sooner than it may be woken again; its files are set aside already.
          if (error.code === "cooldown") {
            setCoolUntil(Date.now() + (error.retryAfterSeconds ?? 30) * 1_000);
            return;
          }
          onError(error);
          onDone();
        },
      },
    );
  const startAfterwards = useEffectEvent(start);
  useEffect(() => {
    if (coolUntil === 0) return;
    const timer = setTimeout(() => startAfterwards(), coolUntil - Date.now());
    return () => clearTimeout(timer);
  }, [coolUntil]);
  const run = () =>
    begin.mutate(
      { name },
      {
        onError,
        onSuccess: ({ files }) => {
          toast({ kind: "done", text: words.crashes.asideDone(files.length) });
          start();
        },
      },
    );
  return { run, wait, isPending: begin.isPending || wake.isPending || wait > 0 };
}

function StopFirst({ name }: { name: string }) {
  const words = useWords();
  const toast = useToast();
  const stop = useAction("servers.stop");
  const desire = useDesired();
  return (
    <Button
      kind="primary"
      isPending={stop.isPending || stop.isSuccess}
      onPress={() =>
        stop.mutate(
          { name },
          {
            onSuccess: () => desire(name, "Stopped"),
            onError: (error) => toast(failedToast(words, error)),
          },
        )
      }
    >
      {words.server.stopServer}
    </Button>
  );
}

function Found({ name, found }: { name: string; found: Aside }) {
  const { crashes } = useWords();
  const { since, changed, truncated, sets } = found;
  return (
    <Stack>
      {since === undefined && <Muted>{crashes.noGoodStart}</Muted>}
      {since !== undefined && (
        <p>
          {changed.length === 0 ? crashes.nothingChanged : crashes.changedSince} <Time at={since} />
        </p>
      )}
      {changed.length > 0 && <Files label={crashes.safeStart} files={changed} />}
      {truncated && <Muted>{crashes.tooManyChanged}</Muted>}
      {sets.map((set) => (
        <SetAside key={set.id} name={name} set={set} />
      ))}
    </Stack>
  );
}

/** One set, with the way back. */
export function SetAside({ name, set }: { name: string; set: AsideSet }) {
  const words = useWords();
  const { crashes } = words;
  const toast = useToast();
  const back = useAction("setAsides.putBack", ["setAsides.read", "files.list"]);
  const { id, files } = set;
  const act = () =>
    back.mutate(
      { name, id },
      {
        onError: (error) => toast(failedToast(words, error)),
        onSuccess: () => toast({ kind: "done", text: crashes.putBackDone(files.length) }),
      },
    );
  return (
    <Stack isTight>
      <Row>
        <span>
          {crashes.setAsideAt} <Time at={timeOfSet(id)} />
        </span>
        <Button isPending={back.isPending} onPress={act}>
          {crashes.putBack}
        </Button>
      </Row>
      <Files label={crashes.setAsideAt} files={files} />
    </Stack>
  );
}

function Files({ label, files }: { label: string; files: AsideSet["files"] }) {
  return (
    <List label={label}>
      {files.map(({ path, mod_time }) => (
        <ListItem key={path} title={<bdi>{visible(path)}</bdi>} details={<Time at={mod_time} />} />
      ))}
    </List>
  );
}

/** The name of a set is its time in UTC, such as 20261124T001500Z. */
function timeOfSet(id: string): string {
  return id.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, "$1-$2-$3T$4:$5:$6.000Z");
}
