import { useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Search } from "lucide-react";
import { useState } from "react";
import type { Output } from "../api/operations.ts";
import { useOperation } from "../api/query.ts";
import { Button } from "../ui/button.tsx";
import { Checkbox } from "../ui/checkbox.tsx";
import { Empty } from "../ui/empty.tsx";
import { Failure } from "../ui/failure.tsx";
import { Field } from "../ui/field.tsx";
import { Form } from "../ui/form.tsx";
import { Grow, Muted, Row, Stack } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { Loading } from "../ui/loading.tsx";
import { Notice } from "../ui/notice.tsx";
import { Select } from "../ui/select.tsx";
import { useFileWords } from "../words/file-words.ts";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import styles from "./files.module.css";
import { searchOf } from "./path.ts";
import { longestText, type SearchView, searchAddressOf } from "./search-view.ts";

type FileSearchProps = { name: string; folder: string; view: SearchView };

/** Looks for a text below a folder; each search costs a Job, so it begins when it is asked for. */
export function FileSearch({ name, folder, view }: FileSearchProps) {
  const { files } = useWords();
  const { search } = useFileWords();
  const query = useOperation(
    "files.search",
    {
      ...{ name, path: folder, text: view.text, in: view.place },
      match_case: view.matchesCase ? "true" : "false",
    },
    { enabled: view.text !== "", isCostly: true },
  );
  const { data, error, isFetching, refetch } = query;
  return (
    <Stack>
      <Row>
        <Link to={`/servers/${name}/files`} search={searchOf(folder)} looks="button">
          <ArrowLeft size={16} aria-hidden />
          {search.back}
        </Link>
        <bdi className={styles.path}>{folder === "" ? files.root : visible(folder)}</bdi>
      </Row>
      <SearchForm name={name} folder={folder} view={view} isPending={isFetching} again={refetch} />
      {error && <Failure error={error} retry={() => void refetch()} />}
      {isFetching && !data && <Loading />}
      {data && !error && <Found name={name} found={data} />}
    </Stack>
  );
}

type SearchFormProps = FileSearchProps & { isPending: boolean; again: () => unknown };

function SearchForm({ name, folder, view, isPending, again }: SearchFormProps) {
  const { shell } = useWords();
  const { search } = useFileWords();
  const navigate = useNavigate();
  const [wanted, setWanted] = useState(view);
  const change = (some: Partial<SearchView>) => setWanted((now) => ({ ...now, ...some }));
  const submit = () => {
    if (wanted.text === "" || isPending) return;
    const isSame = JSON.stringify(wanted) === JSON.stringify(view);
    if (isSame) void again();
    else void navigate({ to: `/servers/${name}/files`, search: searchAddressOf(folder, wanted) });
  };
  return (
    <search aria-label={search.title}>
      <Form onSubmit={submit} hasOuterButton>
        <Stack>
          <Row isLow>
            <Grow>
              <Field
                label={search.text}
                name="find"
                type="search"
                inputMode="search"
                value={wanted.text}
                onChange={(text) => change({ text })}
                maxLength={longestText}
                autoFocus
              />
            </Grow>
            <Select
              label={search.where}
              value={wanted.place}
              onChange={(place) => change({ place })}
              options={[
                ["both", search.places.both],
                ["names", search.places.names],
                ["content", search.places.content],
              ]}
            />
            <Button
              kind="primary"
              icon={<Search size={16} aria-hidden />}
              isPending={isPending}
              whyNot={wanted.text === "" ? shell.fillIn : undefined}
              onPress={submit}
            >
              {search.action}
            </Button>
          </Row>
          <Checkbox
            label={search.matchCase}
            isChecked={wanted.matchesCase}
            onChange={(matchesCase) => change({ matchesCase })}
          />
          <Muted>{search.help}</Muted>
        </Stack>
      </Form>
    </search>
  );
}

type Result = Output<"files.search">;

function Found({ name, found }: { name: string; found: Result }) {
  const { search } = useFileWords();
  const { matches, stopped } = found;
  return (
    <>
      {stopped !== null && <Notice kind="waiting">{search.stopped[stopped]}</Notice>}
      {matches.length === 0 ? (
        <Empty title={search.none}>{search.noneHelp}</Empty>
      ) : (
        <>
          <p className={styles.summary} role="status">
            {search.found(matches.length)}
          </p>
          <List label={search.title}>
            {matches.map((match) => (
              <Match key={match.path} name={name} match={match} />
            ))}
          </List>
        </>
      )}
      <LeftOut counts={found.left_out} />
    </>
  );
}

function Match({ name, match }: { name: string; match: Result["matches"][number] }) {
  const { search } = useFileWords();
  const { path, is_dir, lines, more_lines } = match;
  const shown = is_dir ? `${path}/` : path;
  return (
    <ListItem
      isLong
      title={
        <Link to={`/servers/${name}/files`} search={is_dir ? searchOf(path) : { open: path }}>
          <bdi>{visible(shown)}</bdi>
        </Link>
      }
      details={
        lines.length > 0 && (
          <ol className={styles.lines}>
            {lines.map(({ line, text }) => (
              <li key={line}>
                <span className={styles.line}>{search.line(line)}</span>
                <code translate="no">
                  <bdi>{visible(text)}</bdi>
                </code>
              </li>
            ))}
            {more_lines && <li>{search.moreLines}</li>}
          </ol>
        )
      }
    />
  );
}

const reasons = ["large", "binary", "protected", "unreadable"] as const;

function LeftOut({ counts }: { counts: Result["left_out"] }) {
  const { search } = useFileWords();
  const left = reasons.filter((reason) => counts[reason] > 0);
  if (left.length === 0) return null;
  return (
    <div>
      <Muted>{search.leftOut}</Muted>
      <ul className={styles.leftOut}>
        {left.map((reason) => (
          <li key={reason}>{search.leftOutFor[reason](counts[reason])}</li>
        ))}
      </ul>
    </div>
  );
}
