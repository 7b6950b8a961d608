import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
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
    <Dialog
      isOpen
      title={users.create}
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>{shell.cancel}</Button>
          <Button
            kind="primary"
            isPending={create.isPending}
            whyNot={username === "" ? shell.fillIn : undefined}
            onPress={submit}
          >
            {users.createAction}
          </Button>
        </>
      }
    >
      <Form onSubmit={submit} hasOuterButton>
        <Stack>
          <Muted>{users.createHelp}</Muted>
          <UserFields values={values} onChange={setValues} error={create.error} hasRole />
        </Stack>
      </Form>
    </Dialog>
  );
}
