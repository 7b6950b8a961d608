// The mail sink as a process of its own: main.ts DIR SMTP_PORT PAGE_PORT [PAGE_HOST]
import { errorText } from "../error.ts";
import { startMailSink } from "./sink.ts";

const [dir, smtpPort, pagePort, pageHost] = process.argv.slice(2);
if (!dir || !smtpPort || !pagePort) {
  console.error("usage: main.ts DIR SMTP_PORT PAGE_PORT [PAGE_HOST]");
  process.exit(2);
}

try {
  const ports = { smtpPort: Number(smtpPort), pagePort: Number(pagePort) };
  const sink = await startMailSink({ dir, ...ports, ...(pageHost && { pageHost }) });
  console.log(`mail sink: ready at ${sink.smtpUrl}, page ${sink.pageUrl}`);
  const end = () => void sink.stop().then(() => process.exit(0));
  process.once("SIGTERM", end);
  process.once("SIGINT", end);
} catch (error) {
  console.error(errorText(error));
  process.exit(1);
}
