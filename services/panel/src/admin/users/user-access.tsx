import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Card } from "../../ui/layout.tsx";
import { List, ListItem } from "../../ui/list.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { isolate } from "../../words/format.ts";
import { useWords } from "../../words/words.ts";
import type { UserActs, UserDetail } from "./users-view.ts";

/** What takes a user's ways in: their passkeys, their access, their account. */
export function UserAccess({ user, acts }: { user: UserDetail; acts: UserActs }) {
  const { users } = useWords();
  return (
    <Card title={users.access}>
      <List label={users.access}>
        <RemovePasskeys user={user} />
        {acts.disable && <Disable user={user} />}
        {acts.remove && <Remove user={user} />}
      </List>
    </Card>
  );
}

function RemovePasskeys({ user: { id, username } }: { user: UserDetail }) {
  const { users } = useWords();
  const toast = useToast();
  const remove = useAction("users.removePasskeys", ["users.listSessions", "passkeys.list"]);
  const [isAsking, setAsking] = useState(false);
  const act = () =>
    remove.mutate({ id }, { onSuccess: () => toast({ kind: "done", text: users.passkeysRemoved }) });
  return (
    <>
      <ListItem
        title={users.passkeys}
        details={users.passkeysHelp}
        actions={
          <Button isPending={remove.isPending} onPress={() => setAsking(true)}>
            {users.removePasskeys}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={users.removePasskeysTitle(isolate(username))}
        action={users.removePasskeys}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{users.removePasskeysHelp}</p>
      </Confirm>
    </>
  );
}

function Disable({ user: { id, username, disabled } }: { user: UserDetail }) {
  const { users } = useWords();
  const disable = useAction("users.disable", ["users.read", "users.list", "users.listSessions"]);
  const [isAsking, setAsking] = useState(false);
  const set = (to: boolean) => disable.mutate({ id, disabled: to });
  return (
    <>
      <ListItem
        title={disabled ? users.states.disabled : users.states.active}
        details={disabled ? users.disabledHelp : users.activeHelp}
        actions={
          <Button isPending={disable.isPending} onPress={() => (disabled ? set(false) : setAsking(true))}>
            {disabled ? users.enable : users.disable}
          </Button>
        }
      />
      <Failure error={disable.error} />
      <Confirm
        title={users.disableTitle(isolate(username))}
        action={users.disable}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => set(true)}
      >
        <p>{users.disableHelp}</p>
      </Confirm>
    </>
  );
}

function Remove({ user: { id, username, server_count } }: { user: UserDetail }) {
  const { users } = useWords();
  const navigate = useNavigate();
  const toast = useToast();
  const remove = useAction("users.remove", ["users.read", "users.list"]);
  const [isAsking, setAsking] = useState(false);
  const removed = () => {
    toast({ kind: "done", text: users.removed(isolate(username)) });
    void navigate({ to: "/admin/users", ignoreBlocker: true });
  };
  return (
    <>
      <ListItem
        title={users.remove}
        details={users.removeHelp}
        actions={
          <Button kind="danger" isPending={remove.isPending} onPress={() => setAsking(true)}>
            {users.removeAction}
          </Button>
        }
      />
      <Failure error={remove.error} />
      <Confirm
        title={users.removeTitle(isolate(username))}
        action={users.removeAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => remove.mutate({ id }, { onSuccess: removed })}
        typed={username}
      >
        <p>{users.removeConfirm(server_count)}</p>
      </Confirm>
    </>
  );
}
