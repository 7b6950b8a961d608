// Calls of the external face with the saved session, or with an API token.

import type { CallSettings, ClientInput, ClientOutput } from "@svc/client";
import type { AnyContract } from "@svc/proto";
import { apiToken } from "../config.ts";
import { CommandError } from "../output.ts";
import { readStackFile } from "../stack-file.ts";
import { createPanelClient, createTokenClient } from "./panel-client.ts";
import { explain, isRefusal, whenKnown } from "./refusal.ts";
import { findSession, type PanelHost } from "./session-file.ts";

export type External = {
  /** The host that the session is for. */
  panelHost: PanelHost;
  /** Throws a refusal as one sentence; obtains a fresh proof where one is required and repeats the call. */
  call: <C extends AnyContract>(contract: C, input: ClientInput<C>) => Promise<ClientOutput<C>>;
  /** As `call` for streams of bytes and events. */
  open: <C extends AnyContract>(
    contract: C,
    input: ClientInput<C>,
    settings?: CallSettings & { body?: NonNullable<RequestInit["body"]> },
  ) => Promise<Response>;
};

/** The external face with the token of `SVC_TOKEN` or the saved session. Throws a `CommandError` when nobody is signed in. */
export function connectExternal(data: string): External {
  const token = apiToken();
  if (token !== undefined) return connectByToken(data, token);
  const session = findSession(data);
  if (!session) throw notSignedIn(data);
  const { panelHost } = session;
  const proven = async <T>(
    work: (client: ReturnType<typeof createPanelClient>) => Promise<T>,
  ): Promise<T> => {
    try {
      return await work(createPanelClient(data, panelHost));
    } catch (error) {
      if (!isRefusal(error, "reauth_required")) throw explain(error);
      await (await import("./prove.ts")).prove(data, panelHost);
      return await work(createPanelClient(data, panelHost)).catch((again: unknown) => {
        throw explain(again);
      });
    }
  };
  return {
    panelHost,
    call: (contract, input) => proven((client) => whenKnown(() => client.call(contract, input))),
    open: (contract, input, settings) => proven((client) => client.open(contract, input, settings)),
  };
}

function connectByToken(data: string, token: string): External {
  const client = createTokenClient(data, token);
  const readable = (error: unknown) => {
    const isRefused = isRefusal(error, "unauthorized");
    throw isRefused ? new CommandError(`SVC_TOKEN is not accepted: ${error.message}`) : explain(error);
  };
  return {
    panelHost: "panel",
    call: (contract, input) => whenKnown(() => client.call(contract, input)).catch(readable),
    open: (contract, input, settings) => client.open(contract, input, settings).catch(readable),
  };
}

function notSignedIn(data: string): CommandError {
  if (readStackFile(data).setup_url !== undefined) return new CommandError(noOwner);
  return new CommandError("you are not signed in; sign in with: `svc account login`");
}

const noOwner =
  "this stack has no owner yet; become the owner with: `svc account setup --email YOU@EXAMPLE.NET`";
