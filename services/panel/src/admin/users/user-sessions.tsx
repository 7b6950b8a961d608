import type { Output } from "../../api/operations.ts";
import { useAction, useOperation } from "../../api/query.ts";
import { deviceName } from "../../sign-in/device-name.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card, Muted } from "../../ui/layout.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Time } from "../../ui/time.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isolate } from "../../words/format.ts";
import { useWords } from "../../words/words.ts";

type Session = Output<"users.listSessions">["sessions"][number];

/** Where a user is signed in. */
export function UserSessions({ id }: { id: string }) {
  const { account, users } = useWords();
  const toast = useToast();
  const { data, error, refetch } = useOperation("users.listSessions", { id });
  const endAll = useAction("users.revokeSessions", ["users.listSessions"]);
  const end = () =>
    endAll.mutate({ id }, { onSuccess: () => toast({ kind: "done", text: users.sessionsEnded }) });
  const sessions = data?.sessions ?? [];
  return (
    <Card
      title={account.sessions}
      actions={
        sessions.length > 0 && (
          <Button isPending={endAll.isPending} onPress={end}>
            {users.endSessions}
          </Button>
        )
      }
    >
      <Failure error={endAll.error} />
      {!data && (error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && sessions.length === 0 && <Muted>{users.noSessions}</Muted>}
      {sessions.length > 0 && (
        <List label={account.sessions}>
          {sessions.map((session) => (
            <SessionItem key={session.token_hash} id={id} session={session} />
          ))}
        </List>
      )}
    </Card>
  );
}

function SessionItem({ id, session }: { id: string; session: Session }) {
  const { account } = useWords();
  const revoke = useAction("users.revokeSession", ["users.listSessions"]);
  const { token_hash: hash, user_agent, client_ip, last_seen_at } = session;
  const device = deviceName(user_agent) || account.unknownDevice;
  return (
    <>
      <ListItem
        title={device}
        details={
          <>
            <bdi>{client_ip}</bdi> · {account.seen} <Time at={last_seen_at} />
          </>
        }
        actions={
          <Button
            isPending={revoke.isPending}
            label={account.endSessionOf(isolate(device))}
            onPress={() => revoke.mutate({ id, hash })}
          >
            {account.endSession}
          </Button>
        }
      />
      <Failure error={revoke.error} />
    </>
  );
}
