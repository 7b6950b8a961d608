import { Needs } from "../access/needs.tsx";
import { useOperation } from "../api/query.ts";
import { plainText } from "../server/console/styled-text.ts";
import { Button } from "../ui/button.tsx";
import { Disclosure, Preformatted } from "../ui/disclosure.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Columns, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { Groups } from "./groups.tsx";
import { Permissions } from "./permissions.tsx";
import { useChange } from "./use-change.ts";

type PlayerRightsProps = { name: string; player: string };

/** Groups and permissions of one player, or why they cannot be seen. */
export function PlayerRights({ name, player }: PlayerRightsProps) {
  const { luckPerms, faults } = useWords();
  const { data, error, refetch, isFetching } = useOperation("consoles.readLuckPerms", { name, player });
  const change = useChange({
    ...{ name, player },
    readRights: async () => (await refetch({ throwOnError: true })).data,
  });
  if (error?.code === "luckperms_missing")
    return (
      <Empty
        title={faults.luckperms_missing}
        action={
          <Row>
            <Button isPending={isFetching} onPress={() => void refetch()}>
              {luckPerms.askAgain}
            </Button>
            <Link to={`/servers/${name}/files`} search={{ path: "plugins" }} looks="button">
              {luckPerms.openPlugins}
            </Link>
          </Row>
        }
      >
        {luckPerms.missingHelp}
      </Empty>
    );
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  return (
    <Stack>
      {change.refusal !== undefined && (
        <Notice kind="failed" isAlert>
          {luckPerms.refused} <bdi>{visible(textOf(change.refusal))}</bdi>
        </Notice>
      )}
      <Needs rights={["command"]}>
        <Columns isWide>
          <Groups groups={data.groups} player={player} change={change} />
          <Permissions permissions={data.permissions} player={player} change={change} />
        </Columns>
      </Needs>
      <Disclosure summary={luckPerms.reply}>
        <Preformatted label={luckPerms.reply}>{textOf(data.output)}</Preformatted>
      </Disclosure>
    </Stack>
  );
}

function textOf(reply: string): string {
  return reply.split("\n").map(plainText).join("\n");
}
