import { createHash } from 'node:crypto'

/** The one style sheet. Colours reach a contrast of 4.5 on their ground in both themes. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fff;--card:#f6f7f9;--line:#dfe3e8;--text:#16191d;--soft:#57606a;--bad:#b3261e;--badbg:#fdf1f0;--warn:#8a5300;--ok:#1a7340;--ink:#2f6fb2}
@media(prefers-color-scheme:dark){:root{--bg:#101215;--card:#181b20;--line:#2b3038;--text:#e8eaed;--soft:#a0a8b3;--bad:#ff8f86;--badbg:#241617;--warn:#f0b64f;--ok:#62c98d;--ink:#7fb2ea}}
*{box-sizing:border-box;margin:0}
body{font:15px/1.35 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;font-variant-numeric:tabular-nums;background:var(--bg);color:var(--text);max-width:1080px;margin:0 auto;padding:8px 14px 16px;overflow-wrap:anywhere}
a{color:var(--ink)}
:focus-visible{outline:2px solid var(--ink);outline-offset:2px;border-radius:4px}
.skip{position:absolute;left:-99rem}.skip:focus{left:8px;top:8px;background:var(--bg);padding:4px 8px}
header{display:grid;grid-template:"h a" auto "s s" auto/1fr auto;align-items:baseline;gap:0 12px;padding-bottom:5px;border-bottom:1px solid var(--line)}
h1{font-size:14px;grid-area:h;color:var(--soft)}h1+p{font-weight:650;font-size:17px;grid-area:s}.at{grid-area:a}
h2{font-size:12px;font-weight:600;color:var(--soft);margin:8px 0 3px;letter-spacing:.04em;text-transform:uppercase}
h3{font-size:15px;font-weight:600}
small,.at,.m{color:var(--soft);font-size:13px}
.bad{color:var(--bad)}.ok{color:var(--ok)}.warn{color:var(--warn)}
ul,ol{list-style:none;padding:0}
.f{background:var(--badbg);border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:6px;padding:6px 10px;margin-bottom:6px;display:grid;grid-template-columns:minmax(0,1fr);gap:1px 18px}.f>div{min-width:0}
.f.q{background:var(--card);border-left-color:var(--soft)}
.f.q h3{color:var(--text)}
.f figure{min-width:0;align-self:center}header~main>ol:first-child{margin-top:8px}.f figcaption{color:var(--soft);font-size:12px}
.f p{font-size:14px}
svg{display:block;overflow:visible}
svg path{fill:none;stroke:var(--ink);stroke-width:1.5;vector-effect:non-scaling-stroke;stroke-linejoin:round;stroke-linecap:round}
.c{width:100%;height:34px;margin-top:3px}.c .a{fill:var(--ink);stroke:none;opacity:.14}.c .l{stroke:var(--bad);stroke-dasharray:4 3;stroke-width:1.2}
.s{width:60px;height:16px;grid-area:s;align-self:center}
.o{display:grid;grid-template-columns:repeat(auto-fill,minmax(240px,1fr));gap:0 22px}.o details[open]{grid-column:1/-1}
details{border-bottom:1px solid var(--line)}
summary{cursor:pointer;padding:3px 0;font-weight:600}summary small{font-weight:400}
.r{display:grid;grid-template:"n s v" auto "m m m" auto/1fr 60px minmax(84px,auto);gap:0 10px;padding:2px 0 3px;border-top:1px solid var(--line);align-items:baseline}
.r.x{grid-template:"n" auto "m" auto/1fr}
.r h3,.r>b{grid-area:n;font-weight:600;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.r .v{grid-area:v;text-align:right;white-space:nowrap}
.r .m{grid-area:m;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.k{grid-column:1/-1;display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:4px 18px;padding:4px 0}.k figcaption{color:var(--soft);font-size:12px}
.r i{font-style:normal;font-weight:400;color:var(--soft);font-size:13px}
footer{margin-top:6px}footer li{padding:2px 0;font-size:14px}
form{display:grid;gap:8px;margin:10px 0}
button{font:inherit;font-weight:600;padding:11px 14px;min-height:44px;border-radius:8px;border:1px solid var(--soft);background:var(--card);color:var(--text);cursor:pointer;text-align:left}
button.p{background:var(--ink);border-color:var(--ink);color:var(--bg)}
.say{border:1px solid var(--line);border-left:4px solid var(--ok);border-radius:6px;padding:9px 12px;margin:10px 0;font-weight:600}
.say.bad{border-left-color:var(--bad)}
.n{max-width:560px}
@media(max-width:759px){.r:has(.s) i{display:none}}
@media(min-width:760px){h2{margin:14px 0 5px}summary{padding:7px 0}.r{padding:4px 0 5px}header{grid-template:"h s a" auto/auto 1fr auto;padding-bottom:8px}.f{padding:9px 14px}.f.w{grid-template-columns:minmax(0,1fr) 320px}.r{grid-template:"n m s v"/minmax(180px,1.1fr) 2fr 60px minmax(110px,auto)}.r.g{grid-template:"n m v"/minmax(180px,1.1fr) 2fr minmax(110px,auto)}.r.x{grid-template:"n m"/minmax(180px,1.1fr) 2fr}.c{height:64px}.f .c{height:96px}}
@media(forced-colors:active){svg path{stroke:CanvasText}}
@media print{details:not([open])>*{display:block}}
`.trim()

/** What the policy of the page allows: this style sheet, pictures of its own, and forms to itself. Nothing else is loaded or run. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')
