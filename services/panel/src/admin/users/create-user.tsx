import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Muted, Stack } from "../../ui/layout.tsx";
import { useWords } from "../../words/words.ts";
import { UserFields, type UserFieldValues } from "./user-fields.tsx";

/** Makes a user, who signs in by the address that is given, or by what is linked later. */
export function CreateUser({ onClose }: { onClose: () => void }) {
  const { users, shell } = useWords();
  const navigate = useNavigate();
  const create = useAction("users.create", ["users.list"]);
  const [values, setValues] = useState<UserFieldValues>({ username: "", email: "", role: "user" });
  const { username, email, role } = values;
  const submit = () => {
    if (username === "" || create.isPending) return;
    create.mutate(
      { username, role, ...(email !== "" && { email }) },
      { onSuccess: ({ id }) => void navigate({ to: `/admin/users/${id}`, ignoreBlocker: true }) },
    );
  };
  return (
    <FormDialog
      title={users.create}
      action={users.createAction}
      isPending={create.isPending}
      whyNot={username === "" ? shell.fillIn : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <Muted>{users.createHelp}</Muted>
        <UserFields values={values} onChange={setValues} error={create.error} hasRole />
      </Stack>
    </FormDialog>
  );
}
