import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Copied } from "../../ui/copied.tsx";
import { Card, Facts } from "../../ui/layout.tsx";
import { Time } from "../../ui/time.tsx";
import { visible } from "../../words/visible.ts";
import { useWords } from "../../words/words.ts";
import { EditUser } from "./edit-user.tsx";
import type { UserActs, UserDetail } from "./users-view.ts";

/** Who a user is. */
export function UserProfile({ user, acts }: { user: UserDetail; acts: UserActs }) {
  const { users, account } = useWords();
  const [isEditing, setEditing] = useState(false);
  const { id, email, email_verified, role, server_count, created_at, deleted_at, code_locked_until } = user;
  return (
    <Card
      title={account.profile}
      actions={acts.edit && <Button onPress={() => setEditing(true)}>{users.edit}</Button>}
    >
      <Facts
        rows={[
          [
            users.email,
            <span key="email">
              <bdi>{visible(email ?? account.noEmail)}</bdi>
              {email !== undefined && !email_verified && ` (${account.unverified})`}
            </span>,
          ],
          [users.role, account.roles[role]],
          [users.servers, String(server_count)],
          [users.created, <Time key="created" at={created_at} />],
          ...(deleted_at === undefined
            ? []
            : [[users.deleted, <Time key="deleted" at={deleted_at} />] as const]),
          ...(code_locked_until === undefined
            ? []
            : [[users.codesLocked, <Time key="locked" at={code_locked_until} />] as const]),
          [account.userId, <Copied key="id" text={id} what={account.userId} />],
        ]}
      />
      {isEditing && <EditUser user={user} hasRole={acts.role} onClose={() => setEditing(false)} />}
    </Card>
  );
}
