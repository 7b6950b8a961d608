import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Limited, Muted, Row, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { formatDate, isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useLanguage, useWords } from "../words/words.ts";

const worlds = ["newest_backup", "new_backup", "none"] as const;
type World = (typeof worlds)[number];
const listed = 20;

/** What is chosen as a world, as the operation takes it: one of the words, or the id of a backup. */
function chosen(world: string): { world: World; backup_id?: string } {
  const word = worlds.find((one) => one === world);
  return word ? { world: word } : { world: "newest_backup", backup_id: world };
}

/** For staff: another server like this one. */
export function CloneServer({ name }: { name: string }) {
  const { create, settings, shell } = useWords();
  const toast = useToast();
  const navigate = useNavigate();
  const clone = useAction("clones.create", ["servers.fleet"]);
  const [as, setAs] = useState("");
  const [world, setWorld] = useState<string>("newest_backup");
  const backups = useOperation("backups.list", { server: name, limit: listed, offset: 0 });
  const { language } = useLanguage();
  const usable = backups.data?.backups.filter(({ corrupt }) => !corrupt) ?? [];
  const [allowlist, setAllowlist] = useState(false);
  const submit = () => {
    if (as === "") return;
    clone.mutate(
      { name, as, ...chosen(world), allowlist, claimable: false },
      {
        onSuccess: () => {
          toast({ kind: "done", text: settings.cloned(isolate(as)) });
          void navigate({ to: `/servers/${as}`, ignoreBlocker: true });
        },
      },
    );
  };
  return (
    <Card title={settings.clone}>
      <Muted>{settings.cloneHelp}</Muted>
      <Form onSubmit={submit}>
        <Stack>
          <Failure error={clone.error} />
          <Limited>
            <Field
              label={settings.cloneName}
              name="clone-name"
              value={as}
              onChange={(typed) => setAs(typed.toLowerCase().trim())}
              description={create.nameHelp}
              maxLength={32}
            />
          </Limited>
          <Limited>
            <Select
              label={settings.cloneWorld}
              value={world}
              onChange={setWorld}
              options={[
                ...worlds.map((one) => [one, settings.cloneWorlds[one]] as const),
                ...usable.map(({ id, created_at, label }) => {
                  const when = formatDate(Date.parse(created_at), language);
                  return [id, settings.cloneBackup(when, visible(label ?? ""))] as const;
                }),
              ]}
            />
          </Limited>
          <Checkbox label={settings.cloneAllowlist} isChecked={allowlist} onChange={setAllowlist} />
          <Row>
            <Button type="submit" isPending={clone.isPending} whyNot={as === "" ? shell.fillIn : undefined}>
              {settings.cloneServer}
            </Button>
          </Row>
        </Stack>
      </Form>
    </Card>
  );
}
