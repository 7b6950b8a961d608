import { Search } from "lucide-react";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Card, Grow, Row, Stack } from "../ui/layout.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Pager } from "../ui/pager.tsx";
import { Select } from "../ui/select.tsx";
import { isolate } from "../words/format.ts";
import { usePluginWords } from "../words/plugin-words.ts";
import { visible } from "../words/visible.ts";
import { useLanguage } from "../words/words.ts";
import { InstallDialog } from "./install-dialog.tsx";
import type { Target } from "./target.ts";

type Source = Output<"plugins.list">["catalogues"][number];
type Project = Output<"plugins.search">["projects"][number];

/** What one answer holds, and the last place at which one may begin (docs/reference/plugins.md#catalogues). */
const pageSize = 20;
const lastOffset = 1_000;

type SearchProps = {
  name: string;
  target: Target | undefined;
  held: string | undefined;
  mayWrite: boolean;
  catalogues: readonly Source[];
};

/** Looks for projects that fit; it begins when it is asked for. */
export function ProjectSearch({ catalogues, ...about }: SearchProps) {
  const words = usePluginWords();
  const { name, target } = about;
  const [source, setSource] = useState<Source>(catalogues[0] ?? "modrinth");
  const [text, setText] = useState("");
  const [asked, setAsked] = useState<{ source: Source; text: string; offset: number } & Target>();
  const nothing = { source, text: "", offset: 0, loader: "paper", game_version: "" } as const;
  const query = useOperation(
    "plugins.search",
    { name, ...(asked ?? nothing) },
    { enabled: asked !== undefined, isCostly: true, keepsPrevious: asked !== undefined && asked.offset > 0 },
  );
  const { data, error, isFetching, refetch } = query;
  const submit = () => {
    if (target) setAsked({ source, text, offset: 0, ...target });
  };
  const turnTo = (offset: number) => asked && setAsked({ ...asked, offset });
  return (
    <section aria-labelledby="plugins-search">
      <Stack>
        <h2 id="plugins-search">{words.search}</h2>
        <Form onSubmit={submit} hasOuterButton>
          <Row isLow>
            <Select
              label={words.source}
              value={source}
              onChange={setSource}
              options={catalogues.map((one) => [one, words.sources[one]] as const)}
            />
            <Grow>
              <Field
                label={words.text}
                name="text"
                type="search"
                inputMode="search"
                value={text}
                onChange={setText}
                maxLength={100}
              />
            </Grow>
            <Button
              kind="primary"
              icon={<Search size={16} aria-hidden />}
              isPending={isFetching}
              whyNot={target ? undefined : words.choose}
              onPress={submit}
            >
              {words.searchAction}
            </Button>
          </Row>
        </Form>
        {error && asked && <Failure error={error} retry={() => void refetch()} />}
        {isFetching && !data && <Loading />}
        {data && !error && <Found {...about} found={data} offset={asked?.offset ?? 0} onOffset={turnTo} />}
      </Stack>
    </section>
  );
}

type AboutProps = Omit<SearchProps, "catalogues">;
type FoundProps = AboutProps & {
  found: Output<"plugins.search">;
  offset: number;
  onOffset: (offset: number) => void;
};

function Found({ found, offset, onOffset, ...about }: FoundProps) {
  const words = usePluginWords();
  const { projects, total } = found;
  if (projects.length === 0 && offset === 0) return <Empty title={words.nothing}>{words.nothingHelp}</Empty>;
  const next = offset + pageSize;
  const hasNext = next < total && next <= lastOffset;
  const text =
    total > pageSize ? words.foundPart(offset + 1, offset + projects.length, total) : words.found(total);
  return (
    <>
      <Card>
        <List label={words.search}>
          {projects.map((project) => (
            <Result key={project.id} {...about} project={project} />
          ))}
        </List>
      </Card>
      <Pager
        text={text}
        back={{ word: words.previous, run: offset > 0 ? () => onOffset(offset - pageSize) : undefined }}
        on={{ word: words.next, run: hasNext ? () => onOffset(next) : undefined }}
      />
    </>
  );
}

function Result({ name, target, held, mayWrite, project }: AboutProps & { project: Project }) {
  const words = usePluginWords();
  const { language } = useLanguage();
  const [isOpen, setOpen] = useState(false);
  const { title, summary, author, downloads, page_url } = project;
  const about = [author, words.downloads(new Intl.NumberFormat(language).format(downloads))];
  return (
    <ListItem
      isLong
      title={<bdi>{visible(title)}</bdi>}
      details={
        <>
          <bdi>{visible(summary)}</bdi>
          <br />
          <bdi>{visible(about.filter((part) => part !== "").join(" · "))}</bdi>{" "}
          <a href={page_url} target="_blank" rel="noopener noreferrer">
            {words.page}
          </a>
        </>
      }
      actions={
        mayWrite &&
        target && (
          <Button
            label={words.installOf(isolate(visible(title)))}
            whyNot={held}
            onPress={() => setOpen(true)}
          >
            {words.install}
          </Button>
        )
      }
      below={
        target &&
        isOpen && (
          <InstallDialog name={name} target={target} project={project} onClose={() => setOpen(false)} />
        )
      }
    />
  );
}
