import { ArrowLeft, Download } from "lucide-react";
import type { ReactNode } from "react";
import { call } from "../api/call.ts";
import { useDownload } from "../downloads/use-download.tsx";
import { Button } from "../ui/button.tsx";
import { Row } from "../ui/layout.tsx";
import { Link } from "../ui/link.tsx";
import { visible } from "../words/visible.ts";
import { useWords } from "../words/words.ts";
import styles from "./files.module.css";
import { parentOf, searchOf } from "./path.ts";

type FileHeadProps = { name: string; path: string; children?: ReactNode };

/** The way back, the path, and what can be done. */
export function FileHead({ name, path, children }: FileHeadProps) {
  const { files } = useWords();
  return (
    <Row isSpread>
      <Row>
        <Link to={`/servers/${name}/files`} search={searchOf(parentOf(path))} looks="button">
          <ArrowLeft size={16} aria-hidden />
          {files.back}
        </Link>
        <bdi className={styles.path}>{visible(path)}</bdi>
      </Row>
      {children}
    </Row>
  );
}

export function DownloadFile({ name, path }: { name: string; path: string }) {
  const { files } = useWords();
  const { download, isPreparing } = useDownload();
  return (
    <Button
      icon={<Download size={16} aria-hidden />}
      isPending={isPreparing}
      onPress={() => void download(() => call("exports.startFile", { name, path, dir: "false" }))}
    >
      {files.download}
    </Button>
  );
}
