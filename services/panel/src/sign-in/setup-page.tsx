import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { call } from "../api/call.ts";
import { useOperation } from "../api/query.ts";
import { meKey, useMe } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { isolate } from "../words/format.ts";
import { useFirstWords } from "../words/words.ts";
import { AddEmail } from "./add-email.tsx";
import { AddPasskey } from "./add-passkey.tsx";
import { StepForm } from "./form.tsx";
import { LinkPlayer } from "./link-player.tsx";
import { useAttempt } from "./use-attempt.ts";

/** The first owner's way from the setup link to an account with a way in. */
export function Page() {
  const { setup } = useFirstWords();
  const navigate = useNavigate();
  const me = useMe();
  const [token, setToken] = useState(() => new URLSearchParams(location.search).get("token"));
  // The token leaves the address at once, so that no history keeps it.
  useEffect(() => {
    if (token !== null) void navigate({ to: "/setup", replace: true });
  }, [token, navigate]);
  if (token !== null) return <Redeem token={token} onDone={() => setToken(null)} />;
  if (me.isPending) return <Loading />;
  if (me.data) return <WaysIn />;
  return (
    <PageFrame title={setup.missing} isNarrow>
      <Muted>{setup.missingHelp}</Muted>
    </PageFrame>
  );
}

/** Behind a button: scanners of mails follow links, and would spend this one. */
function Redeem({ token, onDone }: { token: string; onDone: () => void }) {
  const { setup } = useFirstWords();
  const client = useQueryClient();
  const attempt = useAttempt();
  const redeem = async () => {
    const isDone = await attempt.run(async () => {
      await call("accounts.redeemSetup", { token });
    });
    if (!isDone) return;
    await client.resetQueries({ queryKey: meKey });
    onDone();
  };
  const isSpent = attempt.code === "setup_token_invalid";
  return (
    <PageFrame title={isSpent ? setup.spent : setup.title} isNarrow>
      <StepForm onSubmit={() => void redeem()} problem={isSpent ? undefined : attempt.problem}>
        <Muted>{isSpent ? setup.spentHelp : setup.redeemHelp}</Muted>
        {!isSpent && (
          <Button kind="primary" type="submit" isPending={attempt.isRunning}>
            {setup.redeem}
          </Button>
        )}
      </StepForm>
    </PageFrame>
  );
}

function WaysIn() {
  const { setup } = useFirstWords();
  const status = useOperation("accounts.setupStatus", {});
  if (status.isPending) return <Loading />;
  if (!status.data) return <Failure error={status.error} retry={() => void status.refetch()} />;
  const { email, username, email_verified, has_passkey, setup_required } = status.data;
  const refresh = () => void status.refetch();
  return (
    <PageFrame title={setup_required ? setup.wayIn : setup.done} isNarrow>
      <Stack>
        {setup_required ? (
          <Muted>{setup.wayInHelp}</Muted>
        ) : (
          <Notice kind="done">{setup.doneHelp(isolate(email || username))}</Notice>
        )}
        {has_passkey ? <Notice kind="done">{setup.created}</Notice> : <AddPasskey onDone={refresh} />}
        {email_verified ? (
          <Notice kind="done">{setup.verified(isolate(email))}</Notice>
        ) : (
          <AddEmail onDone={refresh} />
        )}
        {!setup_required && (
          <>
            <LinkPlayer />
            <Row>
              <Link to="/" looks="primary">
                {setup.goOn}
              </Link>
            </Row>
          </>
        )}
      </Stack>
    </PageFrame>
  );
}
