// Runs before the page is parsed: with scripts, hidden parts are not laid out.
document.documentElement.classList.add("scripted");
