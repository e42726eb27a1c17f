# A fragment program that never ends.
.fragment
.varying vec4 tint

    load.v $1 0
again:
    mov.v1 $0 $1, branch again
    mov.v1 $0 $1, stop
