// Before anything of the page is there: with scripts, nothing is laid out that is not shown.
document.documentElement.classList.add("scripted");
