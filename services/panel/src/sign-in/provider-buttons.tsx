import { useState } from "react";
import { call } from "../api/call.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Notice } from "../ui/notice.tsx";
import { useProviderWords } from "../words/provider-words.ts";
import { useLanguage } from "../words/words.ts";
import { leaveForProvider } from "./provider-visit.ts";
import { useAttempt } from "./use-attempt.ts";

/** A button for each OpenID provider of this installation; nothing where it has none. `next`: where to go afterwards. */
export function ProviderButtons({ next }: { next: string }) {
  const words = useProviderWords();
  const { language } = useLanguage();
  const attempt = useAttempt();
  const [chosen, setChosen] = useState("");
  const providers = useOperation("oidc.listProviders", {}).data?.providers ?? [];
  if (providers.length === 0) return null;
  const leave = async (provider: string) => {
    setChosen(provider);
    await attempt.run(async () => {
      leaveForProvider(await call("oidc.begin", { provider }), { isLink: false, next });
    });
  };
  return (
    <>
      {attempt.problem !== undefined && (
        <Notice kind="failed" isAlert>
          {attempt.problem}
        </Notice>
      )}
      {providers.map(({ id, name }) => (
        <Button key={id} isPending={attempt.isRunning && chosen === id} onPress={() => void leave(id)}>
          {words.offer(language === "en" ? name.en : name.zh)}
        </Button>
      ))}
    </>
  );
}
