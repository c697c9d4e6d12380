// Keys, and pictures as files: what Bokeh's own tools do not do.
"use strict";

const model = name => Bokeh.documents[0].get_model_by_name(name);

document.addEventListener("keydown", event => {
  const elsewhere = event.composedPath()[0];
  if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|BUTTON|A)$/.test(elsewhere.tagName)) return;
  if (elsewhere.getAttribute?.("role") === "slider") return;
  const slider = model("interval"), playing = model("playing");
  if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
    const step = event.key === "ArrowLeft" ? -1 : 1;
    slider.value = Math.min(Math.max(slider.value + step, slider.start), slider.end);
  } else if (event.key === " ") {
    playing.active = !playing.active;
  } else {
    return;
  }
  event.preventDefault();
});

// Dark ink on a white sheet, whatever the page looks like: made for papers. Pictures stand side by side where they fit.
const sheet = (views, shown) => {
  const scale = window.devicePixelRatio || 1, line = 28 * scale;
  const pictures = views.map(view => ({
    canvas: view.export("png", true).canvas,
    title: document.querySelector(`[data-root-id="${view.model.id}"]`)?.closest("[data-title]")?.dataset.title ?? "",
  }));
  const width = Math.max(...pictures.map(picture => picture.canvas.width), 400 * scale);
  let left = 0, top = 2 * line, high = 0;
  for (const picture of pictures) {
    if (left + picture.canvas.width > width) [left, top, high] = [0, top + high, 0];
    [picture.left, picture.top] = [left, top];
    left += picture.canvas.width + 20 * scale;
    high = Math.max(high, picture.canvas.height + line);
  }
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, top + high];
  const context = canvas.getContext("2d");
  const write = (text, x, y) => {
    context.fillStyle = "#222222";
    context.fillText(text, x, y);
  };
  context.fillStyle = "#ffffff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.font = `${14 * scale}px system-ui, sans-serif`;
  write(shown.title, 6 * scale, line * 0.7);
  let x = 6 * scale;
  for (const [name, colour] of shown.key) {
    context.fillStyle = colour;
    context.fillRect(x, line * 1.2, 14 * scale, 14 * scale);
    write(name, x + 20 * scale, line * 1.7 - 2 * scale);
    x += 44 * scale + context.measureText(name).width;
  }
  for (const picture of pictures) {
    write(picture.title, picture.left + 6 * scale, picture.top + line * 0.7);
    context.drawImage(picture.canvas, picture.left, picture.top + line);
  }
  return canvas;
};

const save = (names, what) => {
  const shown = model("header").tags[0];
  const views = names.map(name => Bokeh.index.get_by_id(model(name).id)).filter(view => view != null);
  sheet(views, shown).toBlob(blob => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${shown.stem}-${what}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
};
const PICTURES = [
  "map", "migrations", "shares", "shares-over-time", "kernel-moves", "contention-now", "contention-so-far", "refills",
  "zeroing",
];
const saved = names => names.filter(name => model(name) != null);
document.getElementById("save-map").addEventListener("click", () => save(["map"], "map"));
document.getElementById("save-page").addEventListener("click", () => save(saved(PICTURES), "page"));

// The connection ends with the server; the page says so instead of standing still.
const whenReady = () => {
  if (!Bokeh.documents.length || model("header") == null) {
    setTimeout(whenReady, 50);
    return;
  }
  Bokeh.documents[0].on_event("connection_lost", () => document.body.classList.add("gone"));
  const header = model("header");
  header.properties.tags.change.connect(() => {
    if (header.tags[0] === "reload") location.reload();
  });
};
whenReady();
