import { allRights, presets, type Right } from "../access/presets.ts";
import { useAccess } from "../access/use-access.ts";
import { Choice } from "../ui/choice.tsx";
import { Choices } from "../ui/choices.tsx";
import { Field } from "../ui/field.tsx";
import { Limited, Muted, Stack } from "../ui/layout.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { useWords } from "../words/words.ts";
import { type Draft, isLimited, withPreset, withRight } from "./draft.ts";

type GrantFieldsProps = {
  draft: Draft;
  onChange: (draft: Draft) => void;
  /** The last day is over. */
  isLate: boolean;
};

/** Rights, their limits and their end; only what the reader has can be given on. */
export function GrantFields({ draft, onChange, isLate }: GrantFieldsProps) {
  const { sharing } = useWords();
  const { may } = useAccess();
  const names = (Object.keys(presets) as (keyof typeof presets)[]).filter((name) =>
    presets[name].rights.every(may),
  );
  const offered = allRights.filter((right) => right !== "see" && may(right));
  return (
    <Stack>
      <Choice
        label={sharing.preset}
        value={draft.preset}
        onChange={(preset) => onChange(withPreset(draft, preset))}
        options={[
          ...names.map((name) => [name, sharing.presets[name]] as const),
          ["own", sharing.presets.own] as const,
        ]}
      />
      <Choices
        label={sharing.rights}
        options={offered.map((right) => [right, sharing.rightWords[right]] as const)}
        isChosen={(right: Right) => draft.rights.includes(right)}
        onChange={(right, isChosen) => onChange(withRight(draft, right, isChosen))}
      />
      <Muted>{sharing.seeAlways}</Muted>
      <LimitFields draft={draft} onChange={onChange} />
      <Limited>
        <Field
          label={sharing.lastDay}
          name="last-day"
          type="date"
          description={sharing.lastDayHelp}
          value={draft.lastDay}
          onChange={(lastDay) => onChange({ ...draft, lastDay })}
          error={isLate ? sharing.lastDayOver : undefined}
        />
      </Limited>
    </Stack>
  );
}

const fields = [
  { key: "allowed", limit: "allow_commands" },
  { key: "denied", limit: "deny_commands" },
  { key: "readable", limit: "read_paths" },
  { key: "writable", limit: "write_paths" },
] as const;

/** Limits of the rights that are chosen. */
function LimitFields({ draft, onChange }: Pick<GrantFieldsProps, "draft" | "onChange">) {
  const { sharing } = useWords();
  return fields
    .filter(({ limit }) => isLimited(draft, limit))
    .map(({ key, limit }) => (
      <TextArea
        key={key}
        label={sharing.limitFields[limit]}
        name={limit}
        value={draft[key]}
        onChange={(text) => onChange({ ...draft, preset: "own", [key]: text })}
        description={sharing.limitHelp[limit]}
        rows={3}
      />
    ));
}
