#!/bin/sh
# Runs one container: container.sh RUN_DIR PROGRAM [ARGUMENT...]
# It outlives the cluster process and leaves in RUN_DIR the pid of the program (`pid`) and its exit code (`exit`).
# Signals for the container go to the program itself; the empty traps only keep this shell alive to see its end.
run=$1
shift
trap : TERM INT HUP QUIT
/bin/sh -c 'echo $$ >"$0/pid"; exec "$@"' "$run" "$@"
echo $? >"$run/exit"
