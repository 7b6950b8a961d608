import { useState } from "react";
import { useAccess } from "../access/use-access.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row, Stack } from "../ui/layout.tsx";
import { List } from "../ui/list.tsx";
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
  const [isAdding, setAdding] = useState(false);
  if (!data) return error ? <Failure error={error} retry={() => void refetch()} /> : <Loading />;
  const { webhooks, limit } = data;
  const isFull = webhooks.length >= limit;
  return (
    <Stack>
      {error && <Failure error={error} retry={() => void refetch()} />}
      <Row isSpread>
        <Muted>{isPlatform ? words.aboutPlatform : words.about}</Muted>
        {mayAdd && (
          <Button kind="primary" isDisabled={isFull} onPress={() => setAdding(true)}>
            {words.add}
          </Button>
        )}
      </Row>
      {isFull && <Muted>{words.full(limit)}</Muted>}
      <Card title={shell.webhooks}>
        {webhooks.length === 0 && <Muted>{words.none}</Muted>}
        {webhooks.length > 0 && (
          <List label={shell.webhooks}>
            {webhooks.map((webhook) => (
              <WebhookItem key={webhook.id} place={place} webhook={webhook} mayChange={mayAdd} />
            ))}
          </List>
        )}
      </Card>
      {isAdding && <WebhookDialog place={place} onClose={() => setAdding(false)} />}
    </Stack>
  );
}
