# A vertex program: positions go through a matrix to the window, colours go on to the fragments.
#
# The hardware wants positions divided by w and in pixels, with 1/w behind them; the runtime fills
# gl_mali_ViewportTransform with the viewport's scale and offset.
.vertex
.uniform mat4 transform
.uniform vec4[2] gl_mali_ViewportTransform
.attribute vec4 position
.attribute vec4 color
.varying vec4 gl_Position
.varying vec4 tint

# clip = transform * position, a column at a time
    mul.m0 $0.x a0.x t[0].x, mul.m1 $0.y a0.x t[0].y
    mul.m0 $0.z a0.x t[0].z, mul.m1 $0.w a0.x t[0].w
    mul.m0 $1.x a0.y t[1].x, mul.m1 $1.y a0.y t[1].y
    mul.m0 $1.z a0.y t[1].z, mul.m1 $1.w a0.y t[1].w
    mul.m0 $2.x a0.z t[2].x, mul.m1 $2.y a0.z t[2].y
    mul.m0 $2.z a0.z t[2].z, mul.m1 $2.w a0.z t[2].w
    mul.m0 $3.x a0.w t[3].x, mul.m1 $3.y a0.w t[3].y
    mul.m0 $3.z a0.w t[3].z, mul.m1 $3.w a0.w t[3].w
    mov.a0 v1.x a1.x, mov.a1 v1.y a1.y, mov.m0 v1.z a1.z, mov.m1 v1.w a1.w
    nop
# two columns a sum; registers are ready three instructions after their store
    add.a0 $4.x $0.x $1.x@0, add.a1 $4.y $0.y $1.y@0
    add.a0 $4.z $0.z $1.z@0, add.a1 $4.w $0.w $1.w@0
    add.a0 $5.x $2.x $3.x@0, add.a1 $5.y $2.y $3.y@0
    add.a0 $5.z $2.z $3.z@0, add.a1 $5.w $2.w $3.w@0
    nop
    nop
    nop
    add.a0 $6.x $4.x $5.x@0, add.a1 $6.y $4.y $5.y@0
    add.a0 $6.z $4.z $5.z@0, add.a1 $6.w $4.w $5.w@0
    nop
    nop
    nop
# 1/w: the complex unit, its helper, and the last step
    rcp.c _ $6.w, complex2.m0 _ $6.w $6.w
    complex1.m01 _ ^complex ^mul0 ^complex $6.w
    nop
    mov.m0 v0.w ^^mul0, mov.m1 $7.x ^^mul0
    nop
    nop
    nop
    mul.m0 $8.x $6.x $7.x@0, mul.m1 $8.y $6.y $7.x@0
    mul.m0 $8.z $6.z $7.x@0
    nop
    nop
    mul.m0 _ $8.x t[4].x, mul.m1 _ $8.y t[4].y
    add.a0 v0.x ^mul0 t[5].x, add.a1 v0.y ^mul1 t[5].y
    mul.m0 _ $8.z t[4].z
    add.a0 v0.z ^mul0 t[5].z
