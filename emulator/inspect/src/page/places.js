// Shows the job and the draw of the URL's fragment (#job=2&draw=3&px=31,40, #job=2&at=0x1000), and steps through them by
// keys.
const jobs = [...document.querySelectorAll(".job")];
const links = [...document.querySelectorAll("nav a")];

const named = () => decodeURIComponent(location.hash.slice(1));
const number = (text, key) => new URLSearchParams(text).get(key);

// The visible elements: the job's and the draw's.
let shown = {};

// After following a link its target gets the focus.
let followed = false;
addEventListener("click", (event) => { followed = !!event.target.closest?.("a[href^='#']"); }, true);

function choose() {
  const name = named();
  const target = document.getElementById(name);
  const of = document.getElementById(`job=${number(name, "job")}`);
  const job = of ?? target?.closest(".job") ?? shown.job ?? jobs[0];
  if (!job) return {};
  const draws = [...job.querySelectorAll(".draw")];
  const wanted = document.getElementById(`${job.id}&draw=${number(name, "draw")}`);
  const around = target?.closest(".draw");
  const kept = shown.job === job ? shown.draw : undefined;
  const draw = [wanted, around, kept].find((one) => draws.includes(one)) ?? draws.at(-1);
  return { job, draw, target: target ?? wanted };
}

function show() {
  const now = choose();
  for (const job of jobs) job.classList.toggle("shown", job === now.job);
  for (const draw of now.job?.querySelectorAll(".draw") ?? []) draw.classList.toggle("shown", draw === now.draw);
  for (const link of links) {
    const to = decodeURIComponent(link.hash.slice(1));
    const is = to === now.draw?.id || (!now.draw && to === now.job?.id);
    if (is) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
    if (to === now.job?.id) link.parentElement.classList.add("current");
    else if (!to.includes("&")) link.parentElement.classList.remove("current");
  }
  // A collapsed target of a link opens.
  for (let at = now.target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
  if (now.target && (followed || !shown.job)) {
    now.target.focus({ preventScroll: true });
    now.target.scrollIntoView({ block: now.target.matches(".draw, .job") ? "nearest" : "center" });
  }
  followed = false;
  shown = now;
}

const go = (element) => element && location.replace(`#${element.id}`);

function step(all, one, by) {
  const at = all.indexOf(one) + by;
  if (at >= 0 && at < all.length) go(all[at]);
}

addEventListener("keydown", (event) => {
  const busy = event.target.matches("input, select, textarea, .scroll, .scroll *");
  if (busy || event.altKey || event.ctrlKey || event.metaKey) return;
  const draws = [...(shown.job?.querySelectorAll(".draw") ?? [])];
  const keys = {
    ArrowLeft: () => step(draws, shown.draw, -1),
    ArrowRight: () => step(draws, shown.draw, 1),
    ",": () => step(jobs, shown.job, -1),
    ".": () => step(jobs, shown.job, 1),
  };
  if (keys[event.key]) {
    event.preventDefault();
    keys[event.key]();
  }
});

addEventListener("hashchange", show);
show();
