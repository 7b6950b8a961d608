import { useState } from "react";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Row, Stack } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useWords } from "../words/words.ts";
import { badFieldsOf, type Change } from "./rights.ts";
import type { RightsChange } from "./use-change.ts";

const empty = { node: "", value: "allow", world: "" } as const;
type Draft = { node: string; value: "allow" | "deny"; world: string };

function changeOf({ node, value, world }: Draft): Change {
  return {
    ...{ kind: "permission", action: "set", node: node.trim(), value: value === "allow" },
    ...(world.trim() !== "" && { world: world.trim() }),
  };
}

/** Allows or denies one thing, everywhere or in one world. */
export function AddPermission({ change }: { change: RightsChange }) {
  const { luckPerms, shell } = useWords();
  const [draft, setDraft] = useState<Draft>(empty);
  const [wrong, setWrong] = useState<readonly string[]>([]);
  const edit = (part: Partial<Draft>) => setDraft({ ...draft, ...part });
  const set = async () => {
    const wanted = changeOf(draft);
    const bad = badFieldsOf(wanted);
    setWrong(bad);
    if (bad.length === 0 && (await change.run(wanted))) setDraft(empty);
  };
  return (
    <Form onSubmit={() => void set()}>
      <Stack isTight>
        <Field
          label={luckPerms.addPermission}
          name="node"
          value={draft.node}
          onChange={(node) => edit({ node })}
          description={luckPerms.nodeHelp}
          error={wrong.includes("node") ? luckPerms.badNode : undefined}
        />
        <Row isLow>
          <Select
            label={luckPerms.value}
            value={draft.value}
            onChange={(value) => edit({ value })}
            options={[
              ["allow", luckPerms.allow],
              ["deny", luckPerms.deny],
            ]}
          />
          <Field
            label={luckPerms.world}
            name="world"
            value={draft.world}
            onChange={(world) => edit({ world })}
            error={wrong.includes("world") ? luckPerms.badWorld : undefined}
          />
          <Button
            type="submit"
            isPending={change.isPending}
            whyNot={draft.node.trim() === "" ? shell.fillIn : undefined}
          >
            {luckPerms.set}
          </Button>
        </Row>
      </Stack>
    </Form>
  );
}
