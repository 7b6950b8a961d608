import { useOperation } from "../api/query.ts";
import { isQuantity } from "../settings/hardware-form.ts";
import { targetsOf } from "../settings/move-steps.ts";
import { Field } from "../ui/field.tsx";
import { Columns } from "../ui/layout.tsx";
import { Select } from "../ui/select.tsx";
import { useWords } from "../words/words.ts";

/** What a new server runs on; what is empty is left to the platform. */
export type HardwareChoice = { image: string; memory: string; storage: string; nodeName: string };

export const platformsChoice: HardwareChoice = { image: "", memory: "", storage: "", nodeName: "" };

/** Whether an amount is left to the platform or one that the cluster can read. */
export function isAmount(text: string): boolean {
  return text === "" || isQuantity(text);
}

type HardwareFieldsProps = {
  choice: HardwareChoice;
  choose: (change: Partial<HardwareChoice>) => void;
  errorOf: (field: string) => string | undefined;
};

export function HardwareFields({ choice, choose, errorOf }: HardwareFieldsProps) {
  const { create, server, settings } = useWords();
  const images = useOperation("images.listImages", {});
  const suggested = useOperation("imageChoices.suggestImage", {}).data;
  const nodes = useOperation("nodes.listNodes", {});
  const allowed = (images.data?.items ?? []).filter(({ enabled }) => enabled);
  const targets = targetsOf(nodes.data?.nodes ?? [], undefined);
  const wrong = (amount: string) => (isAmount(amount) ? undefined : settings.quantityWrong);
  return (
    <>
      <Field
        label={create.image}
        name="image"
        value={choice.image}
        onChange={(typed) => choose({ image: typed.trim() })}
        description={
          suggested?.version !== undefined && suggested.players > 0
            ? create.imageChosen(suggested.version, suggested.players, suggested.of)
            : create.imageHelp
        }
        error={errorOf("image")}
        suggestions={allowed.map(({ image_ref }) => image_ref)}
      />
      <Columns>
        <Field
          label={server.memory}
          name="memory"
          value={choice.memory}
          onChange={(typed) => choose({ memory: typed.trim() })}
          description={create.memoryHelp}
          error={wrong(choice.memory)}
        />
        <Field
          label={server.disk}
          name="storage"
          value={choice.storage}
          onChange={(typed) => choose({ storage: typed.trim() })}
          description={create.diskHelp}
          error={wrong(choice.storage)}
        />
      </Columns>
      {targets.length > 1 && (
        <Select
          label={server.node}
          value={choice.nodeName}
          onChange={(nodeName) => choose({ nodeName })}
          options={[["", create.bestNode] as const, ...targets.map((node) => [node, node] as const)]}
        />
      )}
    </>
  );
}
