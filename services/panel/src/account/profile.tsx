import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Me, meKey } from "../api/session.ts";
import { AddEmail } from "../sign-in/add-email.tsx";
import { Button } from "../ui/button.tsx";
import { Copied } from "../ui/copied.tsx";
import { Card, Facts, Row } from "../ui/layout.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";

/** Who the caller is. A new address counts once a code that went there was entered. */
export function Profile({ me }: { me: Me }) {
  const { account } = useWords();
  const client = useQueryClient();
  const [isChanging, setChanging] = useState(false);
  const verified = () => {
    setChanging(false);
    void client.invalidateQueries({ queryKey: meKey });
  };
  const address = me.email_verified ? me.email : `${me.email} (${account.unverified})`;
  return (
    <Card title={account.profile}>
      <Facts
        rows={[
          [account.email, <bdi key="email">{visible(me.email === "" ? account.noEmail : address)}</bdi>],
          [account.userName, <bdi key="name">{visible(me.username)}</bdi>],
          [account.role, account.roles[me.role]],
          [account.userId, <Copied key="id" text={me.user_id} what={account.userId} />],
        ]}
      />
      {isChanging ? (
        <AddEmail onDone={verified} />
      ) : (
        <Row>
          <Button onPress={() => setChanging(true)}>{account.changeEmail}</Button>
        </Row>
      )}
    </Card>
  );
}
