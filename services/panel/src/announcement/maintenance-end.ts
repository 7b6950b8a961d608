// Until when nothing is woken, as the bars above the page know it (docs/reference/announcements.md#maintenance).

import { useKept } from "../api/query.ts";
import { formatDate } from "../words/format.ts";
import { useLanguage } from "../words/words.ts";
import { maintenanceEnd } from "./window.ts";

/** The end in the reader's language and time zone, when it is called. */
export function useMaintenanceEnd(): () => string | undefined {
  const { language } = useLanguage();
  const kept = useKept("announcements.listShown", {});
  return () => {
    const end = maintenanceEnd(kept()?.items ?? [], Date.now());
    return end === undefined ? undefined : formatDate(end, language);
  };
}
