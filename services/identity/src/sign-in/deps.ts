import type { Deps } from "../deps.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { Notices } from "../mail/queue.ts";
import type { Background } from "./background.ts";

export type DoorDeps = Deps & { mailer: Mailer; notices: Notices; background: Background };
