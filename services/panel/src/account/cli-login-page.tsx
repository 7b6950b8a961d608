import { useState } from "react";
import { call } from "../api/call.ts";
import { host } from "../api/hosts.ts";
import type { Output } from "../api/operations.ts";
import { useMe } from "../api/session.ts";
import { GameCodeField } from "../sign-in/code-field.tsx";
import { StepForm } from "../sign-in/form.tsx";
import { useAttempt } from "../sign-in/use-attempt.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Card, Facts, Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { Notice } from "../ui/notice.tsx";
import { Page as PageFrame } from "../ui/page.tsx";
import { Time } from "../ui/time.tsx";
import { formatClock, isolate } from "../words/format.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

const command = `npm run svc -- account login --browser${host === "operator" ? " --host operator" : ""}`;

type Found = { code: string; login: Output<"cliLogins.read"> };
type Decision = "approve" | "refuse";

/** Approves a command line that shows a code. The code is typed, never taken from the address: no link can bring one. */
export function Page() {
  const { cliLogin } = useWords();
  const [found, setFound] = useState<Found>();
  const [decided, setDecided] = useState<Decision>();
  const again = () => {
    setFound(undefined);
    setDecided(undefined);
  };
  return (
    <PageFrame title={cliLogin.title} isNarrow>
      {decided !== undefined && <Decided decision={decided} onAgain={again} />}
      {decided === undefined && found && <Review found={found} onDecided={setDecided} onAgain={again} />}
      {decided === undefined && !found && <CodeStep onFound={setFound} />}
    </PageFrame>
  );
}

function CodeStep({ onFound }: { onFound: (found: Found) => void }) {
  const { cliLogin, shell } = useWords();
  const attempt = useAttempt();
  const [code, setCode] = useState("");
  const find = async () => {
    await attempt.run(async () => onFound({ code, login: await call("cliLogins.read", { code }) }));
  };
  return (
    <StepForm onSubmit={() => void find()} problem={attempt.problem}>
      <Muted>{cliLogin.help}</Muted>
      <Row>
        <code>{command}</code>
        <CopyButton text={command} what={command} />
      </Row>
      <GameCodeField label={cliLogin.code} name="cli-code" value={code} onChange={setCode} autoFocus />
      <Row>
        <Button
          type="submit"
          kind="primary"
          isPending={attempt.isRunning}
          whyNot={code.length < 8 ? shell.fillIn : undefined}
        >
          {cliLogin.find}
        </Button>
      </Row>
    </StepForm>
  );
}

type ReviewProps = { found: Found; onDecided: (decision: Decision) => void; onAgain: () => void };

function Review({ found: { code, login }, onDecided, onAgain }: ReviewProps) {
  const { cliLogin, reasons } = useWords();
  const attempt = useAttempt();
  const left = useCountdown(Date.parse(login.expires_at));
  const whyNot = left === 0 ? reasons.expired : undefined;
  const decide = async (decision: Decision) => {
    const isDone = await attempt.run(async () => {
      await call("cliLogins.decide", { code, decision });
    });
    if (isDone) onDecided(decision);
  };
  return (
    <Card title={cliLogin.asks}>
      <StepForm onSubmit={() => undefined} problem={attempt.problem}>
        <LoginFacts login={login} left={left} />
        {!login.same_network && <Notice kind="failed">{cliLogin.otherNetwork}</Notice>}
        <Notice kind="waiting">{cliLogin.warning}</Notice>
        <Row>
          <Button
            kind="primary"
            isPending={attempt.isRunning}
            whyNot={whyNot}
            onPress={() => void decide("approve")}
          >
            {cliLogin.approve}
          </Button>
          <Button isPending={attempt.isRunning} whyNot={whyNot} onPress={() => void decide("refuse")}>
            {cliLogin.refuse}
          </Button>
          {(left === 0 || attempt.problem !== undefined) && (
            <Button kind="quiet" onPress={onAgain}>
              {cliLogin.another}
            </Button>
          )}
        </Row>
      </StepForm>
    </Card>
  );
}

function LoginFacts({ login, left }: { login: Found["login"]; left: number }) {
  const { cliLogin } = useWords();
  const me = useMe().data;
  const { client_ip: address, user_agent: program } = login;
  return (
    <Facts
      rows={[
        [cliLogin.account, <bdi key="account">{me?.email || me?.username}</bdi>],
        [cliLogin.program, <bdi key="program">{visible(program || cliLogin.unknownProgram)}</bdi>],
        [
          cliLogin.address,
          login.same_network ? cliLogin.sameNetwork(isolate(address)) : <bdi key="address">{address}</bdi>,
        ],
        [cliLogin.since, <Time key="since" at={login.created_at} />],
        [cliLogin.expires, formatClock(left)],
      ]}
    />
  );
}

function Decided({ decision, onAgain }: { decision: Decision; onAgain: () => void }) {
  const { cliLogin } = useWords();
  return (
    <Stack>
      {decision === "approve" ? (
        <Notice kind="done" isAlert>
          <p>{cliLogin.approved}</p>
          <Muted>{cliLogin.approvedHelp}</Muted>
        </Notice>
      ) : (
        <Notice isAlert>{cliLogin.refused}</Notice>
      )}
      <Row>
        {decision === "approve" && (
          <Link to="/account" looks="button">
            {cliLogin.sessions}
          </Link>
        )}
        <Button onPress={onAgain}>{cliLogin.another}</Button>
      </Row>
    </Stack>
  );
}
