// The mechanisms have the colours of book/plotting.py; all other colours are the theme's.

"use strict";

((clip) => {
clip.style = `
  :host { display: block; margin: 1.2rem 0; --opt: #0173b2; --akmv: #d55e00; --laplace: #949494;
    --l1: #029e73; --muted: var(--pst-color-text-muted, #555); --line: var(--pst-color-border, #ccc); }
  .live { border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.8rem; }
  @media print { .live { display: none; } }
  .controls { display: grid; gap: 0.4rem 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
  fieldset { border: 0; margin: 0; padding: 0; min-width: 0; display: flex; flex-wrap: wrap;
    align-items: center; gap: 0.3rem 0.6rem; }
  .budget { grid-column: 1 / -1; }
  [hidden] { display: none !important; }
  label { font-weight: 600; }
  input, select, textarea { font: inherit; color: inherit; padding: 0.15rem 0.3rem; box-sizing: border-box;
    background: var(--pst-color-background, #fff); border: 1px solid var(--muted); border-radius: 0.25rem;
    min-height: 2rem; max-width: 100%; }
  input[type="range"] { flex: 1 1 12rem; accent-color: var(--opt); padding: 0; }
  input:is([type="number"], [type="text"]) { width: 6.5rem; }
  select { text-overflow: ellipsis; }
  textarea { width: 100%; resize: vertical; }
  [aria-invalid="true"] { border: 2px solid var(--pst-color-danger, #b00); }
  .refusal { color: var(--pst-color-danger, #b00); font-weight: 600; margin: 0.4rem 0; }
  .refusal:empty { display: none; }
  .presets { display: flex; flex-wrap: wrap; gap: 0.2rem 0.9rem; align-items: baseline; margin: 0 0 0.6rem; }
  button { font: inherit; color: inherit; background: none; border: 1px solid var(--muted); border-radius: 0.25rem;
    min-height: 1.75rem; padding: 0 0.6rem; cursor: pointer; }
  .file { font-weight: 400; width: 100%; } .file input { border: 0; display: block; width: 100%; }
  .given { margin: 0; width: 100%; }
  .given:empty { display: none; }
  .question { min-width: 0; max-width: 100%; }
  .words, .summary { margin: 0.6rem 0; }
  .words:empty, .summary:empty { display: none; }
  .pictures { display: grid; gap: 0.8rem 1.2rem;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
  .tables > * { margin-bottom: 0.8rem; overflow-x: auto; }
  figure { margin: 0; min-width: 0; }
  figcaption { font-weight: 600; }
  svg { display: block; width: 100%; max-width: 34rem; height: auto; fill: none; overflow: visible; }
  .small { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr)); column-gap: 1.2rem; }
  .small > :is(.controls, .refusal, .more) { grid-column: 1 / -1; }
  .small svg { max-width: none; }
  .drag svg { cursor: ew-resize; touch-action: pan-y; }
  text { fill: var(--pst-color-text-base, #222); font-size: 12px; }
  .x-tick, .y-tick { fill: var(--muted); font-size: 11px; }
  .axis, .thin { stroke: var(--muted); }
  .thin { stroke-dasharray: 2 3; }
  .grid { stroke: var(--line); stroke-width: 0.6; }
  .now { stroke: var(--pst-color-text-base, #222); }
  .opt { stroke: var(--opt); } .akmv { stroke: var(--akmv); stroke-dasharray: 6 3; }
  .laplace { stroke: var(--laplace); stroke-dasharray: 2 2.5; }
  .l1 { stroke: var(--l1); stroke-dasharray: 9 2; }
  .curve, .end { stroke-width: 2; } .size { stroke-width: 3; } .piece { stroke-width: 5; }
  circle.opt { fill: var(--opt); } circle.akmv { fill: var(--akmv); }
  circle.laplace { fill: var(--laplace); } circle.l1 { fill: var(--l1); }
  circle { stroke-dasharray: none; }
  .band { fill: var(--opt); opacity: 0.2; } .floor { fill: var(--muted); opacity: 0.3; }
  .part { stroke: var(--muted); stroke-width: 1.2; } .bias { stroke-dasharray: 5 3; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  caption { text-align: left; font-weight: 600; }
  th, td { padding: 0.1rem 0.6rem 0.1rem 0; text-align: right; border-bottom: 1px solid var(--line); }
  tbody th, thead th:first-child { text-align: left; font-weight: 400; }
  thead th { font-weight: 600; }
  .swatch { display: inline-block; width: 2rem; height: 0.7rem; margin-right: 0.4rem; vertical-align: middle; }
  .legend { margin: 0.2rem 0 0; font-size: 0.85em; display: flex; flex-wrap: wrap; gap: 0 1rem; }
  .more { margin: 0.6rem 0 0; }
  a { color: var(--pst-color-link, #0173b2); }
`;
})((globalThis.clip ??= {}));
