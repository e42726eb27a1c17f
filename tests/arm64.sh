#!/usr/bin/env bash
# Runs a command as on a 64-bit ARM machine: the kernel starts ARM programs of the command and its children with qemu.
#
#   bash tests/arm64.sh [--try] COMMAND ARGUMENTS
#
# It works in its own namespace, without changes to the system and without privileges, on Linux 6.7 or later. The exit
# code of --try is 0 if this kernel supports it. ARM_ROOT is the folder with the ARM programs' libraries, ARM_PATH a
# folder that is searched for commands first.
set -euo pipefail

if [ "${1:-}" = --try ]; then
    exec unshare --user --map-root-user --mount bash -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc' 2>/dev/null
fi

if [ "${1:-}" != --inside ]; then
    exec unshare --user --map-root-user --mount bash "$0" --inside "$@"
fi
shift

formats=/proc/sys/fs/binfmt_misc
mount -t binfmt_misc none "$formats"
# Matches a 64-bit little-endian ELF header of a program or shared object for machine 183. Flag F opens qemu at once, P
# keeps the program's own name.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":skrymir-arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):FP" >"$formats/register"
export QEMU_LD_PREFIX=${ARM_ROOT:-/usr/aarch64-linux-gnu}
[ -z "${ARM_PATH:-}" ] || PATH=$ARM_PATH:$PATH
exec "$@"
