import type { Output } from "../api/operations.ts";
import { minutesOf } from "../settings/settings-form.ts";
import { formatQuantity } from "../words/format.ts";
import { useTemplateWords } from "../words/template-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

type Offered = Output<"serverTemplates.listOffered">["templates"][number];
type FactsProps = {
  [K in "image" | "memory" | "storage" | "cpu" | "autostartPolicy" | "idleStopSeconds"]?:
    | Offered[K]
    | undefined;
};

/** What a server of a template gets, in two lines. */
export function TemplateFacts(props: FactsProps) {
  const { image, memory, storage, cpu, autostartPolicy, idleStopSeconds: idle } = props;
  const { facts } = useTemplateWords();
  const { server } = useWords();
  const said = [
    memory !== undefined && facts.memory(formatQuantity(memory)),
    cpu !== undefined && facts.cpu(cpu),
    storage !== undefined && facts.disk(formatQuantity(storage)),
    autostartPolicy !== undefined && server.policies[autostartPolicy],
    idle !== undefined && (idle === 0 ? facts.neverStops : facts.idle(minutesOf(idle))),
  ].filter((fact) => fact !== false);
  return (
    <>
      {image !== undefined && (
        <div>
          <bdi>{visible(image)}</bdi>
        </div>
      )}
      {said.length > 0 && <div>{visible(said.join(" · "))}</div>}
    </>
  );
}
