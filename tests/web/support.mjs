// What tests of pages share: the browser, pages that must stay silent, tables of poses.
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const {MBGRAD, SRC} = process.env;

let failed = 0;
export const failures = () => failed;
export const check = (ok, ...what) => { if (!ok) { failed++; console.log('FAILED:', ...what); } };

export async function needBrowser() {
  const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
  if (!chromium || !existsSync(join(SRC, 'web/node_modules/playwright-core'))) {
    console.log('skipped: chromium or the packages of web/ are missing (scripts/bootstrap all)');
    process.exit(77);
  }
  const playwright = createRequire(join(SRC, 'web/package.json'))('playwright-core'), folder = mkdtempSync(join(tmpdir(), 'mbgrad-view-'));
  const browser = await playwright.chromium.launch({
    executablePath: chromium, args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  });
  return {browser, folder, close: async () => { await browser.close(); rmSync(folder, {recursive: true}); }};
}

// the program, in a folder; names with a slash are folders of the source tree
export function program(folder, ...args) {
  execFileSync(MBGRAD, args, {cwd: args[1].includes('/') ? SRC : folder, stdio: ['ignore', 'inherit', 'ignore']});
}

// a page that reports and loads nothing
export async function openPage(browser, file, model) {
  const page = await browser.newPage({viewport: {width: 900, height: 640}});
  page.setDefaultTimeout(240000); // a busy machine
  page.on('console', m => check(!/error|warning/.test(m.type()), model, 'console:', m.text()));
  page.on('pageerror', e => check(false, model, e.message));
  page.on('request', r => check(/^(file|data|blob):/.test(r.url()), model, 'request of', r.url()));
  await page.goto('file://' + file);
  await page.evaluate(() => window.mbgrad.then(() => true));
  return page;
}

export function poses(file) {
  const [head, ...rows] = readFileSync(file, 'utf8').trim().split('\n').map(line => line.split(','));
  return {head, rows: rows.map(r => r.map(Number))};
}
