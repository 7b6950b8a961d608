import { useState } from "react";
import { useAction } from "../api/query.ts";
import { WhoPlays } from "../server/stop-notice.tsx";
import type { FullStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Columns, Muted, Row, Stack } from "../ui/layout.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { hardwareChanges, isQuantity } from "./hardware-form.ts";

/** Memory and processor; a change restarts a server that is running. */
export function Hardware({ name, status }: { name: string; status: FullStatus }) {
  const { reasons, settings, server } = useWords();
  const toast = useToast();
  const save = useAction("servers.patch", ["servers.viewStatus", "servers.fleet"]);
  const { memory = "", cpu = "" } = status;
  const before = { memory, cpu };
  const [edits, setEdits] = useState<Partial<typeof before>>({});
  const form = { ...before, ...edits };
  const changes = hardwareChanges(before, form);
  const isMemoryWrong = !isQuantity(form.memory) && changes?.memory !== undefined;
  const isCpuWrong = form.cpu !== "" && !isQuantity(form.cpu);
  const [isAsking, setAsking] = useState(false);
  const act = () =>
    save.mutate({ name, ...changes }, { onSuccess: () => toast({ kind: "done", text: settings.saved }) });
  const submit = () => {
    if (!changes || isMemoryWrong || isCpuWrong) return;
    if (status.playersOnline > 0) setAsking(true);
    else act();
  };
  return (
    <Card title={settings.hardware}>
      <Muted>{settings.hardwareHelp}</Muted>
      <Form onSubmit={submit}>
        <Stack>
          <Failure error={save.error} />
          <Columns>
            <Field
              label={server.memory}
              name="memory"
              value={form.memory}
              onChange={(typed) => setEdits({ ...edits, memory: typed.trim() })}
              description={settings.memoryHelp}
              error={isMemoryWrong ? settings.quantityWrong : undefined}
            />
            <Field
              label={settings.cpu}
              name="cpu"
              value={form.cpu}
              onChange={(typed) => setEdits({ ...edits, cpu: typed.trim() })}
              description={settings.cpuHelp}
              error={isCpuWrong ? settings.quantityWrong : undefined}
            />
          </Columns>
          <Row>
            <Button type="submit" isPending={save.isPending} whyNot={changes ? undefined : reasons.unchanged}>
              {settings.saveHardware}
            </Button>
          </Row>
        </Stack>
      </Form>
      <Confirm
        title={settings.hardwareTitle(isolate(name))}
        action={settings.hardwareAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
      >
        <p>{settings.hardwareConfirm(status.playersOnline)}</p>
        {isAsking && <WhoPlays name={name} />}
      </Confirm>
    </Card>
  );
}
