// What an image of PostgreSQL has beside its programs, for tests that make one of those of the local stack.

/** As the entry point of the official image does. */
export const postgresEntry = `#!/bin/sh
set -e
data=/var/lib/postgresql/18/docker
shift
user=\${POSTGRES_USER:-postgres}
if [ ! -s "$data/PG_VERSION" ]; then
  mkdir -p "$data"
  chmod 700 "$data"
  password=\${POSTGRES_PASSWORD_FILE:-/tmp/password}
  [ -n "$POSTGRES_PASSWORD_FILE" ] || echo "$POSTGRES_PASSWORD" >"$password"
  initdb --pgdata="$data" --username="$user" --pwfile="$password" --auth-host=scram-sha-256 --auth-local=trust
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  [ "\${POSTGRES_DB:-$user}" = "$user" ] || echo "create database $POSTGRES_DB" | postgres --single -D "$data" postgres
fi
exec postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/var/run/postgresql "$@"
`;

/** The tool that probes call, which comes with no npm package. */
export const isReady = `#!/bin/sh
exec node -e 'require("node:net").connect(5432, "127.0.0.1").on("connect", () => process.exit(0)).on("error", () => process.exit(2))'
`;
