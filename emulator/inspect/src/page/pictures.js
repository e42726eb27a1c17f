// A picture's bytes are on the page once. Further uses are links, which this script replaces by the picture.
for (const link of document.querySelectorAll("a.same[data-picture]")) {
  const first = document.getElementById(`picture-${link.dataset.picture}`);
  if (!first) continue;
  const picture = new Image(link.dataset.width * link.dataset.scale, link.dataset.height * link.dataset.scale);
  picture.loading = "lazy";
  picture.decoding = "async";
  picture.alt = link.dataset.alt;
  picture.dataset.width = link.dataset.width;
  picture.dataset.height = link.dataset.height;
  picture.src = first.src;
  link.replaceWith(picture);
}
