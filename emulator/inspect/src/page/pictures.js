// A picture's bytes are on the page once. Further uses are links or empty thumbnails, which this script fills.
function fill() {
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
  for (const picture of document.querySelectorAll("img[data-thumb]:not([src])")) {
    picture.src = document.getElementById(`thumb-${picture.dataset.thumb}`)?.src ?? "";
  }
}

// A frame of the server came.
addEventListener("filled", fill);
fill();
