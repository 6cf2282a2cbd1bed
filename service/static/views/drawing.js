/* A canvas to draw an input on, for models of small grey pictures; a picture file does as well. */
import { element, field } from "/static/dom.js";

const SHOWN = 224;

/** The side of the picture, if rows of this shape are square pictures of one channel. */
export function pictureSide(shape, width) {
  const side = Math.sqrt(width);
  return width >= 49 && Number.isInteger(side) && (shape.length === 1 || shape.at(-1) === side) ? side : null;
}

/** `range`: the darkest and brightest value of the data; `use` gets a flat row whenever the drawing has changed. */
export function drawingBoard(side, range, use) {
  const board = element("canvas", { width: String(side), height: String(side), class: "board", role: "img",
    "aria-label": "Draw an input here with the pointer; rows above and the numbers below do the same by keyboard" });
  board.style.width = board.style.height = `${SHOWN}px`;
  const ink = board.getContext("2d", { willReadFrequently: true });
  const clear = () => {
    ink.fillStyle = "black";
    ink.fillRect(0, 0, side, side);
  };
  let last = null;

  function draw(event) {
    if (!last) return;
    const box = board.getBoundingClientRect();
    const here = [(event.clientX - box.left) * side / box.width, (event.clientY - box.top) * side / box.height];
    ink.strokeStyle = "white";
    ink.lineWidth = Math.max(1.2, side / 12);
    ink.lineCap = "round";
    ink.beginPath();
    ink.moveTo(...last);
    ink.lineTo(...here);
    ink.stroke();
    last = here;
  }

  function read() {
    const [low, high] = range;
    const { data } = ink.getImageData(0, 0, side, side);
    use(Array.from({ length: side * side }, (_, place) => low + (high - low) * data[4 * place] / 255));
  }

  board.addEventListener("pointerdown", (event) => {
    board.setPointerCapture(event.pointerId);
    const box = board.getBoundingClientRect();
    last = [(event.clientX - box.left) * side / box.width - 0.01, (event.clientY - box.top) * side / box.height];
    draw(event);
  });
  board.addEventListener("pointermove", draw);
  board.addEventListener("pointerup", () => {
    last = null;
    read();
  });
  const file = element("input", { type: "file", accept: "image/*" });
  file.addEventListener("change", async () => {
    if (!file.files[0]) return;
    const picture = await createImageBitmap(file.files[0]);
    clear();
    ink.filter = "grayscale(1)";
    ink.drawImage(picture, 0, 0, side, side);
    ink.filter = "none";
    read();
  });
  clear();
  return element("details", { class: "drawing" }, element("summary", {}, "Draw an input, or choose a picture"),
    element("p", { class: "small soft" }, "Bright on dark, as large as the frame, like the rows above."), board,
    element("p", {}, element("button", { type: "button", class: "plain", onclick: clear }, "Clear")),
    field("Picture", file, "it is scaled to the model's size and stays on this machine, but for its pixels"));
}
