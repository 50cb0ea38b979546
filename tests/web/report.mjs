// Pages of `mbgrad report` in a browser: node tests/web/report.mjs
//
// Opens reports from file:// in Debian's chromium, as wide as a desk and as a telephone, and checks that nothing is
// reported or loaded, that the motion inside is not empty, that plots and tables have their room, and links lead on.
// MBGRAD: the program; SRC: the source tree. Status 77 without chromium or the packages of web/ (npm ci --prefix web).
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const {MBGRAD, SRC} = process.env;
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
if (!chromium || !existsSync(join(SRC, 'web/node_modules/playwright-core'))) {
  console.log('skipped: chromium or the packages of web/ are missing (scripts/bootstrap all)');
  process.exit(77);
}
const playwright = createRequire(join(SRC, 'web/package.json'))('playwright-core');

let failures = 0;
const check = (ok, ...what) => { if (!ok) { failures++; console.log('FAILED:', ...what); } };

// the page's own numbers: widths, and texts of plots that touch each other or leave their picture
const layout = page => page.evaluate(() => {
  const wide = [...document.querySelectorAll('section > *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1);
  const clashes = [];
  for (const svg of document.querySelectorAll('svg')) {
    const all = svg.getBoundingClientRect(), boxes = [...svg.querySelectorAll('text')].map(t => ({text: t.textContent, box: t.getBoundingClientRect()}));
    for (const [i, a] of boxes.entries()) {
      if (a.box.left < all.left - 1 || a.box.right > all.right + 1 || a.box.top < all.top - 1 || a.box.bottom > all.bottom + 1) clashes.push(`${a.text} leaves its picture`);
      for (const b of boxes.slice(i + 1)) {
        if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1 &&
            Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 0.35 * a.box.height) clashes.push(`${a.text} over ${b.text}`);
      }
    }
  }
  const dead = [...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.getAttribute('href')));
  return {scroll: document.documentElement.scrollWidth, wide: wide.map(e => e.tagName), clashes, dead: dead.length, plots: document.querySelectorAll('svg').length};
});

const folder = mkdtempSync(join(tmpdir(), 'mbgrad-report-'));
const browser = await playwright.chromium.launch({
  executablePath: chromium, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
try {
  for (const [model, ...options] of [['quarter-car'], ['five-bar-design', '--optimize'], ['noisy-pendulum', '--identify', '--no-proof']]) {
    const file = join(folder, model + '.html');
    execFileSync(MBGRAD, ['report', model, '--out', file, '--quiet', ...options], {cwd: folder, stdio: ['ignore', 'inherit', 'ignore']});
    for (const width of [1280, 390]) {
      const page = await browser.newPage({viewport: {width, height: 800}});
      page.on('console', m => check(!/error|warning/.test(m.type()), model, 'console:', m.text()));
      page.on('pageerror', e => check(false, model, e.message));
      page.on('request', r => check(/^(file|data|blob|about):/.test(r.url()), model, 'request of', r.url()));
      await page.goto('file://' + file);
      const frame = page.frames().find(f => f !== page.mainFrame());
      check(frame, model, 'no motion');
      const bodies = await frame.evaluate(() => window.mbgrad.then(v => { v.draw(); return v.scene.bodies.length; }));
      check(bodies > 0, model, 'no bodies');
      const l = await layout(page);
      check(l.scroll <= width, model, 'wider than its window:', l.scroll, width, l.wide);
      check(l.clashes.length === 0, model, width, l.clashes);
      check(l.dead === 0 && l.plots > 0, model, l);
      await page.close();
    }
    console.log(model);
  }
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
process.exit(failures ? 1 : 0);
