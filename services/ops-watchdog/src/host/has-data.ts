import { connect, qualified, schemaNames } from "../bundle/snapshot.ts";

/** Whether any table of svc has a row, other than the list of migrations. */
export async function hasData(url: string): Promise<boolean> {
  const client = await connect(url, "svc-has-data");
  try {
    const { rows: tables } = await client.query<{ schema: string; name: string }>(
      `select schemaname as schema, tablename as name from pg_tables
       where schemaname = any($1) and tablename <> 'schema_migrations'`,
      [schemaNames],
    );
    for (const { schema, name } of tables) {
      const { rowCount } = await client.query(`select 1 from ${qualified(schema, name)} limit 1`);
      if (rowCount) return true;
    }
    return false;
  } finally {
    await client.end();
  }
}
