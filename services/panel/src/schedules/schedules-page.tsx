import { Plus } from "lucide-react";
import { useState } from "react";
import { Needs } from "../access/needs.tsx";
import type { ApiError } from "../api/error.ts";
import type { Output } from "../api/operations.ts";
import { poll, useAction, useOperation } from "../api/query.ts";
import { ServerFrame, type ServerInFrame } from "../server/server-frame.tsx";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { NotFoundPage } from "../ui/not-found-page.tsx";
import { failedToast, useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";
import { draftOf, inputOf } from "./draft.ts";
import { Editor } from "./editor.tsx";
import { ScheduleItem } from "./schedule-item.tsx";
import type { Schedule } from "./timetable.ts";

/** What a server does by itself: by the clock, and when something happens. */
export function Page() {
  const { schedules } = useWords();
  return (
    <ServerFrame section={schedules.title} needs={["schedules"]}>
      {(server) => (server.isManaged ? <Schedules {...server} /> : <NotFoundPage title={schedules.title} />)}
    </ServerFrame>
  );
}

/** A task may do all of it. */
const toPlan = ["command", "power", "backups.make"] as const;

const everyOf = (data: Output<"schedules.list"> | undefined) =>
  data?.schedules.some(({ run_state }) => run_state !== "") ? poll.busy : poll.list;

/** Deletes at once; for a while the schedule can be made again as it was. */
function useRemoval(name: string): (schedule: Schedule) => void {
  const words = useWords();
  const { schedules } = words;
  const toast = useToast();
  const create = useAction("schedules.create", ["schedules.list"]);
  const remove = useAction("schedules.remove", ["schedules.list"]);
  const onError = (error: ApiError) => toast(failedToast(words, error));
  return (schedule) => {
    const bringBack = () => create.mutate({ name, ...inputOf(draftOf(schedule)) }, { onError });
    const undo = { word: schedules.undo, run: bringBack };
    const onSuccess = () => toast({ kind: "done", text: schedules.removed, action: undo });
    remove.mutate({ name, id: String(schedule.id) }, { onError, onSuccess });
  };
}

function Schedules({ name, status }: ServerInFrame) {
  const { schedules } = useWords();
  const [isMaking, setMaking] = useState(false);
  const remove = useRemoval(name);
  const { data, error, refetch } = useOperation("schedules.list", { name }, { every: everyOf });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { schedules: found, limit } = data;
  const isFull = found.length >= limit;
  const make = (
    <Needs rights={toPlan}>
      <Button
        kind="primary"
        icon={<Plus size={16} aria-hidden />}
        whyNot={isFull ? schedules.full(limit) : undefined}
        onPress={() => setMaking(true)}
      >
        {schedules.create}
      </Button>
    </Needs>
  );
  return (
    <Stack>
      {found.length === 0 ? (
        <Empty title={schedules.none} action={make}>
          {schedules.noneHelp}
        </Empty>
      ) : (
        <>
          <Row>
            {make}
            {isFull && <Muted>{schedules.full(limit)}</Muted>}
          </Row>
          <Card>
            <List label={schedules.title}>
              {found.map((schedule) => (
                <ScheduleItem
                  key={schedule.id}
                  name={name}
                  schedule={schedule}
                  playersOnline={status.playersOnline}
                  onRemove={remove}
                />
              ))}
            </List>
          </Card>
        </>
      )}
      {isMaking && <Editor name={name} onClose={() => setMaking(false)} />}
    </Stack>
  );
}
