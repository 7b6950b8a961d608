import type { Output } from "../api/operations.ts";
import { poll, useOperation } from "../api/query.ts";
import { useOwnServers } from "../server/use-servers.ts";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Stack } from "../ui/layout.tsx";
import { ListSection } from "../ui/list-section.tsx";
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
      <ListSection
        label={shell.groups}
        about={words.about}
        items={groups}
        none={words.none}
        add={{
          word: words.add,
          whyNot,
          dialog: (onClose) => <GroupDialog servers={servers} onClose={onClose} />,
        }}
      >
        {(group) => <GroupItem key={group.id} group={group} servers={servers} />}
      </ListSection>
    </Stack>
  );
}
