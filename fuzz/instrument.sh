#!/bin/sh
# The compiler for tests/fuzz.sh, between cargo and rustc: the project's own crates get what libFuzzer counts, others stay
# as they are, so that most of the time is spent in what is looked at. Flags are those that cargo fuzz gives.
# What runs programs is not watched for what it compares: that costs most of its time, and the numbers are the program's.
target=
case " $* " in *" --target "*) target=1 ;; esac
case $target$CARGO_PKG_NAME in
1skrymir*)
    set -- "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
    case $CARGO_PKG_NAME in
    skrymir-emulator | skrymir-jit | skrymir-num) ;;
    *) set -- "$@" -Cllvm-args=-sanitizer-coverage-trace-compares ;;
    esac
    ;;
esac
exec "$@"
