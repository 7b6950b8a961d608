import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { useOwnServers } from "../server/use-servers.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useGroupWords } from "../words/group-words.ts";
import { useWords } from "../words/words.ts";
import { GroupDialog } from "./group-dialog.tsx";
import { GroupItem } from "./group-item.tsx";

const everyOf = (data: Output<"serverGroups.list"> | undefined) =>
  data?.groups.some(({ run }) => run?.state === "running") ? poll.busy : poll.list;

/** The groups of the person: servers that start and stop together, in an order. */
export function Page() {
  const { shell } = useWords();
  return (
    <PageFrame title={shell.groups}>
      <Groups />
    </PageFrame>
  );
}

function Groups() {
  const words = useGroupWords();
  const { shell } = useWords();
  const { data, error, refetch } = useOperation("serverGroups.list", {}, { every: everyOf });
  const own = useOwnServers();
  const [isAdding, setAdding] = useState(false);
  const retry = () => void refetch();
  if (!data || !own.rows) {
    const problem = error ?? own.error;
    return problem ? <Failure error={problem} retry={data ? own.refetch : retry} /> : <Loading />;
  }
  const { groups, limit } = data;
  const servers = own.rows.filter(({ isMine, isShared }) => isMine || isShared);
  if (groups.length === 0 && servers.length === 0)
    return <Empty title={words.noServers}>{words.about}</Empty>;
  const whyNot =
    groups.length >= limit ? words.full(limit) : servers.length === 0 ? words.noServers : undefined;
  return (
    <Stack>
      <Failure error={error ?? own.error} retry={retry} />
      <Row isSpread>
        <Muted>{words.about}</Muted>
        <Button kind="primary" whyNot={whyNot} onPress={() => setAdding(true)}>
          {words.add}
        </Button>
      </Row>
      <Card title={shell.groups}>
        {groups.length === 0 && <Muted>{words.none}</Muted>}
        {groups.length > 0 && (
          <List label={shell.groups}>
            {groups.map((group) => (
              <GroupItem key={group.id} group={group} servers={servers} />
            ))}
          </List>
        )}
      </Card>
      {isAdding && <GroupDialog servers={servers} onClose={() => setAdding(false)} />}
    </Stack>
  );
}
