import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Choice } from "../ui/choice.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Limited, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { useToast } from "../ui/toasts.tsx";
import { useWords } from "../words/words.ts";

type Policy = Output<"restartPolicies.read">;

const afterCrash = ["restart", "stop"] as const;
const whenHung = ["restart", "restart_if_silent", "leave"] as const;
const minutes = { least: 5, most: 120 };

/** What svc does by itself when the server crashes or hangs. */
export function RestartPolicy({ name }: { name: string }) {
  const { data, error, refetch } = useOperation("restartPolicies.read", { name });
  const { settings } = useWords();
  return (
    <Card title={settings.restartPolicy}>
      {data ? (
        <PolicyForm key={JSON.stringify(data)} name={name} saved={data} />
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Card>
  );
}

function PolicyForm({ name, saved }: { name: string; saved: Policy }) {
  const { reasons, settings } = useWords();
  const toast = useToast();
  const write = useAction("restartPolicies.write", ["restartPolicies.read"]);
  const [form, setForm] = useState({ ...saved, silent_minutes: String(saved.silent_minutes) });
  const [isWrong, setWrong] = useState(false);
  const silent = /^\d{1,3}$/.test(form.silent_minutes) ? Number(form.silent_minutes) : Number.NaN;
  const range = settings.silentRange(minutes.least, minutes.most);
  const wanted = { ...form, silent_minutes: silent };
  const isSame = (Object.keys(saved) as (keyof Policy)[]).every((key) => saved[key] === wanted[key]);
  const submit = () => {
    const fits = silent >= minutes.least && silent <= minutes.most;
    setWrong(!fits);
    if (!fits) return;
    write.mutate({ name, ...wanted }, { onSuccess: () => toast({ kind: "done", text: settings.saved }) });
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        <Failure error={write.error} />
        <Choice
          label={settings.afterCrash}
          value={form.after_crash}
          onChange={(after_crash) => setForm({ ...form, after_crash })}
          options={afterCrash.map((choice) => [choice, settings.afterCrashChoices[choice]])}
        />
        <Choice
          label={settings.whenHung}
          value={form.when_hung}
          onChange={(when_hung) => setForm({ ...form, when_hung })}
          options={whenHung.map((choice) => [choice, settings.whenHungChoices[choice]])}
        />
        {form.when_hung === "restart_if_silent" && (
          <Limited>
            <Field
              label={settings.silentMinutes}
              name="silent-minutes"
              inputMode="numeric"
              value={form.silent_minutes}
              onChange={(silent_minutes) => setForm({ ...form, silent_minutes })}
              description={range}
              error={isWrong ? range : undefined}
            />
          </Limited>
        )}
        <Row>
          <Button type="submit" isPending={write.isPending} whyNot={isSame ? reasons.unchanged : undefined}>
            {settings.saveRestartPolicy}
          </Button>
        </Row>
      </Stack>
    </Form>
  );
}
