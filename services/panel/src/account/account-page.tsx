import { useMe } from "../api/session.ts";
import { Columns, Stack } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { useWords } from "../words/words.ts";
import { ApiTokens } from "./api-tokens.tsx";
import { Passkeys } from "./passkeys.tsx";
import { Players } from "./players.tsx";
import { Profile } from "./profile.tsx";
import { Providers } from "./providers.tsx";
import { Quota } from "./quota.tsx";
import { ServerTransfer } from "./server-transfer.tsx";
import { Sessions } from "./sessions.tsx";
import { SshKeys } from "./ssh-keys.tsx";

/** The caller's own account: ways in, sessions, players and what the account may own. */
export function Page() {
  const { account } = useWords();
  const me = useMe().data;
  return (
    <PageFrame title={account.title} isBusy={!me}>
      {me ? (
        <Stack>
          <Columns isWide>
            <Profile me={me} />
            <Quota />
          </Columns>
          <Passkeys />
          <Providers />
          <Players />
          <Sessions />
          <ApiTokens />
          <SshKeys />
          <ServerTransfer me={me} />
        </Stack>
      ) : (
        <Loading />
      )}
    </PageFrame>
  );
}
