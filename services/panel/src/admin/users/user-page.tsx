import { useParams } from "@tanstack/react-router";
import { poll, useOperation } from "../../api/query.ts";
import { useMe } from "../../api/session.ts";
import { Failure } from "../../ui/failure.tsx";
import { Split, Stack } from "../../ui/layout.tsx";
import { Link } from "../../ui/link.tsx";
import { Loading } from "../../ui/loading.tsx";
import { NotFoundPage } from "../../ui/not-found-page.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Page as PageFrame } from "../../ui/page.tsx";
import { Status } from "../../ui/status.tsx";
import { useWords } from "../../words/words.ts";
import { UserAccess } from "./user-access.tsx";
import { UserPlayers } from "./user-players.tsx";
import { UserProfile } from "./user-profile.tsx";
import { UserQuota } from "./user-quota.tsx";
import { UserSessions } from "./user-sessions.tsx";
import { decideActs, isUserId, lookOfState, stateOf } from "./users-view.ts";

/** One user; of a deleted one only what they were. */
export function Page() {
  const { users } = useWords();
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const me = useMe().data;
  const {
    data: user,
    error,
    refetch,
  } = useOperation("users.read", { id }, { enabled: isUserId(id), every: poll.list });
  if (!isUserId(id) || error?.code === "not_found") return <NotFoundPage title={users.notFound} />;
  if (!user || !me) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const acts = decideActs(user, me.user_id);
  const state = stateOf(user);
  return (
    <PageFrame
      title={user.username}
      parts={[user.username, users.title]}
      aside={<Status look={lookOfState[state]} word={users.states[state]} isLive />}
      actions={
        <Link to="/admin/audit" search={{ actor: id }} looks="button">
          {users.audit}
        </Link>
      }
    >
      {state === "deleted" && <Notice>{users.deletedHelp}</Notice>}
      {acts.edit ? (
        <Split aside={<UserQuota id={id} />}>
          <Stack>
            <UserProfile user={user} acts={acts} />
            <UserPlayers user={user} />
            <UserSessions id={id} />
            <UserAccess user={user} acts={acts} />
          </Stack>
        </Split>
      ) : (
        <UserProfile user={user} acts={acts} />
      )}
    </PageFrame>
  );
}
