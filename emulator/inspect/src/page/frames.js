// Asks the server for the frame of a job that the page has only in outline.
const data = JSON.parse(document.getElementById("data").textContent);

// Frames that were asked for.
const asked = new Set();

// The draws of a job, in the list of frames.
function list(job) {
  const link = [...document.querySelectorAll(".of-frame > a")].find((link) => link.hash === `#${job.id}`);
  const draws = job.querySelectorAll(".draw:not(.before)");
  if (!link || !draws.length || link.parentElement.querySelector("ol")) return;
  const list = document.createElement("ol");
  for (const draw of draws) {
    const to = document.createElement("a");
    to.href = `#${draw.id}`;
    to.textContent = draw.querySelector("h3").textContent.toLowerCase();
    const item = document.createElement("li");
    item.append(to);
    list.append(item);
  }
  link.parentElement.append(list);
}

async function ask(frame) {
  asked.add(frame);
  let page;
  try {
    const answer = await fetch(`frame?number=${frame}`);
    if (!answer.ok) throw new Error(await answer.text());
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch (error) {
    asked.delete(frame);
    for (const job of document.querySelectorAll(`.job.wanted[data-frame="${frame}"] .none`)) {
      job.textContent = `The server does not answer: ${error.message}`;
      job.classList.add("fault");
    }
    return;
  }
  for (const job of page.querySelectorAll(".job")) {
    const here = document.getElementById(job.id);
    job.dataset.frame = frame;
    if (here?.matches(".wanted")) here.replaceWith(job);
    list(job);
  }
  dispatchEvent(new Event("filled"));
}

function show() {
  const job = document.querySelector(".job.wanted.shown");
  if (data.live === true && job && !asked.has(job.dataset.frame)) ask(job.dataset.frame);
}

addEventListener("hashchange", show);
show();
