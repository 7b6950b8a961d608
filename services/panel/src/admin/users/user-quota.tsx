import { useState } from "react";
import { useAction, useOperation } from "../../api/query.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Field } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card, Columns, Muted, Row, Stack } from "../../ui/layout.tsx";
import { Loading } from "../../ui/loading.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useWords } from "../../words/words.ts";
import { formOf, type Limit, limits, parseForm, type Quota } from "./quota-form.ts";

/** What a user may own. */
export function UserQuota({ id }: { id: string }) {
  const { account } = useWords();
  const { data, error, refetch } = useOperation("quotas.read", { id });
  return (
    <Card title={account.quota}>
      {data ? (
        <QuotaFields key={JSON.stringify(data)} quota={data} />
      ) : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Card>
  );
}

function QuotaFields({ quota }: { quota: Quota }) {
  const { users, faults } = useWords();
  const toast = useToast();
  const write = useAction("quotas.write", ["quotas.read"]);
  const [form, setForm] = useState(() => formOf(quota));
  const [faulty, setFaulty] = useState<ReadonlySet<Limit>>(new Set());
  const submit = () => {
    const parsed = parseForm(form);
    setFaulty("faulty" in parsed ? parsed.faulty : new Set());
    if ("faulty" in parsed || write.isPending) return;
    write.mutate(
      { id: quota.user_id, ...parsed.limits },
      { onSuccess: () => toast({ kind: "done", text: users.quotaSaved }) },
    );
  };
  return (
    <Form onSubmit={submit}>
      <Stack>
        <Failure error={write.error} />
        <Columns>
          {limits.map((limit) => (
            <Field
              key={limit}
              label={users.limits[limit]}
              name={limit}
              inputMode="numeric"
              placeholder={users.noLimit}
              value={form[limit]}
              onChange={(typed) => setForm({ ...form, [limit]: typed })}
              error={faulty.has(limit) ? faults.invalid_quota : undefined}
              maxLength={16}
            />
          ))}
        </Columns>
        <Muted>{users.quotaHelp}</Muted>
        <Row>
          <Button type="submit" isPending={write.isPending}>
            {users.quotaSave}
          </Button>
        </Row>
      </Stack>
    </Form>
  );
}
