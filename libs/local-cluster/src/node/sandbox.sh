#!/bin/sh
# Runs one program with the files, the network and the rights that its pod says:
#   sandbox.sh ROOT NETWORK UID:GID CAPABILITIES CWD MOUNTS PROGRAM [ARGUMENT...]
# ROOT is an empty folder; MOUNTS a file of lines `KIND SOURCE TARGET`, KIND one of ro, rw, link. It is replaced by the
# program, so that signals reach that one. CAPABILITIES are those that root has, as setpriv writes them.
export SANDBOX_ROOT=$1 SANDBOX_USER=$3 SANDBOX_RIGHTS=$4 SANDBOX_CWD=$5 SANDBOX_MOUNTS=$6
network=$2
shift 6
exec nsenter --net="$network" unshare --mount --propagation private sh -c '
set -e
root=$SANDBOX_ROOT user=$SANDBOX_USER rights=$SANDBOX_RIGHTS cwd=$SANDBOX_CWD
mount -t tmpfs -o mode=755 tmpfs "$root"
while read -r kind source target; do
  to=$root$target
  if [ "$kind" = link ]; then
    mkdir -p "$(dirname "$to")"
    ln -s "$source" "$to"
    continue
  fi
  if [ -d "$source" ]; then mkdir -p "$to"; else mkdir -p "$(dirname "$to")"; : >"$to"; fi
  mount --bind "$source" "$to"
  [ "$kind" = rw ] || mount -o remount,bind,ro "$to"
done <"$SANDBOX_MOUNTS"
mount -o remount,ro "$root"
unset SANDBOX_ROOT SANDBOX_USER SANDBOX_RIGHTS SANDBOX_CWD SANDBOX_MOUNTS
exec /usr/sbin/chroot "$root" /usr/bin/setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups --no-new-privs \
  --bounding-set="$rights" --inh-caps=-all -- /bin/sh -c '"'"'cd "$0" && exec "$@"'"'"' "$cwd" "$@"
' sandbox "$@"
