import { useOperation } from "../api/query.ts";
import { Link } from "../ui/link.tsx";
import { useWords } from "../words/words.ts";

/** To the page where somebody makes a server of their own; nothing where nothing is offered. */
export function CreateLink() {
  const { servers } = useWords();
  const { data } = useOperation("serverTemplates.listOffered", {});
  if (!data || data.templates.length === 0) return null;
  return (
    <Link to="/servers/new" looks="primary">
      {servers.create}
    </Link>
  );
}
