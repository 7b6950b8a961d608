import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { keyOf, useAction, useOperation } from "../api/query.ts";
import type { FullStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Choice } from "../ui/choice.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Limited, Row, Stack } from "../ui/layout.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { useWords } from "../words/words.ts";
import {
  changesOf,
  formOf,
  type IdleBounds,
  minutesOf,
  policies,
  type SettingsForm,
  staffBounds,
} from "./settings-form.ts";

type GeneralProps = { name: string; status: FullStatus; isStaff: boolean };

const changed = ["servers.viewStatus", "ownership.listMine", "servers.fleet"] as const;

/** Name, waking and idle stop, which the owner may change as well. */
export function General({ name, status, isStaff }: GeneralProps) {
  const words = useWords();
  const { settings } = words;
  const [edits, setEdits] = useState<Partial<SettingsForm>>({});
  const [isIdleWrong, setIdleWrong] = useState(false);
  const bounds = useIdleBounds(isStaff);
  const save = useSave({ name, isStaff }, () => setEdits({}));
  const form = { ...formOf(status), ...edits };
  const edit = (change: Partial<SettingsForm>) => {
    setIdleWrong(false);
    setEdits({ ...edits, ...change });
  };
  const changes = changesOf(status, form, bounds);
  const isUnchanged = changes !== "bad_idle_stop" && Object.keys(changes).length === 0;
  const submit = () => {
    setIdleWrong(changes === "bad_idle_stop");
    if (changes !== "bad_idle_stop" && !isUnchanged) save.send(changes);
  };
  const { error } = save;
  const isNameWrong = error?.code === "bad_display_name";
  const range = settings.idleRange(minutesOf(bounds.minSeconds), minutesOf(bounds.maxSeconds));
  const isOffOffered = bounds.mayBeOff || status.idleStopSeconds === 0;
  return (
    <Card title={settings.general}>
      <Form onSubmit={submit}>
        <Stack>
          {!isNameWrong && <Failure error={error} />}
          <Limited>
            <Field
              label={words.create.displayName}
              name="display-name"
              value={form.displayName}
              onChange={(displayName) => edit({ displayName })}
              description={words.create.displayNameHelp}
              error={isNameWrong ? faultWords(words, error) : undefined}
              maxLength={64}
            />
          </Limited>
          <Choice
            label={words.create.policy}
            value={form.policy}
            onChange={(policy) => edit({ policy })}
            options={policies.map((policy) => [policy, words.server.policies[policy]])}
          />
          {isOffOffered && (
            <Checkbox
              label={settings.stopsWhenEmpty}
              isChecked={form.stopsWhenEmpty}
              onChange={(stopsWhenEmpty) => edit({ stopsWhenEmpty })}
            />
          )}
          {form.stopsWhenEmpty && (
            <Limited>
              <Field
                label={settings.idleMinutes}
                name="idle-minutes"
                inputMode="numeric"
                value={form.idleMinutes}
                onChange={(idleMinutes) => edit({ idleMinutes })}
                description={range}
                error={isIdleWrong ? range : undefined}
              />
            </Limited>
          )}
          <Row>
            <Button
              type="submit"
              kind="primary"
              isPending={save.isPending}
              whyNot={isUnchanged ? words.reasons.unchanged : undefined}
            >
              {settings.save}
            </Button>
          </Row>
        </Stack>
      </Form>
    </Card>
  );
}

function useIdleBounds(isStaff: boolean): IdleBounds {
  const { data } = useOperation("ownership.readMyQuota", {}, { enabled: !isStaff });
  if (isStaff || !data) return staffBounds;
  const { min_seconds, max_seconds, may_be_off } = data.idle_stop;
  return { minSeconds: min_seconds, maxSeconds: max_seconds, mayBeOff: may_be_off };
}

type Changes = Exclude<ReturnType<typeof changesOf>, string>;

/** Saves; what was saved is on the page before it is read again. */
function useSave({ name, isStaff }: { name: string; isStaff: boolean }, onSaved: () => void) {
  const { settings } = useWords();
  const toast = useToast();
  const client = useQueryClient();
  const own = useAction("ownership.patchMine", changed);
  const staff = useAction("servers.patch", changed);
  const { isPending, error } = isStaff ? staff : own;
  const send = (changes: Changes) => {
    const onSuccess = () => {
      client.setQueryData<FullStatus>(
        keyOf("servers.viewStatus", { name }),
        (known) => known && { ...known, ...changes },
      );
      onSaved();
      toast({ kind: "done", text: settings.saved });
    };
    if (isStaff) staff.mutate({ name, ...changes }, { onSuccess });
    else own.mutate({ name, ...changes }, { onSuccess });
  };
  return { send, isPending, error };
}
