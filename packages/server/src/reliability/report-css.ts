/** The styles of the HTML report. The colours are those of the page (`apps/web/src/styles/tokens.css`). */
export const REPORT_CSS = `
:root { color-scheme: light dark; --bg: #fbfaf7; --panel: #fff; --line: #e4e1d9; --ink: #23261f; --soft: #676a60;
  --ok: #6f9f7c; --repaired: #4f8fb0; --retry: #d9b55c; --failed: #c5604f; --unavailable: #d98b5f; --denied: #9a6fae;
  --indeterminate: #b8478a; --blocked: #7d6a58; --closed: #a39788; --cancelled: #c9c5ba }
@media (prefers-color-scheme: dark) { :root { --bg: #161814; --panel: #1d201b; --line: #32362e; --ink: #e6e6df; --soft: #a0a497;
  --ok: #74a783; --repaired: #62a3c6; --retry: #cfae5a; --failed: #d37362; --unavailable: #d98b5f; --denied: #ab84be;
  --indeterminate: #cf63a2; --blocked: #97836f; --closed: #857b6f; --cancelled: #565a50 } }
* { box-sizing: border-box } body { margin: 0 auto; padding: 32px 20px; max-width: 1040px; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
h1 { font-size: 28px; margin: 0; letter-spacing: -.01em } h2 { font-size: 15px; margin: 36px 0 10px } header p, footer { color: var(--soft); margin: 4px 0 }
footer { margin-top: 40px; font-size: 13px } .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 1px;
  background: var(--line); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; margin-top: 20px }
.figures div { background: var(--panel); padding: 14px 16px } .figures b { display: block; font-size: 24px; letter-spacing: -.01em } .figures span { color: var(--soft); font-size: 13px }
svg { display: block; width: 100%; height: 160px } .bar { height: 10px; min-width: 80px } .axis { display: flex; justify-content: space-between; color: var(--soft); font-size: 13px; margin: 6px 0 }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; padding: 0; font-size: 13px } .legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px }
.scroll { overflow-x: auto } table { width: 100%; border-collapse: collapse; font-size: 13px } th, td { padding: 6px 10px 6px 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th[scope=row], th:first-child { text-align: left; font-weight: 500; white-space: normal; min-width: 120px; max-width: 300px } thead th { color: var(--soft); font-weight: 500 } td:nth-child(2) { width: 30% } thead th:nth-child(2) { text-align: left }
.counts td:nth-child(2) { width: 60px } .counts td:last-child { width: 30%; padding-right: 0 } .none { color: var(--soft) } .pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(300px, 1fr)); gap: 0 40px }
${['ok', 'repaired', 'retry', 'failed', 'unavailable', 'denied', 'indeterminate', 'blocked', 'closed', 'cancelled']
  .map((outcome) => `.o-${outcome} { fill: var(--${outcome}); background: var(--${outcome}) }`)
  .join('\n')}
.o-count { fill: var(--repaired) }
`
