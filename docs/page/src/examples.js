// Languages, and what there is to begin with.
import lampFrag from "../examples/lamp.frag";
import lampVert from "../examples/lamp.vert";
import plasmaFrag from "../examples/plasma.frag";
import quadScene from "../examples/quad.toml";
import quadVert from "../examples/quad.vert";
import ringsWgsl from "../examples/rings.wgsl";
import ringsScene from "../examples/rings.toml";
import tilesFrag from "../examples/tiles.frag";
import tilesVert from "../examples/tiles.vert";
import tilesScene from "../examples/tiles.toml";
import triangleFrag from "../../../examples/mali/triangle.frag.s";
import triangleVert from "../../../examples/mali/triangle.vert.s";
import waterFrag from "../examples/water.frag";

/** Languages by name: their texts in the order of the stages, and how they are highlighted. */
export const LANGUAGES = {
  glsl: { label: "GLSL and GLSL ES", mode: "glsl", texts: [{ label: "Vertex", name: "shader.vert" }, { label: "Fragment", name: "shader.frag" }] },
  wgsl: { label: "WGSL", mode: "wgsl", texts: [{ label: "Both stages", name: "shader.wgsl" }] },
  assembly: { label: "Mali assembly", mode: "assembly", texts: [{ label: "Both programs", name: "shader.s" }] },
};

export const EXAMPLES = [
  { title: "Plasma (GLSL ES)", language: "glsl", texts: [quadVert, plasmaFrag], scene: quadScene },
  { title: "Lamp (GLSL ES)", language: "glsl", texts: [lampVert, lampFrag], scene: quadScene },
  { title: "Water over a texture (GLSL ES)", language: "glsl", texts: [quadVert, waterFrag], scene: quadScene },
  { title: "Tiles (GLSL 4.50)", language: "glsl", texts: [tilesVert, tilesFrag], scene: tilesScene },
  { title: "Rings (WGSL)", language: "wgsl", texts: [ringsWgsl], scene: ringsScene },
  { title: "Triangle (Mali assembly)", language: "assembly", texts: [`${triangleVert}\n${triangleFrag}`], scene: "size = [256, 256]\n" },
];
