// Above the draws of a pixel job: steps through the picture after each, overlays the triangles, and requests the history of
// a pixel.
const data = JSON.parse(document.getElementById("data").textContent);

function make(tag, attributes, ...children) {
  const svg = tag === "svg" || tag === "path" || tag === "rect";
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// The history of a pixel, by the server or by the page around this one.
async function ask(job, x, y) {
  if (data.live !== "parent") return (await fetch(`history?job=${job}&x=${x}&y=${y}`)).text();
  return new Promise((resolve) => {
    const listen = ({ source, data: { history, html } }) => {
      if (source !== parent || String(history) !== String([job, x, y])) return;
      removeEventListener("message", listen);
      resolve(html);
    };
    addEventListener("message", listen);
    parent.postMessage({ history: [job, x, y] }, "*");
  });
}

// The pixel of a picture under the pointer. Pictures are drawn at whole pixels of the screen, and the border is outside the
// picture.
function place(event, picture, [width, height]) {
  const box = picture.getBoundingClientRect();
  const at = (from, size, pixels) => Math.min(pixels - 1, Math.max(0, Math.floor(from / size * pixels)));
  const [left, top] = [Math.round(box.left) + picture.clientLeft, Math.round(box.top) + picture.clientTop];
  return [at(event.clientX - left, picture.clientWidth, width), at(event.clientY - top, picture.clientHeight, height)];
}

// The colour of a pixel of a picture.
async function colorOf(picture, [x, y], [width, height]) {
  await picture.decode().catch(() => {});
  if (!picture.naturalWidth) return undefined;
  const context = make("canvas", { width: 1, height: 1 }).getContext("2d");
  const [left, top] = [x * picture.naturalWidth / width, y * picture.naturalHeight / height].map(Math.floor);
  context.drawImage(picture, left, top, 1, 1, 0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data];
}

class Viewer {
  constructor(job, facts) {
    this.job = job;
    this.facts = facts;
    this.draws = [...job.querySelectorAll(".draw")];
    const [width, height] = facts.size;
    const turn = (by) => () => this.turn(this.at() + by);
    this.slider = make("input", {
      type: "range", min: 0, max: this.draws.length - 1, "aria-label": "draw",
      oninput: () => this.turn(this.slider.valueAsNumber),
    });
    this.title = make("output", {});
    this.column = make("input", { type: "number", min: 0, max: width - 1, placeholder: "x", "aria-label": "column of the pixel" });
    this.row = make("input", { type: "number", min: 0, max: height - 1, placeholder: "y", "aria-label": "row of the pixel" });
    this.color = make("output", {});
    this.lines = make("input", { type: "checkbox", onchange: () => this.show() });
    this.zoom = make("select", { "aria-label": "size of the picture", onchange: () => this.show() });
    for (const size of [1, 2, 4, 8]) this.zoom.append(make("option", { value: size }, `${size} ×`));
    // Small pictures are hard to click on.
    this.zoom.value = width > 512 ? 1 : width > 200 ? 2 : 4;
    const ask = () => {
      if (!this.column.value || !this.row.value) return;
      this.follows = true;
      this.pick(this.column.value, this.row.value);
      this.show();
    };
    for (const field of [this.column, this.row]) field.addEventListener("keydown", (event) => event.key === "Enter" && ask());
    this.bar = make("div", { class: "viewer", role: "group", "aria-label": `pictures of ${job.id.replace("=", " ")}` },
      make("button", { type: "button", "aria-label": "previous draw", onclick: turn(-1) }, "‹"),
      this.slider,
      make("button", { type: "button", "aria-label": "next draw", onclick: turn(1) }, "›"),
      this.title, this.zoom,
      make("label", {}, this.lines, " triangles"),
      // On one line, however narrow the page is.
      make("span", { class: "pixel" }, make("label", {}, "pixel"), this.column, this.row,
        make("button", { type: "button", onclick: ask }, "history")),
      this.color,
      make("p", { class: "help" }, make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " draws, ",
        make("kbd", {}, ","), " ", make("kbd", {}, "."), " jobs, ", make("kbd", {}, "["), " ", make("kbd", {}, "]"),
        " frames, ", make("kbd", {}, "p"), " pixel, ", make("kbd", {}, "/"), " search; a click on a picture asks for that pixel"));
    this.draws[0].before(this.bar);
    for (const draw of this.draws) this.stage(draw);
    for (const picture of job.querySelectorAll("figure > img, figure.mesh > svg")) this.clickable(picture);
  }

  // Other pictures of the job's pixels choose one, too; those of textures tell a texel.
  clickable(picture) {
    const [width, height] = this.facts.size;
    const svg = picture.matches("svg");
    const size = svg ? [width, height] : [Number(picture.dataset.width), Number(picture.dataset.height)];
    const texture = picture.closest(".textures");
    if (!texture && (size[0] !== width || size[1] !== height)) return;
    picture.classList.add("clickable");
    picture.addEventListener("click", (event) => {
      const at = place(event, picture, size);
      if (texture) this.texel(picture, at, size);
      else this.pick(...at);
    });
  }

  // The colour of a texel, under its picture.
  async texel(picture, at, size) {
    const color = await colorOf(picture, at, size);
    const figure = picture.closest("figure");
    const said = figure.querySelector("output") ?? figure.appendChild(make("output", {}));
    said.value = color ? `texel ${at.join(", ")}: ${color.join(" ")}` : "";
  }

  // The picture of a draw becomes a stage with lines and a mark over it.
  stage(draw) {
    const picture = draw.querySelector(".after img");
    if (!picture) return;
    const [width, height] = this.facts.size;
    const overlay = make("svg", { class: "overlay", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
    const stage = make("div", { class: "stage", onclick: (event) => this.pick(...place(event, picture, [width, height])) });
    picture.replaceWith(stage);
    stage.append(picture, overlay);
  }

  at() {
    return this.draws.findIndex((draw) => draw.classList.contains("shown"));
  }

  pixel() {
    const at = new URLSearchParams(decodeURIComponent(location.hash.slice(1))).get("px");
    const [x, y] = (at ?? "").split(",").map(Number);
    const [width, height] = this.facts.size;
    return at && x >= 0 && y >= 0 && x < width && y < height ? [x, y] : undefined;
  }

  go(draw, pixel) {
    location.replace(`#${draw.id}${pixel ? `&px=${pixel.join(",")}` : ""}`);
  }

  turn(to) {
    if (this.draws[to]) this.go(this.draws[to], this.pixel());
  }

  pick(x, y) {
    this.go(this.draws[this.at()], [Number(x), Number(y)]);
  }

  show() {
    const at = this.at();
    const draw = this.draws[at];
    if (!draw) return;
    this.slider.value = at;
    const title = draw.querySelector("h3").textContent.toLowerCase();
    this.slider.setAttribute("aria-valuetext", title);
    this.title.value = title;
    const picture = draw.querySelector(".stage img");
    const overlay = draw.querySelector(".overlay");
    const pixel = this.pixel();
    if (picture) {
      const [width, height] = this.facts.size;
      picture.width = width * this.zoom.value;
      picture.height = height * this.zoom.value;
      const path = draw.querySelector(".mesh path");
      overlay.replaceChildren();
      if (this.lines.checked && path) overlay.append(make("path", { d: path.getAttribute("d") }));
      if (pixel) {
        const [x, y] = pixel;
        overlay.append(make("rect", { class: "mark", x: x - 0.5, y: y - 0.5, width: 2, height: 2 }));
        this.read(picture, pixel);
      }
    }
    if (!pixel) this.color.value = "";
    if (pixel) {
      [this.column.value, this.row.value] = pixel;
      this.history(pixel);
    }
  }

  // The colour of a pixel in the picture.
  async read(picture, pixel) {
    const color = await colorOf(picture, pixel, this.facts.size);
    if (color) this.color.value = color.slice(0, 3).join(" ");
  }

  // The history is on the page, comes from the server or the page around this one, or is unavailable.
  async history([x, y]) {
    const there = () => this.job.querySelector(`.history[data-pixel="${x},${y}"]`);
    if (there()) return this.follow(there());
    let section;
    if (data.live) {
      const page = new DOMParser().parseFromString(await ask(this.facts.number, x, y), "text/html");
      section = page.querySelector(".history") ?? make("p", { class: "fault asked" }, "the server does not answer");
    } else {
      section = make("section", { class: "history", "data-pixel": `${x},${y}` }, make("h3", {}, `Pixel ${x}, ${y}`),
        make("p", {}, `This page has no history of it: make it with --pixel ${x},${y}, or look with --serve.`));
    }
    if (there()) return;
    section.classList.add("asked");
    this.job.querySelector(".history.asked, .fault.asked")?.remove();
    this.bar.after(section);
    this.follow(section);
  }

  // A history that was asked for by keys gets the focus.
  follow(section) {
    if (!this.follows) return;
    this.follows = false;
    section.tabIndex = -1;
    section.focus();
  }
}

const viewers = new Map();

function show() {
  const job = document.querySelector(".job.shown");
  const facts = data.jobs.find((one) => `job=${one.number}` === job?.id);
  if (facts?.kind !== "pp" || !job.querySelector(".draw")) return;
  if (!viewers.has(job)) viewers.set(job, new Viewer(job, facts));
  viewers.get(job).show();
}

// A pixel by keys.
addEventListener("keydown", (event) => {
  const viewer = viewers.get(document.querySelector(".job.shown"));
  if (event.key !== "p" || !viewer || event.target.matches("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  viewer.column.focus();
  viewer.column.scrollIntoView({ block: "nearest" });
});

addEventListener("hashchange", show);
addEventListener("filled", show);
show();
