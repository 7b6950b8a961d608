import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Muted, Stack } from "../../ui/layout.tsx";
import { isolate } from "../../words/format.ts";
import { useWords } from "../../words/words.ts";
import { UserFields, type UserFieldValues } from "./user-fields.tsx";
import type { UserDetail } from "./users-view.ts";

type EditUserProps = { user: UserDetail; hasRole: boolean; onClose: () => void };

/** Changes name, address and role; only what differs is sent. */
export function EditUser({ user, hasRole, onClose }: EditUserProps) {
  const { users, shell } = useWords();
  const patch = useAction("users.patch", ["users.list", "users.read", "users.listSessions", "accounts.me"]);
  const [values, setValues] = useState<UserFieldValues>({
    username: user.username,
    email: user.email ?? "",
    role: user.role === "admin" ? "admin" : "user",
  });
  const { username, email, role } = values;
  const change = {
    ...(username !== user.username && { username }),
    ...(email !== "" && email !== user.email && { email }),
    ...(hasRole && role !== user.role && { role }),
  };
  const submit = () => {
    if (username === "" || patch.isPending) return;
    if (Object.keys(change).length === 0) return onClose();
    patch.mutate({ id: user.id, ...change }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={users.editTitle(isolate(user.username))}
      action={users.editAction}
      isPending={patch.isPending}
      whyNot={username === "" ? shell.fillIn : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <UserFields values={values} onChange={setValues} error={patch.error} hasRole={hasRole} />
        {"role" in change && <Muted>{users.roleChangeHelp}</Muted>}
      </Stack>
    </FormDialog>
  );
}
