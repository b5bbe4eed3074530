"use strict";
for (const button of document.querySelectorAll("button[data-copies]")) {
  button.addEventListener("click", async () => {
    const table = document.getElementById(button.dataset.copies);
    const text = Array.from(table.rows, row => Array.from(row.cells, cell => cell.innerText.replace(/\s+/g, " ").trim()).join("\t")).join("\n");
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNode(table);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Selected: copy with the keyboard";
    }
    setTimeout(() => { button.textContent = label; }, 1600);
  });
}
addEventListener("beforeprint", () => { for (const one of document.querySelectorAll("details:not(.raw)")) one.open = true; });
const raw = document.getElementById("raw");
raw.parentElement.addEventListener("toggle", () => {
  if (raw.textContent === "") raw.textContent = JSON.stringify(JSON.parse(document.getElementById("figures").textContent), null, 2);
});
