// The mail sink as a process of its own: main.ts DIR SMTP_PORT PAGE_PORT
import { errorText } from "../error.ts";
import { startMailSink } from "./sink.ts";

const [dir, smtpPort, pagePort] = process.argv.slice(2);
if (!dir || !smtpPort || !pagePort) {
  console.error("usage: main.ts DIR SMTP_PORT PAGE_PORT");
  process.exit(2);
}

try {
  const sink = await startMailSink({ dir, smtpPort: Number(smtpPort), pagePort: Number(pagePort) });
  console.log(`mail sink: ready at ${sink.smtpUrl}, page ${sink.pageUrl}`);
  const end = () => void sink.stop().then(() => process.exit(0));
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
} catch (error) {
  console.error(errorText(error));
  process.exit(1);
}
