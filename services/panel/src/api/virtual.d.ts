declare module "virtual:svc-operations" {
  export const table: Readonly<Record<string, import("./request.ts").OperationRow>>;
  export const retriedCodes: readonly string[];
}
