// Shows the job and the draw of the URL's fragment (#job=2&draw=3&px=31,40, #job=2&at=0x1000, #resources), and steps through
// frames, jobs and draws by keys.
const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

const named = () => decodeURIComponent(location.hash.slice(1));
const number = (text, key) => new URLSearchParams(text).get(key);
const all = (selector, of = document) => [...of.querySelectorAll(selector)];

// The visible elements: the job's and the draw's.
let shown = {};

// After following a link its target gets the focus.
let followed = false;
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  followed = !!link;
  // The browser tells of a link to where the page is already by nothing.
  if (link && link.hash === location.hash) queueMicrotask(show);
}, true);

function choose() {
  const name = named();
  const target = document.getElementById(name);
  const resources = target?.closest(".resources");
  if (resources) return { job: resources, target };
  const of = document.getElementById(`job=${number(name, "job")}`);
  // The server's sections take the place of those in outline.
  const before = shown.job && document.getElementById(shown.job.id);
  const job = of ?? target?.closest(".job") ?? before ?? document.getElementById(main.dataset.open) ?? main.querySelector(".job");
  if (!job) return {};
  const draws = all(".draw", job);
  const wanted = document.getElementById(`${job.id}&draw=${number(name, "draw")}`);
  const around = target?.closest(".draw");
  const kept = shown.job === job ? shown.draw : undefined;
  const draw = [wanted, around, kept].find((one) => draws.includes(one)) ?? draws.at(-1);
  return { job, draw, target: target ?? wanted };
}

function mark(now) {
  for (const link of all("nav a")) {
    const to = decodeURIComponent(link.hash.slice(1));
    const is = to === now.draw?.id || (!now.draw && to === now.job?.id && !link.closest("li").matches(".frame"));
    if (is) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    if (link.parentElement.matches(".of-frame")) link.parentElement.classList.toggle("current", to === now.job?.id);
  }
  for (const frame of all("nav .frame")) frame.classList.toggle("current", !!frame.querySelector(".of-frame.current"));
  // The list scrolls by itself, and the page stays.
  const nav = document.querySelector("nav");
  const current = nav?.querySelector(".frame.current");
  if (!current) return;
  const [own, around] = [current.getBoundingClientRect(), nav.getBoundingClientRect()];
  if (own.top < around.top || own.top > around.bottom - 60) nav.scrollTop += own.top - around.top - 8;
  if (own.left < around.left || own.right > around.right) nav.scrollLeft += own.left - around.left - 8;
}

function show() {
  const now = choose();
  for (const job of all(".job.shown, .resources.shown")) job.classList.toggle("shown", job === now.job);
  now.job?.classList.add("shown");
  for (const draw of now.job ? all(".draw", now.job) : []) draw.classList.toggle("shown", draw === now.draw);
  mark(now);
  // A collapsed target of a link opens.
  for (let at = now.target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  if (now.target && (followed || !shown.job)) {
    now.target.focus({ preventScroll: true });
    now.target.scrollIntoView({ block: now.target.matches(".draw, .job") ? "nearest" : "center" });
  }
  // A job that is still to come is followed once more.
  followed = followed && !!now.job?.matches(".wanted");
  shown = now;
}

const go = (id) => id && location.replace(`#${id}`);

function step(of, one, by) {
  const at = of.indexOf(one) + by;
  if (at >= 0 && at < of.length) go(of[at].id);
}

// The picture of the frame before or after the current one.
function frame(by) {
  const at = Number(number(shown.job?.id ?? "", "job"));
  const now = data.frames.findIndex(({ first, end }) => first <= at && at < end);
  const to = data.frames[now + by];
  if (to) go(`job=${to.shows}`);
}

addEventListener("keydown", (event) => {
  const busy = event.target.matches("input, select, textarea, .scroll, .scroll *");
  if (busy || event.altKey || event.ctrlKey || event.metaKey) return;
  const draws = shown.job ? all(".draw", shown.job) : [];
  const keys = {
    ArrowLeft: () => step(draws, shown.draw, -1),
    ArrowRight: () => step(draws, shown.draw, 1),
    ",": () => step(all(".job"), shown.job, -1),
    ".": () => step(all(".job"), shown.job, 1),
    "[": () => frame(-1),
    "]": () => frame(1),
  };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

addEventListener("hashchange", show);
addEventListener("filled", show);
show();
