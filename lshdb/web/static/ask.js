// Asks while somebody types, and reads a dropped file into the text. The page works without this script.
"use strict";

const form = document.querySelector("form[data-live]");
const text = form.elements.text;
const answer = document.getElementById("answer");
const PAUSE = 300;
let timer;
let running;

async function ask() {
  running?.abort();
  running = new AbortController();
  const body = new URLSearchParams(new FormData(form));
  try {
    const response = await fetch(form.action, { method: "POST", body, headers: { "X-Part": "answer" }, signal: running.signal });
    // The server has escaped everything in it.
    answer.innerHTML = await response.text();
  } catch (error) {
    if (error.name !== "AbortError") answer.textContent = "The service does not answer.";
  }
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
});

text.addEventListener("dragover", (event) => event.preventDefault());
text.addEventListener("drop", async (event) => {
  const file = event.dataTransfer.files[0];
  if (!file) return;
  event.preventDefault();
  text.value = await file.text();
  ask();
});
