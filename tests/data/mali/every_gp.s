# Every unit, operation, source and store of the vertex processor. It computes nothing of use.
.vertex
.uniform mat4 m
.uniform vec4 limits init=-1.0/1.0/0.0/0.0
.uniform float unused offset=65535
.attribute vec4 position
.attribute vec2 coord
.varying vec4 gl_Position
.varying vec2 v

start:
    mul.m0 _ a0.x t[0].x, mul.m1 $0.x/$0.z a0.y -1.0, add.a0 _ a0.z t[0].y, add.a1 _ -a0.w 0.0, mov.c _ a0.x, mov.p _ a0.y
    mov.a0 $1.x ^acc0, mov.a1 _ -^acc1, mov.m0 _ -^mul0, mov.m1 _ ^mul1, mov.c _ ^pass, mov.p _ ^complex
    mov.a0 _ ^^acc0, mov.a1 _ ^^acc1, mov.m0 _ ^^mul0, mov.m1 _ ^^mul1, mov.p $2.w ^^pass
    floor.a0 _ ^acc0, floor.a1 _ -^acc1
    sign.a0 _ ^acc0, sign.a1 $3.z ^acc1
    ge.a0 _ ^acc0 ^acc1, ge.a1 _ ^acc0 -^acc1
    lt.a0 _ ^acc0 ^acc1
    min.a0 _ ^acc0 $1.x, min.a1 _ $1.y 0.0
    max.a0 _ ^acc0 $2.w@0, max.a1 _ ^acc1 $1.w
    sel.m01 _ ^acc0 t[1].x t[1].y, clamp.p _ ^acc1 t[1].x t[1].y
    preexp2.p _ ^mul0, load a1
    exp2.c _ ^pass, complex2.m0 _ ^pass ^pass, mul.m1 _ ^port.x ^port.y
    complex1.m01 _ ^complex ^mul0 ^complex ^^pass
    log2.c _ a0.x, complex2.m0 _ a0.x a0.x
    complex1.m01 _ ^complex ^mul0 ^complex a0.x
    rsqrt.c _ ^^mul0
    rcp.c _ a1.x, postlog2.p _ ^^mul0
    temp_addr_pair.c _ ^complex, mov.p _ ^complex
    temp_store_addr.c _ a0.x, mov.m0 t[].x a0.y, mov.m1 t[].y a0.z
    temp_load_addr_1.c _ a0.x
    temp_load_addr_2.c _ a0.x
    temp_load_addr_3.c _ a0.x
    mov.m0 v0.x t[2+a1].x
    mov.m0 v0.y t[2+a2].y
    mov.m0 v0.z t[2+a3].z
    nop
    mov.p v0.w t[2].w, branch end
    mov.p _ t[3].x, branch start
end:
    mov.a0 v1.x t[0].x, mov.c v1.z t[0].z
