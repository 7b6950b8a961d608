// A connection that knows whether its server takes changes. PostgreSQL says so by itself, when a session begins and whenever it
// changes; so a server that was replaced, or a standby behind the same address, is known without a question.

import pg from "pg";

/** What PostgreSQL 14 and later reports of its own accord; `on` means that it takes no changes. */
const reported = ["in_hot_standby", "default_transaction_read_only"];

type ParameterStatus = { parameterName: string; parameterValue: string };
type Connection = { on: (event: "parameterStatus", listener: (message: ParameterStatus) => void) => void };

export class WritableClient extends pg.Client {
  readonly #refusals = new Set<string>();
  #isBroken = false;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    // pg passes the messages of the protocol on, but its types do not have them.
    const { connection } = this as unknown as { connection: Connection };
    connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
      if (!reported.includes(parameterName)) return;
      if (parameterValue === "on") this.#refusals.add(parameterName);
      else this.#refusals.delete(parameterName);
    });
  }

  /** Whether the server takes no changes: a standby, or one that was told so. */
  get isReadOnly(): boolean {
    return this.#refusals.size > 0;
  }

  /** Whether this connection may serve again. */
  get isUsable(): boolean {
    return !this.isReadOnly && !this.#isBroken;
  }

  /** Takes it out of service once it is given back. */
  markBroken(): void {
    this.#isBroken = true;
  }
}
