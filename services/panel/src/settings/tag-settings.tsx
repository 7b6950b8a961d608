import { useState } from "react";
import { useAction } from "../api/query.ts";
import type { FullStatus } from "../server/use-server.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Limited, Muted, Row, Stack } from "../ui/layout.tsx";
import { TagColourSelect, TagNameField } from "../ui/tag-fields.tsx";
import { Tags } from "../ui/tags.tsx";
import { useToast } from "../ui/toasts.tsx";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

type Tag = NonNullable<FullStatus["tags"]>[number];

const changed = ["servers.viewStatus", "ownership.listMine", "servers.fleet"] as const;
const most = 8;

/** Words with colours by which the server is found in lists. */
export function TagSettings({ name, status }: { name: string; status: FullStatus }) {
  const { reasons, settings } = useWords();
  const toast = useToast();
  const write = useAction("tags.write", changed);
  const [text, setText] = useState("");
  const [colour, setColour] = useState<Tag["colour"]>("grey");
  const tags = status.tags ?? [];
  const typed = text.trim().toLowerCase();
  const save = (next: readonly Tag[], onSaved?: () => void) =>
    write.mutate(
      { name, tags: [...next] },
      {
        onSuccess: () => {
          onSaved?.();
          toast({ kind: "done", text: settings.saved });
        },
      },
    );
  const add = () => {
    if (typed === "" || write.isPending) return;
    const others = tags.filter((tag) => tag.name !== typed);
    save([...others, { name: typed, colour }], () => setText(""));
  };
  const isFull = tags.length >= most && !tags.some((tag) => tag.name === typed);
  const whyNot = isFull ? settings.tagsFull(most) : typed === "" ? reasons.choose : undefined;
  return (
    <Card title={settings.tags}>
      <Muted>{settings.tagsHelp}</Muted>
      {tags.map((tag) => (
        <Row key={tag.name} isSpread>
          <Tags label={settings.tags} of={[tag]} />
          <Button
            label={settings.removeTag(isolate(tag.name))}
            isPending={write.isPending}
            onPress={() => save(tags.filter((other) => other !== tag))}
          >
            {settings.removeTagShort}
          </Button>
        </Row>
      ))}
      <Form onSubmit={add}>
        <Stack>
          <Failure error={write.error} />
          <Limited>
            <TagNameField value={text} onChange={setText} />
          </Limited>
          <Limited>
            <TagColourSelect value={colour} onChange={setColour} />
          </Limited>
          <Row>
            <Button type="submit" isPending={write.isPending} whyNot={whyNot}>
              {settings.addTag}
            </Button>
          </Row>
        </Stack>
      </Form>
    </Card>
  );
}
