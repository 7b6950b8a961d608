import { useOperation } from "../api/query.ts";
import { Copied } from "../ui/copied.tsx";
import { Disclosure } from "../ui/disclosure.tsx";
import { Link } from "../ui/link.tsx";
import { useSshKeyWords } from "../words/ssh-key-words.ts";

/** What to type to reach the files of a server by SFTP; nothing where there is no SFTP. */
export function SftpAddress({ name }: { name: string }) {
  const words = useSshKeyWords();
  const endpoint = useOperation("sshKeys.readEndpoint", {}).data?.endpoint;
  if (!endpoint) return null;
  const { host, port, fingerprint } = endpoint;
  const command = port === 22 ? `sftp ${name}@${host}` : `sftp -P ${port} ${name}@${host}`;
  return (
    <Disclosure summary={words.sftp}>
      <p>{words.addressHelp}</p>
      <Copied text={command} what={words.command} />
      <p>{words.hostKey}</p>
      <Copied text={fingerprint} what={words.fingerprint} />
      <p>
        <Link to="/account">{words.toKeys}</Link>
      </p>
    </Disclosure>
  );
}
