import type { OperationName, Output } from "../../api/operations.ts";
import { poll, useAction, useOperation, useOperations } from "../../api/query.ts";
import { MoveProgress } from "../../settings/move-progress.tsx";
import { isMoving, isUnfinished, type Migration, type Node } from "../../settings/move-steps.ts";
import { AskingButton } from "../../ui/asking-button.tsx";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted, Stack } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { Table, type TableColumn } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { formatBytes, isolate } from "../../words/format.ts";
import { useLanguage, useWords, type Words } from "../../words/words.ts";

/** The machines of the platform, and the moves of worlds between them. */
export function Page() {
  const words = useWords();
  const { data, error, refetch } = useOperation("nodes.listNodes", {}, { every: poll.list });
  const rooms = useOperation("nodes.readRoom", {}, { every: poll.list });
  const rows = useServerCounts(data?.nodes ?? [], rooms.data?.nodes ?? []);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <PageFrame title={words.nodes.title}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {rooms.error && <Failure error={rooms.error} retry={() => void rooms.refetch()} />}
      <Card>
        <Table
          label={words.nodes.title}
          columns={columnsOf(words)}
          rows={rows}
          keyOf={({ node }) => node.name}
        />
      </Card>
      <Moves />
    </PageFrame>
  );
}

type Room = Output<"nodes.readRoom">["nodes"][number];
type NodeRow = {
  node: Node;
  servers: number | undefined;
  awake: number | undefined;
  room: Room | undefined;
};

function useServerCounts(nodes: readonly Node[], rooms: readonly Room[]): NodeRow[] {
  const counted = nodes.flatMap(({ name: node }) => [
    { node, limit: 1 },
    { node, limit: 1, filter: "awake" as const },
  ]);
  const totals = useOperations("servers.fleet", counted, { every: poll.list }).map(({ data }) => data?.total);
  return nodes.map((node, at) => ({
    ...{ node, servers: totals[2 * at], awake: totals[2 * at + 1] },
    room: rooms.find(({ name }) => name === node.name),
  }));
}

function columnsOf({ nodes }: Words): TableColumn<NodeRow>[] {
  return [
    {
      key: "name",
      title: nodes.name,
      cell: ({ node }) => <bdi>{node.name}</bdi>,
    },
    {
      key: "status",
      title: nodes.status,
      cell: ({ node: { ready } }) => (
        <Status look={ready ? "running" : "failed"} word={ready ? nodes.ready : nodes.notReady} />
      ),
    },
    {
      key: "role",
      title: nodes.use,
      cell: ({ node: { approved, outdated } }) =>
        outdated ? (
          <>
            {nodes.outdated} <code>{nodes.relabelCommand}</code>
          </>
        ) : approved ? (
          nodes.approved
        ) : (
          nodes.notApproved
        ),
    },
    {
      key: "machine",
      title: nodes.machine,
      cell: ({ node: { architecture, addresses } }) => <bdi>{[architecture, ...addresses].join(" · ")}</bdi>,
    },
    {
      key: "servers",
      title: nodes.servers,
      cell: ({ node: { name }, servers, awake }) =>
        servers !== undefined && (
          <Link to="/servers" search={{ node: name }}>
            {nodes.serverCount(servers, awake ?? 0)}
          </Link>
        ),
    },
    {
      key: "memory",
      title: nodes.memory,
      cell: ({ room }) => room && <Memory room={room} />,
    },
    {
      key: "actions",
      title: nodes.actions,
      cell: ({ node: { name }, room }) =>
        room?.cordoned ? <Uncordon name={name} /> : room?.takes_servers && <Cordon name={name} />,
    },
  ];
}

/** What its servers may take, of what it has; more than all where most of them sleep. */
function Memory({ room: { memory, assigned } }: { room: Room }) {
  const { nodes: words } = useWords();
  const { language } = useLanguage();
  return words.memoryOf(formatBytes(assigned, language), formatBytes(memory, language));
}

const changed: readonly OperationName[] = ["nodes.listNodes", "nodes.readRoom"];

function Cordon({ name }: { name: string }) {
  const { nodes: words } = useWords();
  const toast = useToast();
  const cordon = useAction("nodes.cordon", changed);
  const shown = isolate(name);
  return (
    <AskingButton
      word={words.cordon}
      label={words.cordonOf(shown)}
      title={words.cordonTitle(shown)}
      action={words.cordon}
      request={cordon}
      onConfirm={() =>
        cordon.mutate({ name }, { onSuccess: () => toast({ kind: "done", text: words.cordoned(shown) }) })
      }
    >
      <p>{words.cordonHelp}</p>
      <p>
        {words.drainHelp} <code>{words.drainCommand(name)}</code>
      </p>
    </AskingButton>
  );
}

function Uncordon({ name }: { name: string }) {
  const { nodes: words } = useWords();
  const toast = useToast();
  const uncordon = useAction("nodes.uncordon", changed);
  const shown = isolate(name);
  return (
    <>
      <Button
        label={words.uncordonOf(shown)}
        isPending={uncordon.isPending}
        onPress={() =>
          uncordon.mutate(
            { name },
            {
              onSuccess: ({ approved }) => approved && toast({ kind: "done", text: words.uncordoned(shown) }),
            },
          )
        }
      >
        {words.uncordon}
      </Button>
      <Failure error={uncordon.error} />
    </>
  );
}

function Moves() {
  const { nodes: words } = useWords();
  const { data, error, refetch } = useOperation(
    "migrations.list",
    {},
    { every: (list) => (list?.migrations.some(isMoving) ? poll.job : poll.list) },
  );
  const open = data?.migrations.filter(isUnfinished) ?? [];
  const ended = data?.migrations.filter((move) => !isUnfinished(move)) ?? [];
  return (
    <>
      <Card title={words.moves}>
        {error && <Failure error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data && open.length === 0 && <Muted>{words.noMoves}</Muted>}
        {open.map((move) => (
          <Stack key={move.id} isTight>
            <h3>
              <ServerOf move={move} />
            </h3>
            <MoveProgress name={move.server} migration={move} />
          </Stack>
        ))}
      </Card>
      {ended.length > 0 && (
        <Card title={words.ended}>
          <List label={words.ended}>
            {ended.map((move) => (
              <ListItem
                key={move.id}
                title={<ServerOf move={move} />}
                details={<MoveProgress name={move.server} migration={move} />}
              />
            ))}
          </List>
        </Card>
      )}
    </>
  );
}

function ServerOf({ move: { server } }: { move: Migration }) {
  return (
    <Link to={`/servers/${server}/settings`}>
      <bdi>{server}</bdi>
    </Link>
  );
}
