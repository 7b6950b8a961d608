import { useState } from "react";
import { call } from "../api/call.ts";
import type { Output } from "../api/operations.ts";
import { useAction, useOperation } from "../api/query.ts";
import { leaveForProvider } from "../sign-in/provider-visit.ts";
import { useAttempt } from "../sign-in/use-attempt.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Muted, Row } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Notice } from "../ui/notice.tsx";
import { Time } from "../ui/time.tsx";
import { isolate } from "../words/format.ts";
import { useProviderWords } from "../words/provider-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage } from "../words/words.ts";

type Identity = Output<"oidc.listOwn">["identities"][number];

/** The caller's identities at OpenID providers; nothing where there is neither a provider nor an identity. */
export function Providers() {
  const words = useProviderWords();
  const { language } = useLanguage();
  const attempt = useAttempt();
  const providers = useOperation("oidc.listProviders", {}).data?.providers ?? [];
  const { data, error, refetch } = useOperation("oidc.listOwn", {});
  const identities = data?.identities ?? [];
  if (providers.length === 0 && identities.length === 0) return null;
  const link = (provider: string) =>
    attempt.run(async () => {
      leaveForProvider(await call("oidc.beginLink", { provider }), { isLink: true, next: "/account" });
    });
  return (
    <Card title={words.title}>
      {!data && error && <Failure error={error} retry={() => void refetch()} />}
      {data && identities.length === 0 && <Muted>{words.none}</Muted>}
      {identities.length > 0 && (
        <List label={words.title}>
          {identities.map((identity) => (
            <IdentityItem key={identity.id} identity={identity} />
          ))}
        </List>
      )}
      {attempt.problem !== undefined && (
        <Notice kind="failed" isAlert>
          {attempt.problem}
        </Notice>
      )}
      <Row>
        {providers.map(({ id, name }) => (
          <Button key={id} isPending={attempt.isRunning} onPress={() => void link(id)}>
            {words.link(language === "en" ? name.en : name.zh)}
          </Button>
        ))}
      </Row>
    </Card>
  );
}

function IdentityItem({ identity }: { identity: Identity }) {
  const words = useProviderWords();
  const { language } = useLanguage();
  const unlink = useAction("oidc.unlink", ["oidc.listOwn", "accounts.listSessions"]);
  const [isAsking, setAsking] = useState(false);
  const { id, provider, issuer, label, created_at, last_used_at } = identity;
  const name = provider ? provider.name[language === "en" ? "en" : "zh"] : words.gone(issuer);
  return (
    <>
      <ListItem
        title={<bdi>{visible(label === "" ? name : `${name}: ${label}`)}</bdi>}
        details={
          <>
            {words.linkedSince} <Time at={created_at} /> ·{" "}
            {last_used_at === undefined ? (
              words.unused
            ) : (
              <>
                {words.lastUsed} <Time at={last_used_at} />
              </>
            )}
          </>
        }
        actions={
          <Button
            isPending={unlink.isPending}
            label={words.unlinkOf(isolate(name))}
            onPress={() => setAsking(true)}
          >
            {words.unlink}
          </Button>
        }
      />
      {unlink.error && <Failure error={unlink.error} />}
      <Confirm
        title={words.unlinkTitle(isolate(name))}
        action={words.unlinkAction}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => unlink.mutate({ id })}
      >
        <p>{words.unlinkHelp}</p>
      </Confirm>
    </>
  );
}
