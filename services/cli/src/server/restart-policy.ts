import { restartPolicies } from "@svc/proto";
import { connectExternal } from "../account/external.ts";
import { fields, type Outcome } from "../output.ts";

type Options = {
  data: string;
  afterCrash?: restartPolicies.RestartPolicy["after_crash"];
  whenHung?: restartPolicies.RestartPolicy["when_hung"];
  silentMinutes?: number;
};

/** Shows the restart policy of a server; options that are given are set, the others stay. */
export async function restartPolicy(name: string, options: Options): Promise<Outcome> {
  const { data, afterCrash, whenHung, silentMinutes } = options;
  const external = connectExternal(data);
  const before = await external.call(restartPolicies.read, { name });
  const wanted = {
    after_crash: afterCrash ?? before.after_crash,
    when_hung: whenHung ?? before.when_hung,
    silent_minutes: silentMinutes ?? before.silent_minutes,
  };
  const isRead = afterCrash === undefined && whenHung === undefined && silentMinutes === undefined;
  const policy = isRead ? before : await external.call(restartPolicies.write, { name, ...wanted });
  return { json: policy, text: fields(policy) };
}
