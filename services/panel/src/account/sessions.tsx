import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { deviceName } from "../sign-in/device-name.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Time } from "../ui/time.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type Session = Output<"accounts.listSessions">["sessions"][number];

/** Where the caller is signed in; any other session can be ended here. */
export function Sessions() {
  const { account } = useWords();
  const toast = useToast();
  const { data, error, refetch } = useOperation("accounts.listSessions", {});
  const endOthers = useAction("accounts.revokeOtherSessions", ["accounts.listSessions"]);
  const end = () =>
    endOthers.mutate(
      {},
      { onSuccess: ({ revoked }) => toast({ kind: "done", text: account.endedOthers(revoked) }) },
    );
  const sessions = data?.sessions.filter(({ revoked_at }) => revoked_at === undefined) ?? [];
  return (
    <Card
      title={account.sessions}
      actions={
        sessions.length > 1 && (
          <Button isPending={endOthers.isPending} onPress={end}>
            {account.endOthers}
          </Button>
        )
      }
    >
      <Failure error={endOthers.error} />
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      <List label={account.sessions}>
        {sessions.map((session) => (
          <SessionItem key={session.token_hash} session={session} />
        ))}
      </List>
    </Card>
  );
}

function SessionItem({ session }: { session: Session }) {
  const { account } = useWords();
  const revoke = useAction("accounts.revokeSession", ["accounts.listSessions"]);
  const { token_hash: hash, user_agent, client_ip, last_seen_at, current = false } = session;
  const device = deviceName(user_agent) || account.unknownDevice;
  return (
    <>
      <ListItem
        title={current ? `${device} · ${account.thisSession}` : device}
        details={
          <>
            <bdi>{client_ip}</bdi> · {account.seen} <Time at={last_seen_at} />
          </>
        }
        actions={
          !current && (
            <Button
              isPending={revoke.isPending}
              label={account.endSessionOf(isolate(device))}
              onPress={() => revoke.mutate({ hash })}
            >
              {account.endSession}
            </Button>
          )
        }
      />
      <Failure error={revoke.error} />
    </>
  );
}
