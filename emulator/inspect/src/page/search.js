// Finds frames, jobs, draws, resources and memory by name, number and address.
const data = JSON.parse(document.getElementById("data").textContent);

// Results that are shown at most.
const MOST = 40;

const hex = (address) => `0x${address.toString(16).padStart(8, "0")}`;

function* found(text) {
  const words = text.toLowerCase().trim();
  if (!words) return;
  const address = /^(?:0x)?([0-9a-f]{4,8})$/.exec(words);
  const numbered = /^(?:(frame|job|draw) *)?(\d+)(?: *[/, ] *(\d+))?$/.exec(words);
  if (numbered) {
    const [, what, first, second] = numbered;
    const number = Number(first);
    if (what !== "job" && what !== "draw" && data.frames[number]) yield [`job=${data.frames[number].shows}`, `frame ${number}`];
    const job = data.jobs.find((one) => one.number === number);
    if (what !== "frame" && what !== "draw" && job) {
      yield [`job=${number}`, `job ${number}: ${job.kind === "pp" ? "pixels" : "geometry"}`];
      if (second) yield [`job=${number}&draw=${second}`, `draw ${second} of job ${number}`];
    }
    const shown = document.querySelector(".job.shown");
    const draw = shown && document.getElementById(`${shown.id}&draw=${number}`);
    if (what !== "frame" && what !== "job" && draw) yield [draw.id, `draw ${number} of ${shown.id.replace("=", " ")}`];
  }
  if (address) {
    const at = parseInt(address[1], 16);
    for (const [number, one] of data.resources.entries()) {
      if (one.address <= at && at < one.address + Math.max(one.bytes, 1)) {
        yield [`resource=${number}`, `${one.kind} ${one.name} at ${hex(one.address)}`];
      }
    }
    for (const row of document.querySelectorAll(`.memory tr[id$="at=0x${at.toString(16)}"]`)) {
      yield [row.id, `memory of ${row.id.split("&")[0].replace("=", " ")}: ${row.lastElementChild.textContent}`];
    }
  }
  for (const [number, one] of data.resources.entries()) {
    if (`${one.kind} ${one.name}`.toLowerCase().includes(words)) yield [`resource=${number}`, `${one.kind} ${one.name} at ${hex(one.address)}`];
  }
  for (const one of data.jobs) {
    if (one.fault?.toLowerCase().includes(words)) yield [`job=${one.number}`, `job ${one.number}: ${one.fault}`];
  }
  // State and uniforms of the draws that are here.
  for (const draw of document.querySelectorAll(".draw:not(.before), .vertices")) {
    const line = [...draw.querySelectorAll("h3, .state li, .words, p")].find((one) => one.textContent.toLowerCase().includes(words));
    if (line) yield [draw.id, `${draw.id.replace("&", ", ").replaceAll("=", " ")}: ${line.textContent.trim().slice(0, 80)}`];
  }
}

const field = document.createElement("input");
field.type = "search";
field.placeholder = "search: name, address, draw";
field.setAttribute("aria-label", "search for a name, an address, a frame, job or draw");
const results = document.createElement("ol");
results.setAttribute("aria-label", "results of the search");
const box = document.createElement("div");
box.className = "search";
box.append(field, results);
document.querySelector("header").append(box);

function show() {
  results.replaceChildren();
  const there = new Set();
  for (const [to, text] of found(field.value)) {
    if (there.size === MOST) break;
    if (there.has(to)) continue;
    there.add(to);
    const link = document.createElement("a");
    link.href = `#${to}`;
    link.textContent = text;
    const item = document.createElement("li");
    item.append(link);
    results.append(item);
  }
  if (field.value.trim() && !there.size) results.append("nothing is found");
}

field.addEventListener("input", show);
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter") results.querySelector("a")?.click();
  if (event.key === "Escape") field.value = "";
  if (event.key === "Escape" || event.key === "Enter") {
    if (event.key === "Escape") show();
    field.blur();
  }
});
results.addEventListener("click", (event) => {
  if (event.target.closest("a")) setTimeout(() => { field.value = ""; show(); });
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.matches("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  field.focus();
});
