import { addressOf } from "../api/address.ts";
import { host, otherOrigin } from "../api/hosts.ts";
import { useAction, useOperation } from "../api/query.ts";
import { CopyButton } from "../ui/copy-button.tsx";
import { Failure } from "../ui/failure.tsx";
import { Card, Facts, Muted, Row } from "../ui/layout.tsx";
import { Loading } from "../ui/loading.tsx";
import { Switch } from "../ui/switch.tsx";
import { useToast } from "../ui/toasts.tsx";
import { useStatusWords } from "../words/status-words.ts";
import { useLanguage } from "../words/words.ts";

/** Where everybody reads what is shown: never on the operator console. */
const publicOrigin = host === "operator" ? otherOrigin : location.origin;

/** Whether the status of the server is shown to everybody, and the badge of it. */
export function StatusPageSettings({ name }: { name: string }) {
  const words = useStatusWords();
  const toast = useToast();
  const { data, error, refetch } = useOperation("statusPages.read", { name });
  const write = useAction("statusPages.write", ["statusPages.read"]);
  const change = (isPublic: boolean) =>
    write.mutate(
      { name, public: isPublic },
      { onSuccess: () => toast({ kind: "done", text: isPublic ? words.shown : words.hidden }) },
    );
  return (
    <Card
      title={words.card}
      actions={data && <Switch label={words.show} isOn={data.public} onChange={change} />}
    >
      <Muted>{words.about}</Muted>
      <Failure error={write.error ?? error} {...(!write.error && { retry: () => void refetch() })} />
      {!data && !error && <Loading />}
      {data?.public && (
        <>
          <Badge subdomain={data.subdomain} />
          {data.listed && <Muted>{words.listed}</Muted>}
        </>
      )}
    </Card>
  );
}

function Badge({ subdomain }: { subdomain: string }) {
  const words = useStatusWords();
  const { language } = useLanguage();
  const inLanguage = language === "zh-CN" ? ({ language: "zh" } as const) : {};
  const path = addressOf("statusPages.readBadge", { subdomain, ...inLanguage });
  const page = `${publicOrigin}/status/${subdomain}`;
  const image = `${publicOrigin}${path}`;
  const markdown = `[![${subdomain}](${image})](${page})`;
  const html = `<a href="${page}"><img src="${image}" alt="${subdomain}" height="20"></a>`;
  const copied = (text: string, what: string) => (
    <Row>
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </Row>
  );
  return (
    <Facts
      rows={[
        [words.page, copied(page, words.page)],
        [words.badge, <img key="badge" src={path} alt={words.badgeAlt} height={20} />],
        [words.markdown, copied(markdown, words.markdown)],
        [words.html, copied(html, words.html)],
      ]}
    />
  );
}

/** For staff: whether there is a list of the servers that are shown. */
export function StatusListSettings() {
  const words = useStatusWords();
  const toast = useToast();
  const { data, error, refetch } = useOperation("statusPages.readOverall", {});
  const write = useAction("statusPages.writeOverall", ["statusPages.readOverall"]);
  const change = (isPublic: boolean) =>
    write.mutate(
      { public: isPublic },
      {
        onSuccess: () => toast({ kind: "done", text: isPublic ? words.overallShown : words.overallHidden }),
      },
    );
  const page = `${publicOrigin}/status`;
  return (
    <Card
      title={words.overall}
      actions={data && <Switch label={words.overallShow} isOn={data.public} onChange={change} />}
    >
      <Failure error={write.error ?? error} {...(!write.error && { retry: () => void refetch() })} />
      {data && <Muted>{words.overallAbout(data.servers)}</Muted>}
      {data?.public && (
        <Row>
          <code>{page}</code>
          <CopyButton text={page} what={words.overallPage} />
        </Row>
      )}
    </Card>
  );
}
