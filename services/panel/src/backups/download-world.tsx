import { Download } from "lucide-react";
import { call } from "../api/call.ts";
import { useDownload } from "../downloads/use-download.tsx";
import { Button } from "../ui/button.tsx";
import { useWords } from "../words/words.ts";

/** Downloads the world as it is now. */
export function DownloadWorld({ name, whyNot }: { name: string; whyNot: string | undefined }) {
  const { backups } = useWords();
  const { download, isPreparing } = useDownload();
  return (
    <Button
      icon={<Download size={16} aria-hidden />}
      isPending={isPreparing}
      whyNot={whyNot}
      onPress={() => void download(() => call("exports.startWorld", { name }))}
    >
      {backups.downloadWorld}
    </Button>
  );
}
