import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api/call.ts";
import { poll, useOperation } from "../api/query.ts";
import type { Me } from "../api/session.ts";
import { GameCodeField, MailedCodeField } from "../sign-in/code-field.tsx";
import { StepForm } from "../sign-in/form.tsx";
import { confirmTransferWithPasskey } from "../sign-in/passkey.ts";
import { useAttempt } from "../sign-in/use-attempt.ts";
import { Button } from "../ui/button.tsx";
import { CopyButton } from "../ui/copy-button.tsx";
import { useCountdown } from "../ui/countdown.ts";
import { Field } from "../ui/field.tsx";
import { Card, Columns, Muted, Row } from "../ui/layout.tsx";
import { Notice } from "../ui/notice.tsx";
import { formatClock } from "../words/format.ts";
import { useWords } from "../words/words.ts";
import { decideStep, type TransferStep } from "./transfer-step.ts";

const command = "/felis migrate";

/** Both sides of a transfer of all servers between two accounts. */
export function ServerTransfer({ me }: { me: Me }) {
  return (
    <Columns isWide>
      {!me.is_owner && <Give />}
      <Take />
    </Columns>
  );
}

function Give() {
  const { account } = useWords();
  const client = useQueryClient();
  const { data } = useOperation("accountMigrations.read", {}, { every: poll.status });
  const [code, setCode] = useState<string>();
  const again = () => void client.invalidateQueries({ queryKey: ["accountMigrations.read"] });
  const step = data && decideStep(data);
  return (
    <Card title={account.give}>
      <Muted>{account.giveHelp}</Muted>
      {step?.at === "start" && (
        <>
          <p>{account.giveStart}</p>
          <Row>
            <code>{command}</code>
            <CopyButton text={command} what={command} />
          </Row>
        </>
      )}
      {step?.at === "confirm" && <ConfirmStep onDone={again} />}
      {step?.at === "choose" && (
        <ChooseStep
          step={step}
          onCode={(made) => {
            setCode(made);
            again();
          }}
        />
      )}
      {step?.at === "issued" && <IssuedStep step={step} code={code} />}
    </Card>
  );
}

function ConfirmStep({ onDone }: { onDone: () => void }) {
  const { account, shell } = useWords();
  const attempt = useAttempt();
  const [isMailed, setMailed] = useState(false);
  const [code, setCode] = useState("");
  const finish = async (step: () => Promise<void>) => {
    if (await attempt.run(step)) onDone();
  };
  const mail = async () => {
    await call("accountMigrations.startCode", {});
    setMailed(true);
  };
  const verify = async () => {
    await call("accountMigrations.verifyCode", { code });
  };
  return (
    <StepForm onSubmit={() => void finish(verify)} problem={attempt.problem}>
      <p>{account.giveConfirm}</p>
      {isMailed ? (
        <>
          <MailedCodeField
            label={account.giveCode}
            name="transfer-confirm"
            value={code}
            onChange={setCode}
            autoFocus
          />
          <Button type="submit" kind="primary" isPending={attempt.isRunning}>
            {shell.confirm}
          </Button>
        </>
      ) : (
        <Row>
          <Button
            kind="primary"
            isPending={attempt.isRunning}
            onPress={() => void finish(confirmTransferWithPasskey)}
          >
            {account.givePasskey}
          </Button>
          <Button isPending={attempt.isRunning} onPress={() => void attempt.run(mail)}>
            {account.giveMail}
          </Button>
        </Row>
      )}
    </StepForm>
  );
}

function ChooseStep({ step, onCode }: { step: TransferStep<"choose">; onCode: (code: string) => void }) {
  const { account, shell } = useWords();
  const attempt = useAttempt();
  const [target, setTarget] = useState("");
  const left = useCountdown(step.until);
  const issue = async () => {
    await attempt.run(async () => {
      const { code } = await call("accountMigrations.issueCode", { target_user_id: target });
      onCode(code);
    });
  };
  return (
    <StepForm onSubmit={() => void issue()} problem={attempt.problem}>
      <Muted>{account.giveProofExpires(formatClock(left))}</Muted>
      <Field
        label={account.giveTarget}
        name="transfer-target"
        description={account.giveTargetHelp}
        value={target}
        onChange={(typed) => setTarget(typed.trim())}
      />
      <Row>
        <Button
          type="submit"
          kind="danger"
          isPending={attempt.isRunning}
          whyNot={target === "" ? shell.fillIn : undefined}
        >
          {account.giveIssue}
        </Button>
      </Row>
    </StepForm>
  );
}

function IssuedStep({ step, code }: { step: TransferStep<"issued">; code: string | undefined }) {
  const { account } = useWords();
  const left = useCountdown(step.until);
  if (code === undefined) return <Notice kind="waiting">{account.giveIssuedElsewhere}</Notice>;
  return (
    <Notice kind="waiting">
      <p>{account.giveIssued}</p>
      <Row>
        <code>{code}</code>
        <CopyButton text={code} what={account.takeCode} />
      </Row>
      <Muted>{account.giveExpires(formatClock(left))}</Muted>
    </Notice>
  );
}

function Take() {
  const { account, shell } = useWords();
  const client = useQueryClient();
  const attempt = useAttempt();
  const [code, setCode] = useState("");
  const [moved, setMoved] = useState<number>();
  const take = async () => {
    await attempt.run(async () => {
      const { servers_moved } = await call("accountMigrations.redeem", { code });
      setMoved(servers_moved);
      await client.invalidateQueries({ queryKey: ["ownership.listMine"] });
    });
  };
  return (
    <Card title={account.take}>
      {moved === undefined ? (
        <StepForm onSubmit={() => void take()} problem={attempt.problem}>
          <Muted>{account.takeHelp}</Muted>
          <GameCodeField label={account.takeCode} name="transfer-code" value={code} onChange={setCode} />
          <Row>
            <Button
              type="submit"
              isPending={attempt.isRunning}
              whyNot={code.length < 8 ? shell.fillIn : undefined}
            >
              {account.takeAction}
            </Button>
          </Row>
        </StepForm>
      ) : (
        <Notice kind="done">{account.taken(moved)}</Notice>
      )}
    </Card>
  );
}
