import { useAction } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { useToast } from "../ui/toasts.tsx";
import { faultWords } from "../words/faults.ts";
import { isolate } from "../words/format.ts";
import { useWords } from "../words/words.ts";

/** Takes a server that has no owner. */
export function Claim({ name }: { name: string }) {
  const words = useWords();
  const toast = useToast();
  const claim = useAction("ownership.claim", ["ownership.listMine", "servers.viewStatus"]);
  return (
    <Button
      isPending={claim.isPending}
      label={`${words.server.claim} ${name}`}
      onPress={() =>
        claim.mutate(
          { name },
          {
            onSuccess: () => toast({ kind: "done", text: words.server.claimed(isolate(name)) }),
            onError: (error) => toast({ kind: "failed", text: faultWords(words, error) }),
          },
        )
      }
    >
      {words.server.claim}
    </Button>
  );
}
