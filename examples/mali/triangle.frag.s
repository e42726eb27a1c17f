# A fragment program: the colour between the vertices.
.fragment
.varying vec4 tint

    load.v $0 0, stop
