// Keeps the page current, shows ages, draws the charts, and opens Airflow's own pages from inside its frame.
"use strict";

const page = document.getElementById("page");
const framed = window.parent !== window;
let known = null;
let answeredAt = new Date();

// Airflow keeps the choice of light or dark in its local storage; without one the system decides.
function showTheme() {
  let choice = null;
  try {
    choice = localStorage.getItem("theme");
  } catch {
    // A browser may forbid it.
  }
  document.documentElement.dataset.theme = ["light", "dark"].includes(choice) ? choice : "auto";
}

function durationText(seconds) {
  const rest = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  if (hours) return `${hours}h${two(minutes)}m`;
  return minutes ? `${minutes}m${two(rest % 60)}s` : `${rest}s`;
}

function showAges() {
  for (const time of document.querySelectorAll("time.since")) {
    const text = durationText((Date.now() - Date.parse(time.dateTime)) / 1000);
    time.textContent = time.textContent.endsWith(" ago") ? `${text} ago` : text;
  }
}

async function poll() {
  const every = Number(page.dataset.poll);
  if (!every) return;
  try {
    if (!document.hidden) await refresh();
  } catch {
    showOffline();
  }
  setTimeout(poll, every * 1000);
}

async function refresh() {
  const answer = await fetch(location.href, { headers: known ? { "If-None-Match": known } : {}, cache: "no-store", signal: AbortSignal.timeout(60000) });
  if (answer.status >= 500 && answer.status !== 503) throw new Error(String(answer.status));
  answeredAt = new Date();
  document.getElementById("offline").hidden = true;
  if (answer.status === 304) return;
  known = answer.headers.get("ETag");
  replace(new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("page"));
  drawCharts().catch(() => {});
}

// What a person has opened stays open.
function replace(fresh) {
  for (const open of page.querySelectorAll("details[open][id]")) fresh.querySelector(`#${open.id}`)?.setAttribute("open", "");
  const focused = document.activeElement?.getAttribute("href");
  page.dataset.poll = fresh.dataset.poll ?? "";
  page.replaceChildren(...fresh.childNodes);
  if (focused) page.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

function showOffline() {
  const banner = document.getElementById("offline");
  banner.querySelector("time").textContent = answeredAt.toLocaleTimeString([], { timeZoneName: "short" });
  banner.hidden = false;
}

const LABELS = { end: "Source end", copied: "Copied", lag: "Lag", rate: "Rate per second" };
const COLOURS = { end: "#b45309", copied: "#0369a1", lag: "#b91c1c", rate: "#047857" };

async function drawCharts() {
  const charts = document.getElementById("charts");
  if (!charts || typeof uPlot === "undefined") return;
  const answer = await fetch(charts.dataset.series, { cache: "no-store" });
  if (!answer.ok) return;
  const series = await answer.json();
  for (const place of charts.querySelectorAll(".chart")) drawChart(place, series, charts.dataset.zone);
}

// The times of a chart are those of the migration's zone, as in the table; UTC if the browser does not know it.
function dateIn(zone) {
  return (at) => {
    try {
      return uPlot.tzDate(new Date(at * 1000), zone);
    } catch {
      return uPlot.tzDate(new Date(at * 1000), "Etc/UTC");
    }
  };
}

function drawChart(place, series, zone) {
  const lines = place.dataset.lines.split(" ");
  const text = getComputedStyle(document.body).color;
  const times = [...series.at, ...series.events.map(([at]) => at)];
  const span = [Math.min(...times), Math.max(...times) + 1];
  const axis = { stroke: text, grid: { stroke: "#8884" }, ticks: { stroke: "#8884" } };
  const options = {
    width: Math.max(280, place.clientWidth),
    height: 220,
    tzDate: dateIn(zone),
    scales: { x: { range: () => span } },
    series: [{}, ...lines.map((line) => ({ label: LABELS[line], stroke: COLOURS[line], width: 2, spanGaps: false }))],
    axes: [axis, { ...axis, size: 80 }],
    hooks: { draw: [(chart) => drawEvents(chart, series.events)] },
  };
  place.replaceChildren();
  new uPlot(options, [series.at, ...lines.map((line) => series[line])], place);
}

function drawEvents(chart, events) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = "#8888";
  ctx.setLineDash([4, 4]);
  for (const [at] of events) {
    const x = chart.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

// A link of this page inside Airflow's frame cannot open Airflow's pages, but a link of the outer page can.
function openOutside(event) {
  const link = event.target.closest?.("a.outer");
  if (!link || !framed) return;
  event.preventDefault();
  try {
    const outer = window.parent.document.createElement("a");
    outer.href = link.href;
    window.parent.document.body.append(outer);
    outer.click();
    outer.remove();
  } catch {
    const banner = document.getElementById("address");
    banner.querySelector("code").textContent = link.href;
    banner.hidden = false;
  }
}

showTheme();
showAges();
addEventListener("storage", showTheme);
addEventListener("resize", drawCharts);
document.addEventListener("click", openOutside);
setInterval(showAges, 1000);
drawCharts().catch(() => {});
setTimeout(poll, Number(page.dataset.poll || 0) * 1000);
