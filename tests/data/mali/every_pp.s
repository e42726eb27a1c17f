# Every unit and operation of the fragment processor. It computes nothing of use.
.fragment
.uniform vec4 color
.uniform sampler2D picture
.varying vec4 v
.varying vec2 coord flags=0x18

begin:
    load.v $0 0, mul.v0 $1 $0 $0, mul.s0 $2.x $0.x $0.y
    load.v $0.xy 2.xy, mul_x2.v0 $1.xy $0 $0, mul_d16.s0 $2.x $0.x $0.y
    load.v $0.x 9.x, mul_x4.v0 $1.x abs($0) -$0.yyyy, mul_d8.s0 $2.x abs($0.x) -abs($0.y)
    load.v $0 0+$1.x, mul_x8.v0 $1 $0 $0, mul_d4.s0 $2.x $0.x $0.y
    load.v $0 divide_z(0), mul_d2.v0 $1 $0 $0, mul_d2.s0 $2.x $0.x $0.y
    load.v $0 divide_w(0), not.v0 $1 $0, not.s0 $2.x $0.x
    load.v $0 $1.wzyx, and.v0 $1 $0 $0, and.s0 $2.x $0.x $0.y
    load.v $0 divide_z(-$1), or.v0 $1 $0 $0, or.s0 $2.x $0.x $0.y
    load.v $0 divide_w(abs($1)), xor.v0 $1 $0 $0, xor.s0 $2.x $0.x $0.y
    load.v $0 cube(0), ne.v0 $1 $0 $0, ne.s0 $2.x $0.x $0.y
    load.v $0 cube($1), gt.v0 $1 $0 $0, gt.s0 $2.x $0.x $0.y
    load.v $0.xyz normalize($1), ge.v0 $1 $0 $0, ge.s0 $2.x $0.x $0.y
    load.v $0 gl_FragCoord, eq.v0 $1 $0 $0, eq.s0 $2.x $0.x $0.y
    load.v $0.xy gl_PointCoord, min.v0 $1 $0 $0, min.s0 $2.x $0.x $0.y
    load.v $0.x gl_FrontFacing, max.v0 $1 $0 $0, max.s0 $2.x $0.x $0.y
    load.v ^discard.xy 2.xy, texld 0, mov.v0 $1 ^texture, mov.s0 $2.x ^texture.w, sync
    load.v ^discard.xy 2.xy, texld.b 0 $2.x, mov.sat.v0 $1 ^texture, sync
    load.v ^discard.xy 2.xy, texld.l 0+$2.y $2.x, mov.pos.v1 $1 ^texture, sync
    load.v ^discard. cube($1), texld.cube 0, mov.int.v1 $1 ^texture, sync
    load.u 0, add.v1 $1 ^uniform ^const0, add.s1 $2.x ^const1.w ^uniform.y, const0 1.0 2.0 3.0 4.0, const1 0.5
    load.u 1.y, fract.v1 $1 $0, fract.s1 $2.x $0.x
    load.u 0.zw+$2.x, ne.v1 $1 $0 $0, ne.s1 $2.x $0.x $0.y
    load.t -1, gt.v1 $1 $0 $0, gt.s1 $2.x $0.x $0.y
    load.t -1+$2.x, ge.v1 $1 $0 $0, ge.s1 $2.x $0.x $0.y
    eq.v1 $1 $0 $0, eq.s1 $2.x $0.x $0.y
    floor.v1 $1 $0, floor.s1 $2.x $0.x
    ceil.v1 $1 $0, ceil.s1 $2.x $0.x
    min.v1 $1 $0 $0, min.s1 $2.x $0.x $0.y
    max.v1 $1 $0 $0, max.s1 $2.x $0.x $0.y
    sum3.v1 $1 $0
    mul.v0 $0 $0, sum4.v1 $1.x ^v0
    dFdx.v1 $1 $0 -$0, dFdx.s1 $2.x $0.x -$0.x, sync
    dFdy.v1 $1 -$0 $0, dFdy.s1 $2.x -$0.x $0.x, sync
    mul.s0 $0.x $0.y, sel.v1 $1 $0 $2, sel.s1 $2.x ^s0 $0.x
    mov.v1 $1 $0, mov.s1 $2.x $0.x
    rcp.s2 $3.x $0.x
    mov.s2 $3.y $0.y
    sqrt.s2 $3.z $0.z
    rsqrt.s2 $3.w abs($0.w)
    exp2.sat.s2 $3.x $0.x
    log2.s2 $3.y $0.y
    sin.s2 $3.z $0.z
    cos.s2 $3.w -$0.w
    atan_pt1.v2 $4.xyz $0.x
    atan2_pt1.v2 $4.xyz $0.x $0.y
    atan_pt2.s2 $4.x $4.xyzw
    mul.v2 $4 $0.x $1
    store.t -1 $4
    store.t -2.y $4.y
    store.t -2.zw $4.x
    store.t -2+$2.x $4
    fb_color $5
    fb_depth $5
    branch.gt $0.x $0.y done
    branch.eq $0.x $0.y done
    branch.ge $0.x $0.y done
    branch.lt $0.x $0.y done
    branch.ne $0.x $0.y done
    branch.le $0.x $0.y begin
    branch.never $0.x $0.y begin
    branch.eq $0.x ^const0.x gone, const0 0.0
    branch done
gone:
    discard, stop
done:
    mov.v1 $0 $1, stop
