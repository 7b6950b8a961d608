import type { Background } from "../background.ts";
import type { Deps } from "../deps.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { MailQueue } from "../mail/queue.ts";

export type SignInDeps = Deps & { mailer: Mailer; mailQueue: MailQueue; background: Background };
