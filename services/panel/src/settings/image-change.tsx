import { useState } from "react";
import { useAction, useOperation } from "../api/query.ts";
import type { FullStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Copied } from "../ui/copied.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Facts, Muted, Row, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Select } from "../ui/select.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

/** The image of a server; another one may not read the world as it is, so the name is typed. */
export function ImageChange({ name, status }: { name: string; status: FullStatus }) {
  const { reasons, settings, server } = useWords();
  const toast = useToast();
  const list = useOperation("images.listImages", {});
  const change = useAction("servers.patch", ["servers.viewStatus", "servers.fleet"]);
  const [chosen, setChosen] = useState("");
  const [isAsking, setAsking] = useState(false);
  const current = status.image ?? "";
  const offered = (list.data?.items ?? [])
    .filter(({ enabled, image_ref }) => enabled && image_ref !== current)
    .map(({ image_ref }) => image_ref);
  const act = () =>
    change.mutate(
      { name, image: chosen, confirmImageChange: true },
      {
        onSuccess: () => {
          setChosen("");
          toast({ kind: "done", text: settings.imageChanged });
        },
      },
    );
  return (
    <Card title={server.image}>
      <Facts rows={[[settings.imageNow, <Copied key="now" text={current} what={server.image} />]]} />
      <Failure error={change.error} />
      {!list.data &&
        (list.error ? <Failure error={list.error} retry={() => void list.refetch()} /> : <Loading />)}
      {list.data && offered.length === 0 && <Muted>{settings.noOtherImage}</Muted>}
      {offered.length > 0 && (
        <Stack>
          <Select
            label={settings.imageNew}
            value={chosen}
            onChange={setChosen}
            options={[["", settings.choose] as const, ...offered.map((ref) => [ref, ref] as const)]}
          />
          <Row>
            <Button
              kind="danger"
              isPending={change.isPending}
              whyNot={chosen === "" ? reasons.choose : undefined}
              onPress={() => setAsking(true)}
            >
              {settings.changeImage}
            </Button>
          </Row>
        </Stack>
      )}
      <Confirm
        title={settings.changeImageTitle(isolate(name))}
        action={settings.changeImage}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={act}
        typed={name}
      >
        <p>{settings.changeImageHelp}</p>
        <code>{chosen}</code>
      </Confirm>
    </Card>
  );
}
