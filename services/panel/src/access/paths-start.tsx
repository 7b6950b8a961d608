import { Card, Muted } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { List, ListItem } from "../ui/list.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import { isFileByName } from "./paths.ts";

/** The folders and files that an access covers, where a folder above them cannot be listed. */
export function PathsStart({ name, paths }: { name: string; paths: readonly string[] }) {
  const { sharing } = useWords();
  return (
    <Card title={sharing.yours}>
      <Muted>{sharing.onlyPaths}</Muted>
      <List label={sharing.onlyPaths}>
        {paths.map((path) => (
          <ListItem
            key={path}
            title={
              <Link to={`/servers/${name}/files`} search={isFileByName(path) ? { open: path } : { path }}>
                <bdi>{visible(path)}</bdi>
              </Link>
            }
          />
        ))}
      </List>
    </Card>
  );
}
