// Elements, in few words.

export const $ = (id) => document.getElementById(id);

/** An element with attributes (`onclick` and its like are listeners) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null));
  return element;
}

/** Tabs of which one is chosen: arrows go through them, and the others are not stops of the Tab key. */
export function tabs(list, onchoose) {
  const all = () => [...list.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    for (const other of all()) {
      other.setAttribute("aria-selected", other === tab);
      other.tabIndex = other === tab ? 0 : -1;
    }
    onchoose(tab);
  };
  list.addEventListener("click", ({ target }) => {
    const tab = target.closest("[role=tab]");
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const every = all();
    const to = every[(every.indexOf(document.activeElement) + step + every.length) % every.length];
    event.preventDefault();
    to.focus();
    choose(to);
  });
  return { choose: (tab) => choose(tab) };
}

/** Shows a message, and announces it to screen readers. */
export function say(text) {
  $("status").textContent = text;
}

/** A file for the visitor. */
export function save(name, bytes, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
