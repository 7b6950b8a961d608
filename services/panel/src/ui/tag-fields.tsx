import type { ServerTag } from "@svc/proto";
import { useWords } from "../words/words.ts";
import { Field } from "./field.tsx";
import { Select } from "./select.tsx";
import { tagColours } from "./tags.tsx";

type NameProps = { value: string; onChange: (value: string) => void; autoFocus?: boolean };

export function TagNameField({ value, onChange, autoFocus = false }: NameProps) {
  const { settings } = useWords();
  return (
    <Field
      label={settings.tag}
      name="tag"
      value={value}
      onChange={onChange}
      maxLength={24}
      description={settings.tagHelp}
      autoFocus={autoFocus}
    />
  );
}

type Colour = ServerTag["colour"];
type ColourProps = { value: Colour; onChange: (value: Colour) => void };

export function TagColourSelect({ value, onChange }: ColourProps) {
  const { settings } = useWords();
  return (
    <Select
      label={settings.tagColour}
      value={value}
      onChange={onChange}
      options={tagColours.map((one) => [one, settings.tagColours[one]])}
    />
  );
}
