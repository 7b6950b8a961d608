import { useAccess } from "../access/use-access.ts";
import { Failure } from "../ui/failure.tsx";
import { Stack } from "../ui/layout.tsx";
import { ListSection } from "../ui/list-section.tsx";
import { Loading } from "../ui/loading.tsx";
import { useWebhookWords } from "../words/webhook-words.ts";
import { useWords } from "../words/words.ts";
import { type Place, useWebhooks } from "./use-webhooks.ts";
import { WebhookDialog } from "./webhook-dialog.tsx";
import { WebhookItem } from "./webhook-item.tsx";

/** All webhooks of a place; staff see those of a server of somebody else and delete them. */
export function Webhooks({ place }: { place: Place }) {
  const words = useWebhookWords();
  const { shell } = useWords();
  const isPlatform = place === "platform";
  const mayAdd = useAccess().as !== "staff" || isPlatform;
  const { data, error, refetch } = useWebhooks(place);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { webhooks, limit } = data;
  const add = {
    word: words.add,
    whyNot: webhooks.length >= limit ? words.full(limit) : undefined,
    dialog: (onClose: () => void) => <WebhookDialog place={place} onClose={onClose} />,
  };
  return (
    <Stack>
      <Failure error={error} retry={() => void refetch()} />
      <ListSection
        label={shell.webhooks}
        about={isPlatform ? words.aboutPlatform : words.about}
        items={webhooks}
        none={mayAdd ? words.none : words.noneOfOther}
        {...(mayAdd && { add })}
      >
        {(webhook) => <WebhookItem key={webhook.id} place={place} webhook={webhook} mayChange={mayAdd} />}
      </ListSection>
    </Stack>
  );
}
