import type { ServerTag } from "@svc/proto";
import { useState } from "react";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Muted, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { TagColourSelect, TagNameField } from "../ui/tag-fields.tsx";
import { useWords } from "../words/words.ts";
import { type BulkAct, type TagAct, tagActs } from "./bulk.ts";
import { tagNameOf } from "./tag-change.ts";

type DialogProps = { count: number; onClose: () => void; onSubmit: (act: BulkAct) => void };

/** Asks for the tag that the chosen servers get or lose. */
export function BulkTagDialog({ count, onClose, onSubmit }: DialogProps) {
  const { fleet, reasons } = useWords();
  const [kind, setKind] = useState<TagAct>("tag");
  const [text, setText] = useState("");
  const [colour, setColour] = useState<ServerTag["colour"]>("grey");
  const name = tagNameOf(text);
  const submit = () => {
    if (name !== "") onSubmit({ kind, tag: { name, colour } });
  };
  return (
    <FormDialog
      title={fleet.tagsOf(count)}
      action={fleet.tagActions[kind](count)}
      isPending={false}
      whyNot={name === "" ? reasons.choose : undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Stack>
        <Select
          label={fleet.tagWhat}
          value={kind}
          onChange={setKind}
          options={tagActs.map((act) => [act, fleet.tagActs[act]])}
        />
        <TagNameField value={text} onChange={setText} autoFocus />
        {kind === "tag" && <TagColourSelect value={colour} onChange={setColour} />}
        <Muted>{fleet.keepOpen}</Muted>
      </Stack>
    </FormDialog>
  );
}
