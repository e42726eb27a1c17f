#!/usr/bin/env bash
# Runs a command as on a 64-bit ARM machine: for it and whatever it starts, the kernel itself starts ARM programs, by qemu.
#
#   bash tests/arm64.sh [--try] COMMAND ARGUMENTS
#
# That holds in a namespace of its own, so that nothing is set up for the machine and no rights are needed; Linux has it
# from 6.7 on. --try tells, by the exit code, whether this one can. ARM_ROOT is the folder with the ARM programs' libraries,
# ARM_PATH one with commands that come before others.
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
# An ELF header of 64 bits, little-endian, a program or a shared object, for machine 183. F has qemu opened now, P keeps the
# program's own name.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
printf '%s' ":skrymir-arm64:M::$magic:$mask:$(command -v qemu-aarch64-static):FP" >"$formats/register"
export QEMU_LD_PREFIX=${ARM_ROOT:-/usr/aarch64-linux-gnu}
[ -z "${ARM_PATH:-}" ] || PATH=$ARM_PATH:$PATH
exec "$@"
