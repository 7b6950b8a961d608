import { poll, useOperation } from "../api/query.ts";
import { Failure } from "../ui/failure.tsx";
import { Card, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Time } from "../ui/time.tsx";
import { useWords } from "../words/words.ts";
import { CrashFacts, CrashLines } from "./crash-parts.tsx";
import type { Crash } from "./current.ts";

/** All crashes that are kept of a server, each with its cause and last lines; nothing while there are none. */
export function CrashList({ name }: { name: string }) {
  const { crashes } = useWords();
  const { data, error, refetch } = useOperation("crashes.list", { name }, { every: poll.list });
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : null;
  if (data.crashes.length === 0) return null;
  return (
    <Card title={crashes.title}>
      <List label={crashes.title}>
        {data.crashes.map((crash) => (
          <CrashItem key={crash.id} name={name} crash={crash} />
        ))}
      </List>
    </Card>
  );
}

function CrashItem({ name, crash }: { name: string; crash: Crash }) {
  const { crashes } = useWords();
  const { title, help } = crashes.causes[crash.cause];
  return (
    <ListItem
      title={title}
      details={
        <Stack isTight>
          <span>
            <Time at={crash.at} /> · <CrashFacts crash={crash} />
          </span>
          <span>{help}</span>
          <CrashLines name={name} id={crash.id} />
        </Stack>
      }
    />
  );
}
